"""The command `gotmpl2jinja`: arguments, files and exit codes, nothing that the library doesn't do.

Exit codes: 0 done, 1 errors in an input, 2 wrong use. Results go to stdout or files, all else to stderr.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import click

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.files import STDIN, is_ours, read_input, write_whole

__all__ = ["main"]

# `rendering.FORMATS`, whose import is saved where there is nothing to draw.
_FORMATS = ("full", "concise", "json", "github")
_INPUT_ERRORS = 1
_INTERRUPTED = 130
_SUFFIX = re.compile(r"\.(?:gotmpl|tmpl)$")


class _WrongUse(click.ClickException):
    """Said in one line."""

    exit_code = 2


class _Commands(click.Group):
    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run; where the standard output can't be written to, that is an error as elsewhere."""
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "it is closed")
            return super().main(*arguments, **settings)
        except OSError as error:
            _say(f"Error: standard output: {error.strerror}")
            if sys.stdout is not None:
                # What is left in the buffer can't be written either when Python ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(_WrongUse.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C ends it without a word, with the exit code that shells expect."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(_INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gotmpl2jinja", message="%(prog)s %(version)s")
def main() -> None:
    """From Ollama's Go chat templates to Jinja chat templates that render the same text."""


@main.command()
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Write to this file; into this folder if it is one or ends with /; - is stdout.",
)
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
    type=click.Choice(_FORMATS),
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
    kind: Literal["template", "modelfile"] | None,
    force: bool,
    style: str,
) -> None:
    """Convert Go templates to Jinja.

    SOURCE is a file with a Go template, a Modelfile, or - for the standard input. The result goes to the standard
    output; several results need -o with a folder.
    """
    from transpiler.api import Options, transpile_source
    from transpiler.inputs import template_in

    targets = _targets(sources, output, ".jinja" if mode == "chat" else ".fim.jinja")
    _refuse_losses(sources, targets, force=force)
    inputs = [_read(name) for name in sources]
    options = Options(exact=exact, json=json_style)
    failed = warned = 0
    for (data, name), target in zip(inputs, targets, strict=True):
        notes: tuple[Diagnostic, ...] = ()
        try:
            source, notes = template_in(data, name, kind)
            result = transpile_source(source, options)
        except TemplateError as error:
            _report((*notes, *error.diagnostics), style)
            failed += 1
            continue
        jinja = result.jinja if mode == "chat" else result.fim
        found = [*notes, *result.diagnostics]
        if mode == "fim":
            found = [diagnostic for diagnostic in found if diagnostic.code != "GT910"]
        if jinja is None:
            found.append(Diagnostic("GT911", Severity.ERROR, "the template can't fill in the middle", source))
            failed += 1
        _report(found, style)
        if jinja is not None:
            warned += sum(diagnostic.severity is Severity.WARNING for diagnostic in found)
            _write(target, jinja)
    if style == "full" and sys.stderr.isatty():
        _say(_summary(len(inputs) - failed, failed, warned))
    if failed:
        sys.exit(_INPUT_ERRORS)


@main.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> None:
    """Say what the CODE of a diagnostic means, or list all codes."""
    from transpiler.explain import REGISTRY, explain, listing, near

    if code is None:
        click.echo(listing(), nl=False)
    elif code.upper() in REGISTRY:
        click.echo(explain(code.upper()), nl=False)
    else:
        others = ", ".join(near(code))
        meant = f" Perhaps {others}." if others else ""
        raise _WrongUse(f"there is no code {code}.{meant} `gotmpl2jinja explain` lists all.")


def _read(path: str) -> tuple[bytes, str]:
    try:
        return read_input(path)
    except OSError as error:
        raise _WrongUse(f"{click.format_filename(path)}: {error.strerror}") from error


def _targets(sources: tuple[str, ...], output: str | None, suffix: str) -> list[Path | None]:
    """The file that each result goes to; None is the standard output."""
    if output == "":
        raise _WrongUse("the name behind -o is empty")
    if output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        names = ["stdin" if name == STDIN else _SUFFIX.sub("", Path(name).name) for name in sources]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _WrongUse(f"two results would be called {twice}{suffix}")
        return [Path(output, f"{name}{suffix}") for name in names]
    if len(sources) > 1:
        raise _WrongUse("several sources need `-o` with a folder, as in `-o results/`")
    return [None if output in (None, STDIN) else Path(str(output))]


def _refuse_losses(sources: Sequence[str], targets: Iterable[Path | None], *, force: bool) -> None:
    """Refuse to write over a source, and, without `force`, over a file that isn't ours."""
    read = {os.path.realpath(name) for name in sources if name != STDIN}
    for target in filter(None, targets):
        if target.is_file() and os.path.realpath(target) in read:
            raise _WrongUse(f"{click.format_filename(target)} is a source; the result needs another name")
        if not force and not is_ours(target):
            raise _WrongUse(f"{click.format_filename(target)} is not a converted template; --force replaces it")


def _write(target: Path | None, jinja: str) -> None:
    if target is None:
        click.echo(jinja.encode("utf-8"), nl=False)
        return
    try:
        write_whole(target, jinja)
    except OSError as error:
        raise _WrongUse(f"{click.format_filename(target)}: {error.strerror}") from error


def _report(diagnostics: Sequence[Diagnostic], style: str) -> None:
    if diagnostics:
        from transpiler.rendering import render

        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        _say(render(diagnostics, style, colour=colour).rstrip("\n"), colour=colour)


def _say(text: str, *, colour: bool = False) -> None:
    """Write to stderr; that it can't be written to is no reason to give up the results."""
    with suppress(OSError):
        click.echo(text, err=True, color=colour)


def _summary(converted: int, failed: int, warned: int) -> str:
    """`2 converted, 1 refused, 3 warnings`"""
    parts = [f"{converted} converted"]
    if failed:
        parts.append(f"{failed} refused")
    if warned:
        parts.append(f"{warned} warning{'s' * (warned > 1)}")
    return ", ".join(parts)
