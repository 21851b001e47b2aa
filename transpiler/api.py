"""`transpile`: the one place that knows the order of the phases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.gotmpl.ast import Template
from transpiler.gotmpl.parser import parse
from transpiler.jinja.printer import print_template
from transpiler.lowering.lower import Lowered, lower
from transpiler.lowering.preface import Preface
from transpiler.ollama.datamodel import Mode
from transpiler.ollama.execution import chat_mode, has_fim_form, identifiers, thinking_tags, tool_call_tag
from transpiler.ollama.functions import FUNCTIONS
from transpiler.passes.edits import Repair, apply_edits, apply_repairs
from transpiler.passes.quirks import find_quirks
from transpiler.passes.scopes import Scopes, resolve_scopes
from transpiler.passes.shapes import Shapes, infer_shapes
from transpiler.source import Source

# Repairing one quirk can bring another to light; each round repairs at least one place, and sources are finite.
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Options:
    """How to convert.

    `exact` keeps the quirks; `json` is Go's compact JSON or the engine's own `tojson`. `system` becomes the system
    message of chats that don't begin with one, and `messages`, pairs of role and content, come before those of a chat,
    as Ollama's server does it with a Modelfile's SYSTEM and MESSAGE. `bos`: the result prints `bos_token` first, for
    runtimes that tokenize it without special tokens.
    """

    exact: bool = False
    json: Literal["go", "native"] = "go"
    system: str | None = None
    messages: tuple[tuple[str, str], ...] = ()
    bos: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """A converted template.

    `jinja` is the chat template; `repaired` the Go template that it equals (the input itself where nothing was
    repaired); `diagnostics` the warnings and notes, in the order of the source; `mode` how Ollama runs the template;
    `fim` a second template over `prompt` and `suffix`, where the Go template has such a form. `thinking_tags` and
    `tool_call_tag` are the texts by which Ollama, going by the template, finds thinking and tool calls in an answer.
    """

    jinja: str
    repaired: str
    diagnostics: tuple[Diagnostic, ...]
    mode: Literal["messages", "legacy"]
    fim: str | None = None
    thinking_tags: tuple[str, str] = ("", "")
    tool_call_tag: str = "{"


@dataclass(frozen=True, slots=True)
class _Analysed:
    template: Template
    names: frozenset[str]
    mode: Mode
    scopes: Scopes
    shapes: Shapes


def transpile(text: str, *, name: str = "<template>", options: Options | None = None) -> Result:
    """Convert the text of a Go template to a Jinja chat template.

    Raises TemplateError where that can't be done. Prints nothing, changes nothing global.
    """
    return transpile_source(Source(text, name), options)


def transpile_source(source: Source, options: Options | None = None) -> Result:
    """`transpile` for a template that may stand inside another text, such as a Modelfile."""
    options = options if options is not None else Options()
    analysed = _analyse(parse(source, FUNCTIONS))
    quirks: list[tuple[Diagnostic, Repair]] = []
    if options.exact:
        quirks += _quirks(source, analysed)
        repairs: list[Repair] = []
    else:
        analysed, quirks = _repair(source, analysed)
        repairs = [repair for _, repair in quirks]
    opening, closing = thinking_tags(analysed.template)
    header = _header(source, [d for d, _ in quirks] if repairs else [])

    def lowered_in(mode: Mode) -> Lowered:
        shapes = analysed.shapes if mode is analysed.mode else infer_shapes(analysed.template, analysed.scopes, mode)
        return lower(
            source,
            analysed.template,
            analysed.scopes,
            shapes,
            mode,
            can_think=bool(opening and closing),
            json_style=options.json,
            header=header,
            preface=Preface(options.system, options.messages, options.bos),
        )

    lowered = lowered_in(analysed.mode)
    fim = lowered_in(Mode.FIM) if has_fim_form(analysed.names) else None
    found = [*(diagnostic for diagnostic, _ in quirks), *lowered.diagnostics]
    if fim is not None:
        found += _of_fim(source, fim, found)
        fim = None if _has_error(fim.diagnostics) else fim
    diagnostics = tuple(sorted(found, key=lambda d: (d.span is not None, d.span)))
    if _has_error(diagnostics):
        raise TemplateError(diagnostics)
    repaired = apply_edits(source.text, (repair.edit for repair in repairs))
    mode: Literal["messages", "legacy"] = "messages" if analysed.mode is Mode.MESSAGES else "legacy"
    return Result(
        print_template(lowered.body),
        repaired,
        diagnostics,
        mode,
        print_template(fim.body) if fim is not None else None,
        (opening, closing),
        tool_call_tag(analysed.template),
    )


def _has_error(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)


def _of_fim(source: Source, fim: Lowered, known: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What the form that fills in the middle adds to the diagnostics; an error in it alone costs only that form."""
    if not _has_error(fim.diagnostics):
        message = "the template can also fill in the middle"
        return [
            Diagnostic("GT910", Severity.NOTE, message, source, help="that form is a template of its own: --mode fim")
        ]
    places = {(diagnostic.code, diagnostic.span) for diagnostic in known}
    help = "there is no template for filling in the middle; the one for chats is converted"
    return [
        replace(d, severity=Severity.WARNING, help=help) if d.severity is Severity.ERROR else d
        for d in fim.diagnostics
        if (d.code, d.span) not in places
    ]


def _analyse(template: Template) -> _Analysed:
    names = identifiers(template)
    mode = chat_mode(names)
    scopes = resolve_scopes(template)
    return _Analysed(template, names, mode, scopes, infer_shapes(template, scopes, mode))


def _quirks(source: Source, analysed: _Analysed) -> tuple[tuple[Diagnostic, Repair], ...]:
    return find_quirks(source, analysed.template, analysed.scopes, analysed.shapes)


def _repair(source: Source, analysed: _Analysed) -> tuple[_Analysed, list[tuple[Diagnostic, Repair]]]:
    found: list[tuple[Diagnostic, Repair]] = []
    for _ in range(_ROUNDS):
        quirks = _quirks(source, analysed)
        if not quirks:
            break
        found += quirks
        analysed = _analyse(apply_repairs(analysed.template, (repair for _, repair in quirks)))
    return analysed, found


def _header(source: Source, repairs: Sequence[Diagnostic]) -> str:
    name = " ".join(source.name.replace("\\", "/").rsplit("/", 1)[-1].split())
    text = f"Converted from {name} by gotmpl2jinja"
    if not repairs:
        return text + "."
    places: dict[str, list[str]] = {}
    for diagnostic in repairs:
        if diagnostic.span is not None:
            outer, span = diagnostic.source.outermost(diagnostic.span)
            places.setdefault(diagnostic.code, []).append(str(outer.position(span.start).line))
    listed = ", ".join(f"{code} (line{'s' * (len(n) > 1)} {', '.join(n)})" for code, n in places.items())
    return f"{text}; repaired: {listed}."
