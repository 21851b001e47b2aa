"""The command `gotmpl2jinja`: arguments, files and exit codes, nothing that the library doesn't do.

Exit codes: 0 done, 1 errors in an input, 2 wrong use. Results go to stdout or files, all else to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import click

from transpiler.api import Options, transpile_source
from transpiler.diagnostics import Diagnostic, TemplateError
from transpiler.files import STDIN, is_ours, read_source, write_whole
from transpiler.ollama.modelfile import chat_template, looks_like_modelfile, read_modelfile, unconverted
from transpiler.reading import mark_warning
from transpiler.rendering import FORMATS, render
from transpiler.source import Source

__all__ = ["main"]

_INPUT_ERRORS = 1


class _WrongUse(click.ClickException):
    """Said in one line."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gotmpl2jinja", message="%(prog)s %(version)s")
def main() -> None:
    """From Ollama's Go chat templates to Jinja chat templates that render the same text."""


@main.command()
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="PATH", help="Write to this file, or into this folder if it ends with /.")
@click.option("--exact", is_flag=True, help="Keep what the template does today, likely mistakes included.")
@click.option(
    "--json",
    "json_style",
    type=click.Choice(["go", "native"]),
    default="go",
    show_default=True,
    help="JSON as Ollama prints it, or by the engine's own tojson.",
)
@click.option(
    "--mode",
    type=click.Choice(["chat", "fim"]),
    default="chat",
    show_default=True,
    help="The template for chats, or the one for filling in the middle.",
)
@click.option("--kind", type=click.Choice(["template", "modelfile"]), help="What SOURCE is.  [default: by its content]")
@click.option("--force", is_flag=True, help="Replace existing files that this command didn't write.")
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="full",
    show_default=True,
    help="How warnings and errors are drawn.",
)
def convert(
    sources: tuple[str, ...],
    output: str | None,
    exact: bool,
    json_style: Literal["go", "native"],
    mode: Literal["chat", "fim"],
    kind: str | None,
    force: bool,
    style: str,
) -> None:
    """Convert Go templates to Jinja.

    SOURCE is a file with a Go template, a Modelfile, or - for the standard input. The result goes to the standard
    output; several results need -o with a folder.
    """
    targets = _targets(sources, output)
    if not force:
        _refuse_foreign(targets)
    options = Options(exact=exact, json=json_style)
    failed = False
    for name, target in zip(sources, targets, strict=True):
        try:
            source, notes = _template(name, kind)
            result = transpile_source(source, options)
        except TemplateError as error:
            _report(error.diagnostics, style)
            failed = True
            continue
        _report((*notes, *result.diagnostics), style)
        jinja = result.jinja if mode == "chat" else result.fim
        if jinja is None:
            click.echo(f"Error: {click.format_filename(name)} has no fill-in-the-middle form", err=True)
            failed = True
            continue
        if target is None:
            click.echo(jinja.encode("utf-8"), nl=False)
            continue
        try:
            write_whole(target, jinja)
        except OSError as error:
            raise _WrongUse(f"{click.format_filename(target)}: {error.strerror}") from error
    if failed:
        sys.exit(_INPUT_ERRORS)


@main.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> None:
    """Say what the CODE of a diagnostic means, or list all codes."""
    from transpiler.explain import REGISTRY, explain, listing

    if code is None:
        click.echo(listing(), nl=False)
    elif code.upper() in REGISTRY:
        click.echo(explain(code.upper()), nl=False)
    else:
        raise _WrongUse(f"there is no code {code}; `gotmpl2jinja explain` lists all")


def _template(name: str, kind: str | None) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The template of an input, which may stand inside a Modelfile, and what is to be said about the input."""
    try:
        source = read_source(name, utf16=kind != "template")
    except OSError as error:
        raise _WrongUse(f"{click.format_filename(name)}: {error.strerror}") from error
    if kind == "modelfile" or (kind is None and looks_like_modelfile(source.text)):
        modelfile = read_modelfile(source.text, source.name)
        return chat_template(modelfile), (*modelfile.diagnostics, *unconverted(modelfile))
    return source, mark_warning(source)


def _targets(sources: tuple[str, ...], output: str | None) -> list[Path | None]:
    """The file that each result goes to; None is the standard output."""
    if output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        names = ["stdin" if name == STDIN else Path(name).name.removesuffix(".gotmpl") for name in sources]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _WrongUse(f"two results would be called {twice}.jinja")
        return [Path(output, f"{name}.jinja") for name in names]
    if len(sources) > 1:
        raise _WrongUse("several sources need `-o` with a folder, as in `-o results/`")
    return [None if output in (None, STDIN) else Path(str(output))]


def _refuse_foreign(targets: Iterable[Path | None]) -> None:
    for target in targets:
        if target is not None and not is_ours(target):
            raise _WrongUse(f"{click.format_filename(target)} is not a converted template; --force replaces it")


def _report(diagnostics: tuple[Diagnostic, ...], style: str) -> None:
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(render(diagnostics, style, colour=colour), err=True, nl=False, color=colour)
