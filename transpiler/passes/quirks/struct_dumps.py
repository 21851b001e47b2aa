"""GT402: `{{ .Function }}`, which Ollama prints as a Go struct dump.

Until v0.14 these values wrote themselves as JSON, and that is what authors of templates expect:
`{"type": "function", "function": {{ .Function }}}` now gives `{get_weather … {object <nil> …}}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from transpiler.diagnostics import Diagnostic, Severity
from transpiler.gotmpl.ast import (
    Action,
    Block,
    Command,
    Identifier,
    If,
    Node,
    Pipeline,
    Range,
    Template,
    TemplateCall,
    With,
)
from transpiler.ollama.datamodel import only
from transpiler.passes.edits import Edit, Repair
from transpiler.passes.shapes import Shapes
from transpiler.source import Source, Span

CODE = "GT402"

# The structs whose JSON can be converted.
_NAMES = {
    "function": "a tool's function",
    "parameters": "a function's parameters",
    "property": "a property",
    "call": "a tool call",
    "call_function": "the function of a tool call",
}
_PRINTING = frozenset({"print", "println"})


def struct_dumps(source: Source, template: Template, shapes: Shapes) -> Iterator[tuple[Diagnostic, Repair]]:
    """Every place where a struct is printed, with the repair: `json` before it."""
    for block in (template.body, *(d.body for d in template.defines)):
        for pipe in _printed(block):
            yield from _check(source, pipe, shapes)


def _printed(block: Block) -> Iterator[Pipeline]:
    for stmt in block:
        match stmt:
            case Action(pipe):
                if not pipe.decls:
                    yield pipe
            case If(_, body, orelse) | With(_, body, orelse) | Range(_, body, orelse):
                yield from _printed(body)
                yield from _printed(orelse or ())
            case TemplateCall():
                pass
            case _:
                pass


def _check(source: Source, pipe: Pipeline, shapes: Shapes) -> Iterator[tuple[Diagnostic, Repair]]:
    last = pipe.cmds[-1]
    kind = only(shapes.of(pipe))
    if kind in _NAMES:
        yield _found(source, kind, pipe), _as_json(pipe)
    first = last.args[0]
    if isinstance(first, Identifier) and first.name in _PRINTING:
        for arg in last.args[1:]:
            kind = only(shapes.of(arg))
            if kind in _NAMES:
                text = f"(json {source.text[arg.span.start : arg.span.end]})"
                json = Command((Identifier("json", span=arg.span), arg), span=arg.span)
                new = Pipeline((), False, (json,), span=arg.span)
                yield _found(source, kind, arg), Repair(Edit(arg.span, text), arg, new)


def _as_json(pipe: Pipeline) -> Repair:
    """`{{ x }}` as `{{ json x }}`, `{{ f x | g }}` as `{{ f x | g | json }}`."""
    last = pipe.cmds[-1]
    json = Identifier("json", span=last.span)
    if len(pipe.cmds) == 1 and len(last.args) == 1:
        at, text = last.span.start, "json "
        cmds: tuple[Command, ...] = (replace(last, args=(json, *last.args)),)
    else:
        at, text = last.span.end, " | json"
        cmds = (*pipe.cmds, Command((json,), span=last.span))
    return Repair(Edit(Span(at, at), text), pipe, replace(pipe, cmds=cmds))


def _found(source: Source, kind: str, node: Node) -> Diagnostic:
    return Diagnostic(
        CODE,
        Severity.WARNING,
        f"{_NAMES[kind]} is printed as a Go struct dump",
        source,
        node.span,
        label="Ollama writes `{… <nil> …}` here",
        help="converted as JSON, with `json`; pass --exact to keep what Ollama does today",
    )
