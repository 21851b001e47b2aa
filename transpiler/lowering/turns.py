"""The turns of a chat, for templates that Ollama runs once a turn: a macro with the template, and a walk that calls it.

The walk is `Template.Execute` of Ollama v0.34: a system message ends a turn that has a prompt or a response, a user
message one that has a response; other roles are passed over. The last turn is cut where the model goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

from transpiler.jinja.ast import (
    EMPTY,
    And,
    Attribute,
    Body,
    Call,
    Comment,
    Compare,
    Concat,
    Conditional,
    Const,
    DictLiteral,
    Expr,
    Filter,
    For,
    If,
    Item,
    Macro,
    Name,
    Not,
    Or,
    Output,
    Set,
    SetAttribute,
    Stmt,
    Test,
)
from transpiler.lowering.state import STATE

_MESSAGE = Name("message")
_ROLE = Name("role")
_CONTENT = Name("content")
_TURN = Attribute(Name(STATE), "turn")
_FIELDS = ("system", "prompt", "response")


@dataclass(frozen=True, slots=True)
class TurnNames:
    """The names of the macro for a turn and of its parameters."""

    macro: str
    system: str
    prompt: str
    response: str
    cut: str


def turn_macro(names: TurnNames, body: Body, *, cut: bool) -> Macro:
    """The template as a macro; with `cut` its last parameter says whether this is the turn to be answered."""
    params = (names.system, names.prompt, names.response)
    return Macro(names.macro, (*params, names.cut) if cut else params, body)


def turn_walk(names: TurnNames, *, cut: bool) -> Body:
    """The statements that print a chat turn by turn."""
    state, previous = Name("turn"), {field: Name(field) for field in _FIELDS}

    def call(values: tuple[Expr, ...], is_last: Expr) -> Stmt:
        return Output(Call(names.macro, (*values, is_last) if cut else values))

    def flush(*cleared: str) -> Body:
        whole = call((previous["system"], previous["prompt"], previous["response"]), Const(False))
        return (whole, *(Set(field, EMPTY) for field in cleared))

    def take(field: str) -> Stmt:
        merged = Concat((previous[field], Const("\n\n"), _CONTENT))
        return Set(field, Conditional(Name("merge"), merged, _CONTENT))

    unmerged = Not(Name("merge"))
    said = Or((previous["prompt"], previous["response"]))
    by_role = If(
        (
            (
                Compare(_ROLE, "==", Const("system")),
                (If(((And((unmerged, said)), flush("prompt", "response")),)), take("system")),
            ),
            (
                Compare(_ROLE, "==", Const("user")),
                (If(((And((unmerged, previous["response"])), flush("system", "response")),)), take("prompt")),
            ),
            (Compare(_ROLE, "==", Const("assistant")), (take("response"),)),
        )
    )
    item = Item(_MESSAGE, Const("content"))
    walk = For(
        ("message",),
        Name("messages"),
        (
            Set("role", Filter(Item(_MESSAGE, Const("role")), "lower")),
            Set("content", Conditional(Test(item, "string"), item, Call("text", (item,)))),
            Set("turn", _TURN),
            *(Set(field, Item(state, Const(field))) for field in _FIELDS),
            Set("merge", Compare(_ROLE, "==", Item(state, Const("role")))),
            by_role,
            SetAttribute(
                STATE,
                "turn",
                DictLiteral((("role", _ROLE), *((field, previous[field]) for field in _FIELDS))),
            ),
        ),
    )
    # An answered turn is cut only where the model goes on with the answer.
    goes_on = Or((Name("add_generation_prompt"), Not(Item(state, Const("response")))))
    return (
        Comment("As Ollama does: neighbours of one role are one message, and the template runs once a turn."),
        SetAttribute(STATE, "turn", DictLiteral((("role", EMPTY), *((field, EMPTY) for field in _FIELDS)))),
        walk,
        Set("turn", _TURN),
        call(tuple(Item(state, Const(field)) for field in _FIELDS), goes_on),
    )
