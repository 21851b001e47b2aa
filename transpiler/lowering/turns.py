"""The turns of a chat, for templates that Ollama runs once a turn: one loop over them, with the template as its body.

A regular chat, questions and answers behind perhaps one system message, is walked as it is. Any other is first made
into such a list as `Template.Execute` of Ollama v0.34 does it: a system message ends a turn that has a prompt or a
response, a user message one that has a response; other roles are passed over. The last turn is cut where the model
goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transpiler.jinja.ast import (
    EMPTY,
    And,
    Arithmetic,
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
    ListLiteral,
    MethodCall,
    Name,
    Not,
    Or,
    Output,
    Set,
    SetAttribute,
    SetBlock,
    Slice,
    Stmt,
    Test,
)
from transpiler.lowering.state import STATE

_MESSAGES = Name("messages")
_MESSAGE = Name("message")
_CONTENT = Name("content")
_ROLE = Name("role")
_TURN = Attribute(Name(STATE), "turn")
_DONE = Attribute(Name(STATE), "turns")
_FIELDS = ("system", "prompt", "response")
_NO_ANSWER = DictLiteral((("content", EMPTY),))


@dataclass(frozen=True, slots=True)
class TurnNames:
    """Names of the emitted template's variables: those of a turn, and those of the loop."""

    system: str
    prompt: str
    response: str
    cut: str
    turns: str
    index: str
    count: str


def turns_of_chat(names: TurnNames, *, system: bool) -> Body:
    """The statements that set the list of turns: a question, its answer, the next question, …

    With `system` a question's mapping has the text of its system messages, where there are some.
    """
    roles, unpaired, odd = Name("roles"), Name("unpaired"), Name("odd")
    with_system = MethodCall(roles, "startswith", (Const("system "),))
    unanswered = MethodCall(roles, "endswith", (Const("user "),))
    content = Item(_MESSAGE, Const("content"))
    unlike = For(
        ("message",),
        _MESSAGES,
        (Output(Const("x")),),
        Or((Test(content, "string", negated=True), Not(content))),
    )
    regular = And(
        (
            Not(odd),
            Compare(unpaired, "in", ListLiteral(tuple(map(Const, ("", "user ", "system ", "system user "))))),
            Compare(Const("user "), "in", roles),
            Compare(MethodCall(unpaired, "startswith", (Const("system "),)), "==", with_system),
            Compare(MethodCall(unpaired, "endswith", (Const("user "),)), "==", unanswered),
        )
    )
    turns = Name(names.turns)
    first: Expr = Item(_MESSAGES, Const(1))
    question = DictLiteral(
        (("content", Item(first, Const("content"))), ("system", Item(Item(_MESSAGES, Const(0)), Const("content"))))
    )
    behind: Expr = Slice(_MESSAGES, Const(1), None)
    if system:
        behind = Arithmetic(ListLiteral((question,)), "+", Slice(_MESSAGES, Const(2), None))
    return (
        Comment("As Ollama does: neighbours of one role are one message, and the template runs once a turn."),
        Comment("Questions and their answers behind one system message are turns already; other chats are made so."),
        Set("roles", Concat((Filter(Filter(_MESSAGES, "map", (Const("role"),)), "join", (Const(" "),)), Const(" ")))),
        Set("unpaired", MethodCall(roles, "replace", (Const("user assistant "), EMPTY))),
        SetBlock("odd", (unlike,)),
        If(
            (
                (
                    regular,
                    (
                        Set(names.turns, Conditional(with_system, behind, _MESSAGES)),
                        If(((unanswered, (Set(names.turns, Arithmetic(turns, "+", ListLiteral((_NO_ANSWER,)))),)),)),
                    ),
                ),
            ),
            _walk(names, system=system),
        ),
    )


def _walk(names: TurnNames, *, system: bool) -> Body:
    """Any chat, message by message, made into turns."""
    state, current = Name("turn"), {field: Name(field) for field in _FIELDS}

    def turn(values: Mapping[str, Expr]) -> Expr:
        question = [("content", values["prompt"]), *([("system", values["system"])] if system else [])]
        return ListLiteral((DictLiteral(tuple(question)), DictLiteral((("content", values["response"]),))))

    def flush(*cleared: str) -> Body:
        done = SetAttribute(STATE, "turns", Arithmetic(_DONE, "+", turn(current)))
        return (done, *(Set(field, EMPTY) for field in cleared))

    def take(field: str) -> Stmt:
        merged = Concat((current[field], Const("\n\n"), _CONTENT))
        return Set(field, Conditional(Name("merge"), merged, _CONTENT))

    unmerged = Not(Name("merge"))
    said = Or((current["prompt"], current["response"]))
    by_role = If(
        (
            (
                Compare(_ROLE, "==", Const("system")),
                (If(((And((unmerged, said)), flush("prompt", "response")),)), take("system")),
            ),
            (
                Compare(_ROLE, "==", Const("user")),
                (If(((And((unmerged, current["response"])), flush("system", "response")),)), take("prompt")),
            ),
            (Compare(_ROLE, "==", Const("assistant")), (take("response"),)),
        )
    )
    item = Item(_MESSAGE, Const("content"))
    walk = For(
        ("message",),
        _MESSAGES,
        (
            Set("role", Filter(Item(_MESSAGE, Const("role")), "lower")),
            Set("content", Conditional(Test(item, "string"), item, Call("text", (item,)))),
            Set("turn", _TURN),
            *(Set(field, Item(state, Const(field))) for field in _FIELDS),
            Set("merge", Compare(_ROLE, "==", Item(state, Const("role")))),
            by_role,
            SetAttribute(
                STATE, "turn", DictLiteral((("role", _ROLE), *((field, current[field]) for field in _FIELDS)))
            ),
        ),
    )
    return (
        SetAttribute(STATE, "turn", DictLiteral((("role", Const(None)), *((field, EMPTY) for field in _FIELDS)))),
        SetAttribute(STATE, "turns", ListLiteral()),
        walk,
        Set("turn", _TURN),
        Set(names.turns, Arithmetic(_DONE, "+", turn({field: Item(state, Const(field)) for field in _FIELDS}))),
    )


def turn_loop(names: TurnNames, body: Body, read: frozenset[str]) -> Body:
    """The loop over the turns; `read`: the names that its body reads."""
    turns, index, count = Name(names.turns), Name(names.index), Name(names.count)
    question: Expr = Item(turns, index)
    answer = Item(turns, Arithmetic(index, "+", Const(1)))
    system = Conditional(Compare(Const("system"), "in", question), Item(question, Const("system")), EMPTY)
    # An answered turn is cut only where the model goes on with the answer.
    goes_on = Or((Name("add_generation_prompt"), Not(Name(names.response))))
    is_last = Compare(Arithmetic(index, "+", Const(2)), "==", count)
    cut = names.cut in read
    settings: tuple[tuple[str, Expr], ...] = (
        (names.system, system),
        (names.prompt, Item(question, Const("content"))),
        (names.response, Item(answer, Const("content"))),
        (names.cut, And((is_last, goes_on))),
    )
    wanted = read | ({names.response} if cut else frozenset())
    first = tuple(Set(name, value) for name, value in settings if name in wanted)
    walked = Call("range", (Const(0), count, Const(2)))
    return (Set(names.count, Filter(turns, "length")), For((names.index,), walked, (*first, *body)))
