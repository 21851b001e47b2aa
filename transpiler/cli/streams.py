"""What goes to stderr, and the errors that are no diagnostics of a text."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from transpiler.diagnostics import Diagnostic

__all__ = ["FORMATS", "InputError", "WrongUse", "report", "say"]

# `rendering.FORMATS`, whose import is saved where there is nothing to draw.
FORMATS = ("full", "concise", "json", "github")


class InputError(click.ClickException):
    """A fault of an input that is no text, said in one line."""

    exit_code = 1


class WrongUse(click.ClickException):
    """Said in one line."""

    exit_code = 2


def say(text: str, *, colour: bool = False) -> None:
    """Write to stderr; that it can't be written to is no reason to give up the results."""
    with suppress(OSError):
        click.echo(text, err=True, color=colour)


def report(diagnostics: Sequence[Diagnostic], style: str) -> None:
    """Draw diagnostics on stderr."""
    if diagnostics:
        from transpiler.rendering import render

        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        say(render(diagnostics, style, colour=colour).rstrip("\n"), colour=colour)
