"""From the Go tree to the Jinja tree: the whole template, with what it needs of the chat and of the prelude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transpiler.diagnostics import Diagnostic
from transpiler.gotmpl.ast import Block, Define, If, Range, Template, TemplateCall, With
from transpiler.jinja.ast import And, Blank, Body, Call, Comment, Macro, Name, Output, Set, SetAttribute, Stmt, Verbatim
from transpiler.jinja.counting import count_loops
from transpiler.jinja.sharing import share
from transpiler.jinja.simplify import simplify, simplify_body
from transpiler.jinja.walk import statements, uses_of
from transpiler.lowering.chat import chat_names, chat_setup
from transpiler.lowering.names import Names
from transpiler.lowering.preface import Preface, opening, preface_setup
from transpiler.lowering.prelude import with_needs
from transpiler.lowering.state import STATE, JsonStyle, State
from transpiler.lowering.statements import lower_block, turn_values
from transpiler.lowering.turns import TurnNames, turn_loop, turns_of_chat
from transpiler.lowering.values import Value
from transpiler.ollama.cut import Cut, find_cut
from transpiler.ollama.datamodel import MESSAGES, NOTHING, ROOT, Mode
from transpiler.ollama.execution import identifiers
from transpiler.passes.scopes import Scopes
from transpiler.passes.shapes import Shapes
from transpiler.source import Source


@dataclass(frozen=True, slots=True)
class Lowered:
    """The Jinja tree, and what was found on the way."""

    body: Body
    diagnostics: tuple[Diagnostic, ...]


def lower(
    source: Source,
    template: Template,
    scopes: Scopes,
    shapes: Shapes,
    mode: Mode,
    *,
    can_think: bool,
    json_style: JsonStyle = "go",
    header: str = "",
    preface: Preface | None = None,
) -> Lowered:
    """The Jinja form of a template that Ollama runs in `mode`.

    `can_think`: whether Ollama infers thinking tags, so that thinking is on unless the request says otherwise.
    `header`: the first comment of the output; `preface`: what comes before the chat's messages.
    """
    preface = preface if preface is not None else Preface()
    names = Names(scopes)
    state = State(source, mode, scopes, shapes, names, chat_names(names), can_think, json_style)
    chat = state.chat
    state.holds("messages", "tools", "add_generation_prompt")
    state.holds(
        chat.prompt,
        chat.response,
        "suffix",
        chat.system,
        chat.turns,
        chat.think,
        chat.think_set,
        chat.think_level,
        chat.call_names,
    )
    called = _called(template)
    for define in called:
        state.macros[define.name] = names.fresh(_macro_name(define.name))
    defines = tuple(_define(state, define) for define in called)
    main = _turns(state, template) if mode is Mode.LEGACY else _whole(state, template)
    # Simplifying first: only what is left is worth a variable.
    body = simplify(share(simplify_body((*defines, *main))))
    turns = Name(chat.turns)
    macros: Body = tuple(
        replace(stmt, body=count_loops(stmt.body, turns, names.fresh)) for stmt in body if isinstance(stmt, Macro)
    )
    rest = count_loops(tuple(stmt for stmt in body if not isinstance(stmt, Macro)), turns, names.fresh)
    uses = uses_of(body)
    before_chat = preface_setup(preface) if mode is not Mode.FIM else ()
    setup = simplify_body((*before_chat, *chat_setup(chat, uses, mode, can_think=can_think)))
    before = uses_of(setup)
    prelude: list[Stmt] = []
    for macro in with_needs(uses.calls | before.calls):
        prelude += (Verbatim(macro.text), Blank())
    in_state = any(name == STATE for name, _ in uses.attributes | before.attributes)
    start: Body = (Set(STATE, Call("namespace")), *setup) if in_state else setup
    head: Body = (Comment(header), Blank()) if header else ()
    whole = (*head, *prelude, *start, *_gap(start), *macros, *_gap(macros), *opening(preface), *rest)
    return Lowered(whole, tuple(state.diagnostics.values()))


def _whole(state: State, template: Template) -> Body:
    """The template as Ollama runs it over all messages, or over a prompt and a suffix."""
    if state.mode is Mode.FIM:
        # Ollama fills gaps only where both are there.
        both = And((Name(state.chat.prompt), Name("suffix")))
        with state.inside(assuming=both, always=True):
            return lower_block(state, template.body)
    return lower_block(state, template.body, _last_loop(template.body, state.shapes))


def _turns(state: State, template: Template) -> Body:
    """The template as Ollama runs it once a turn; one that prints no response gets it at its end."""
    chat = state.chat
    fresh = (state.names.fresh(name) for name in ("index", "count"))
    names = TurnNames(chat.system, chat.prompt, chat.response, chat.cut, chat.turns, *fresh)
    state.cut = cut = find_cut(template.body) or Cut(frozenset(), None, None)
    if cut.orphan is not None:
        message = "Ollama can't cut the last turn at `.Response`: the block around it has an else"
        state.fail("GT208", cut.orphan, message, "panic: interface conversion: parse.Node is nil")
    body = lower_block(state, template.body)
    if "response" not in identifiers(template):
        body = (*body, Output(Name(chat.response)))
    setup: Body = (Set(STATE, Call("namespace")),) if _uses_state(body) else ()
    body = simplify_body(share((*setup, *body)))
    read = uses_of(body).names
    return (*turns_of_chat(names, system=chat.system in read), Blank(), *turn_loop(names, body, read))


def _gap(after: Body) -> Body:
    return (Blank(),) if after else ()


def _uses_state(body: Body) -> bool:
    sets = any(isinstance(stmt, SetAttribute) for stmt in statements(body))
    return sets or any(name == STATE for name, _ in uses_of(body).attributes)


def _define(state: State, define: Define) -> Macro:
    """`{{ define }}` as a macro; dot, which is also `$`, is its parameter, and so are the values of a turn."""
    shape = state.shapes.dots.get(define.name, NOTHING)
    name = state.macros[define.name]
    before = state.dot, state.root
    params: tuple[str, ...] = ()
    if shape and shape != ROOT:
        params = (state.names.fresh("dot"),)
        state.dot = state.root = Value(Name(params[0]), shape)
        state.holds(params[0])
    with state.inside():
        body = lower_block(state, define.body)
    state.dot, state.root = before
    setup: tuple[Stmt, ...] = (Set(STATE, Call("namespace")),) if _uses_state(body) else ()
    return Macro(name, (*params, *turn_values(state)), (*setup, *body))


def _called(template: Template) -> list[Define]:
    """The definitions that the template calls, itself or through others."""
    known = {define.name: define for define in template.defines}
    names, blocks = set[str](), [template.body]
    while blocks:
        for call in _calls(blocks.pop()):
            if call.name not in names:
                names.add(call.name)
                blocks.append(known[call.name].body)
    return [define for define in template.defines if define.name in names]


def _calls(block: Block) -> Iterator[TemplateCall]:
    for stmt in block:
        match stmt:
            case TemplateCall():
                yield stmt
            case If(_, body, orelse) | With(_, body, orelse) | Range(_, body, orelse):
                yield from _calls(body)
                yield from _calls(orelse or ())
            case _:
                pass


def _macro_name(name: str) -> str:
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).strip("_")
    return f"template_{plain}" if plain else "template_"


def _last_loop(block: Block, shapes: Shapes) -> frozenset[int]:
    """The ids of the last range over the messages and of the statements around it, outside of other ranges."""
    for stmt in reversed(block):
        match stmt:
            case Range(pipe):
                if shapes.of(pipe) == MESSAGES:
                    return frozenset({id(stmt)})
            case If(_, body, orelse) | With(_, body, orelse):
                inner = _last_loop(orelse or (), shapes) or _last_loop(body, shapes)
                if inner:
                    return inner | {id(stmt)}
            case _:
                pass
    return frozenset()
