"""`gotmpl2jinja convert`: what it is given, and the order in which things are done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from transpiler.cli.settings import STORE, Settings
from transpiler.cli.streams import FORMATS, WrongUse, report, say, seen
from transpiler.cli.targets import Target, refuse_losses, targets_of, write_jinja
from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.files import read_input

if TYPE_CHECKING:
    from transpiler.api import Result
    from transpiler.inputs import Input

__all__ = ["convert"]

_INPUT_ERRORS = 1


@click.command()
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Write to this file; into this folder if it is one or ends with /; - is stdout.",
)
@click.option(
    "--to",
    type=click.Choice(["jinja", "tokenizer-config", "gguf"]),
    default="jinja",
    show_default=True,
    help="A chat template, a tokenizer_config.json with it, or a copy of a GGUF with it.",
)
@click.option("--model", metavar="GGUF", help="The model to copy, for --to gguf.  [default: what FROM names]")
@click.option(
    "--prefer",
    type=click.Choice(["converted", "model"]),
    default="converted",
    show_default=True,
    help="Which template a GGUF gets that has one of its own.",
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
@click.option(
    "--bos",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Print the BOS token first; auto: where the model's own data says that it has one in front.",
)
@click.option("--system", metavar="TEXT", help="The system message of chats without one.  [default: SYSTEM]")
@click.option("--no-system", is_flag=True, help="Leave the Modelfile's SYSTEM out.")
@click.option("--messages", is_flag=True, help="Put the Modelfile's MESSAGE lines before every chat.")
@click.option("--kind", type=click.Choice(["template", "modelfile"]), help="What SOURCE is.  [default: by its content]")
@click.option("--force", is_flag=True, help="Replace files of others; convert a template that a RENDERER replaces.")
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="full",
    show_default=True,
    help="How warnings and errors are drawn.",
)
def convert(sources: tuple[str, ...], output: str | None, **options: Any) -> None:
    """Convert Go templates to Jinja.

    SOURCE is a file with a Go template, a Modelfile, ollama:NAME[:TAG] for a model in the local Ollama store, or - for
    the standard input. The result goes to the standard output; several results need -o with a folder.
    """
    settings = Settings(**options)
    if settings.system is not None and settings.no_system:
        raise WrongUse("--system and --no-system exclude each other")
    if settings.model is not None and settings.to != "gguf":
        raise WrongUse("--model goes with --to gguf")
    targets = targets_of(sources, output, settings)
    refuse_losses(sources, targets, settings)
    inputs = [None if name.startswith(STORE) else _read(name) for name in sources]
    failed = warned = 0
    for source, data, target in zip(sources, inputs, targets, strict=True):
        try:
            found = _convert_one(source, data, target, settings)
        except TemplateError as error:
            report(error.diagnostics, settings.style)
            failed += 1
            continue
        warned += sum(diagnostic.severity is Severity.WARNING for diagnostic in found)
    if settings.style == "full" and seen():
        say(_summary(len(inputs) - failed, failed, warned))
    if failed:
        sys.exit(_INPUT_ERRORS)


def _read(path: str) -> tuple[bytes, str]:
    try:
        return read_input(path)
    except OSError as error:
        raise WrongUse(f"{click.format_filename(path)}: {error.strerror}") from error


def _convert_one(name: str, data: tuple[bytes, str] | None, target: Target, settings: Settings) -> list[Diagnostic]:
    """Convert one source and write what comes of it; return what there was to say, which is said already."""
    from transpiler.api import Options, transpile_source

    read = _from_store(name, settings) if data is None else _from_text(*data, settings)
    notes = [*read.notes, *_left_out(read, settings)]
    try:
        bos = settings.bos == "always" or (settings.bos == "auto" and _has_bos(settings, target, read, name))
        options = Options(
            exact=settings.exact,
            json=settings.json_style,
            system=settings.system if settings.system is not None else None if settings.no_system else read.system,
            messages=read.messages if settings.messages else (),
            bos=bos,
        )
        result = transpile_source(read.template, options)
    except TemplateError as error:
        raise TemplateError((*notes, *error.diagnostics)) from error
    found = [*notes, *_of_mode(result, read, settings)]
    if any(diagnostic.severity is Severity.ERROR for diagnostic in found):
        raise TemplateError(tuple(found))
    report(found, settings.style)
    if settings.to == "jinja":
        write_jinja(target, result.jinja if settings.mode == "chat" else result.fim or "")
    else:
        from transpiler.cli.packages import write_package

        write_package(settings, target, read, result, name)
    return found


def _has_bos(settings: Settings, target: Target, read: Input, name: str) -> bool:
    """Whether the data of the target says that its model has a BOS token in front of every text."""
    if settings.to == "jinja":
        return False
    from transpiler.cli.packages import adds_bos

    return bool(adds_bos(settings, target, read, name))


def _from_text(data: bytes, name: str, settings: Settings) -> Input:
    from transpiler.inputs import read_template

    return read_template(data, name, settings.kind, force=settings.force)


def _from_store(name: str, settings: Settings) -> Input:
    from transpiler.inputs import stored_template
    from transpiler.ollama.store import StoreError, open_store

    try:
        stored = open_store().read(name.removeprefix(STORE))
    except StoreError as error:
        raise WrongUse(f"{name}: {error}") from error
    return stored_template(stored, force=settings.force)


def _left_out(read: Input, settings: Settings) -> tuple[Diagnostic, ...]:
    """What the Modelfile says and the result doesn't."""
    from transpiler.ollama.modelfile import unconverted

    if read.modelfile is None:
        return ()
    keywords = ["adapter", "license", "requires"]
    keywords += ["message"] if not settings.messages else []
    keywords += ["system"] if settings.no_system or settings.system is not None else []
    return unconverted(read.modelfile, *keywords)


def _of_mode(result: Result, read: Input, settings: Settings) -> list[Diagnostic]:
    """The findings, as far as they are about the form that was asked for."""
    if settings.mode == "chat" and settings.to != "tokenizer-config":
        return list(result.diagnostics)
    found = [diagnostic for diagnostic in result.diagnostics if diagnostic.code != "GT910"]
    if settings.mode == "fim" and result.fim is None:
        found.append(Diagnostic("GT911", Severity.ERROR, "the template can't fill in the middle", read.template))
    return found


def _summary(converted: int, failed: int, warned: int) -> str:
    """`2 converted, 1 refused, 3 warnings`"""
    parts = [f"{converted} converted"]
    if failed:
        parts.append(f"{failed} refused")
    if warned:
        parts.append(f"{warned} warning{'s' * (warned > 1)}")
    return ", ".join(parts)
