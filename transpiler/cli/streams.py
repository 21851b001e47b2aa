"""What goes to stderr, and the errors that are no diagnostics of a text."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from transpiler.diagnostics import Diagnostic

__all__ = ["FORMATS", "InputError", "WrongUse", "give_up", "report", "say", "seen"]

# `rendering.FORMATS`, whose import is saved where there is nothing to draw.
FORMATS = ("full", "concise", "json", "github")


class InputError(click.ClickException):
    """A fault of an input that is no text, said in one line."""

    exit_code = 1


class WrongUse(click.ClickException):
    """Said in one line."""

    exit_code = 2


def seen() -> bool:
    """Whether stderr is a terminal; it may also be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(text: str, *, colour: bool = False) -> None:
    """Write to stderr; that it can't be written to is no reason to give up the results."""
    try:
        click.echo(text, err=True, color=colour)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Lead a stream that can't be written to into nothing: Python flushes it when it ends, and would fail then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def report(diagnostics: Sequence[Diagnostic], style: str) -> None:
    """Draw diagnostics on stderr."""
    if diagnostics:
        from transpiler.rendering import render

        colour = seen() and not os.environ.get("NO_COLOR")
        say(render(diagnostics, style, colour=colour).rstrip("\n"), colour=colour)
