"""Where the results go, and what may not be written over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import click

from transpiler.cli.settings import STORE, Settings
from transpiler.cli.streams import WrongUse
from transpiler.files import STDIN, is_ours, write_whole

__all__ = ["Target", "refuse_losses", "targets_of", "write_jinja"]

Target: TypeAlias = Path | None
"""A file; None is the standard output."""

_SUFFIX = re.compile(r"\.(?:gotmpl|tmpl)$")
_CONFIG = "tokenizer_config.json"


def targets_of(sources: Sequence[str], output: str | None, settings: Settings) -> list[Target]:
    """The file that each result goes to.

    Raises:
        WrongUse: there is no place, or one for several results.
    """
    if output == "":
        raise WrongUse("the name behind -o is empty")
    if settings.to != "jinja":
        return [_package_target(sources, output, settings.to)]
    suffix = ".jinja" if settings.mode == "chat" else ".fim.jinja"
    if output is not None and _is_folder(output):
        names = [_plain(name) for name in sources]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise WrongUse(f"two results would be called {twice}{suffix}")
        return [Path(output, f"{name}{suffix}") for name in names]
    if len(sources) > 1:
        raise WrongUse("several sources need `-o` with a folder, as in `-o results/`")
    return [None if output in (None, STDIN) else Path(str(output))]


def _package_target(sources: Sequence[str], output: str | None, to: str) -> Path:
    if len(sources) > 1:
        raise WrongUse(f"--to {to} takes one source")
    if output in (None, STDIN):
        raise WrongUse(f"--to {to} needs `-o` with a file or a folder")
    name = _CONFIG if to == "tokenizer-config" else f"{_plain(sources[0])}.gguf"
    return Path(str(output), name) if _is_folder(str(output)) else Path(str(output))


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def _plain(source: str) -> str:
    """The name of a result: that of its source without its suffix."""
    if source == STDIN:
        return "stdin"
    if source.startswith(STORE):
        return source.removeprefix(STORE).rsplit("/", 1)[-1].replace(":", "-")
    return _SUFFIX.sub("", Path(source).name)


def refuse_losses(sources: Sequence[str], targets: Iterable[Target], settings: Settings) -> None:
    """Refuse to write over a source, and, without --force, over a file that isn't ours.

    An existing tokenizer_config.json is what a template is merged into.
    """
    read = {os.path.realpath(name) for name in sources if name != STDIN and not name.startswith(STORE)}
    for target in filter(None, targets):
        if target.is_file() and os.path.realpath(target) in read:
            raise WrongUse(f"{click.format_filename(target)} is a source; the result needs another name")
        if settings.force:
            continue
        if settings.to == "gguf" and target.exists():
            raise WrongUse(f"{click.format_filename(target)} is there already; --force replaces it")
        if settings.to == "jinja" and not is_ours(target):
            raise WrongUse(f"{click.format_filename(target)} is not a converted template; --force replaces it")


def write_jinja(target: Target, jinja: str) -> None:
    """Write a template to its file or to the standard output."""
    if target is None:
        click.echo(jinja.encode("utf-8"), nl=False)
        return
    try:
        write_whole(target, jinja)
    except OSError as error:
        raise WrongUse(f"{click.format_filename(target)}: {error.strerror}") from error
