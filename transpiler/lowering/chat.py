"""What the emitted template makes of the chat before it starts: the messages as Ollama collates them, and thinking."""

from __future__ import annotations

from transpiler.jinja.ast import (
    EMPTY,
    FALSE,
    TRUE,
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
    Or,
    Output,
    Set,
    SetAttribute,
    SetBlock,
    Slice,
    Stmt,
    Test,
)
from transpiler.jinja.walk import Uses
from transpiler.lowering.names import Names
from transpiler.lowering.state import STATE, ChatNames
from transpiler.ollama.datamodel import Mode

_ROLES = ("system", "user", "assistant", "tool")
_MERGED_ROLES = ("system", "user", "assistant")
_MESSAGES = Name("messages")
_MESSAGE = Name("message")
# What is kept of a message when neighbours are merged, by the key that the template reads.
_KEPT_KEYS = ("tool_calls", "name", "tool_name", "tool_call_id")
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking")


def chat_names(names: Names) -> ChatNames:
    """Names for the chat's variables that are not those of the Go template's."""
    hints = ("system", "turns", "think", "think_set", "think_level", "call_names", "prompt", "response", "cut")
    return ChatNames(*(names.fresh(hint) for hint in hints))


def chat_setup(chat: ChatNames, uses: Uses, mode: Mode, *, can_think: bool) -> Body:
    """The statements that set the variables of `chat`; `uses`: what the rest of the template reads."""
    read = uses.names
    out: list[Stmt] = []
    if mode is Mode.MESSAGES:
        turns = chat.turns in read
        if turns:
            out += _collate(chat, uses)
        if chat.system in read:
            out += _system(chat.system, Name(chat.turns) if turns else None)
        if chat.call_names in read:
            out.append(_call_names(chat.call_names))
    out += _thinking(chat, read, can_think=can_think)
    return tuple(out)


def _collate(chat: ChatNames, uses: Uses) -> Body:
    """Neighbours of one role are one message; where there are none, the messages are taken as they are."""
    keys = set(uses.keys)
    uses_names = "tool_name" in uses.calls
    if uses_names:
        keys |= {"name", "tool_name", "tool_call_id"}
    kept = [key for key in _KEPT_KEYS if key in keys and (key != "name" or uses_names)]
    thinking = [key for key in _THINKING_KEYS[:1] if key in keys]
    roles, role, previous = Name("roles"), Name("role"), Name("previous")
    other: Expr = roles
    for known in _ROLES:
        other = MethodCall(other, "replace", (Const(f"{known} "), EMPTY))
    unusual = Or((*(Compare(Const(f"{known} {known}"), "in", roles) for known in _MERGED_ROLES), other))
    seen = "content" in keys or chat.system in uses.names
    if seen:
        unusual = Or((Name("parts"), *unusual.operands))
    turns = Attribute(Name(STATE), "turns")
    same = And((Compare(role, "==", Item(previous, Const("role"))), Compare(role, "!=", Const("tool"))))
    content: Expr = Call("text", (Item(_MESSAGE, Const("content")),))
    merged = DictLiteral(
        (
            ("role", role),
            ("content", Concat((Item(previous, Const("content")), Const("\n\n"), content))),
            *((key, Item(previous, Const(key))) for key in (*thinking, *kept)),
        )
    )
    alone = DictLiteral(
        (
            ("role", role),
            ("content", content),
            *((key, Or((*(Item(_MESSAGE, Const(k)) for k in _THINKING_KEYS), EMPTY))) for key in thinking),
            *((key, Conditional(_has(key), Item(_MESSAGE, Const(key)), Const(None))) for key in kept),
        )
    )
    walk = For(
        ("message",),
        _MESSAGES,
        (
            Set("role", Filter(Item(_MESSAGE, Const("role")), "lower")),
            Set("previous", Conditional(turns, Item(turns, Const(-1)), DictLiteral((("role", Const(None)),)))),
            If(
                (
                    (
                        same,
                        (
                            SetAttribute(
                                STATE,
                                "turns",
                                Arithmetic(Slice(turns, None, Const(-1)), "+", ListLiteral((merged,))),
                            ),
                        ),
                    ),
                ),
                (SetAttribute(STATE, "turns", Arithmetic(turns, "+", ListLiteral((alone,)))),),
            ),
        ),
    )
    return (
        Comment("As Ollama does: neighbours of one role are one message, but for results of tools."),
        Set("roles", Concat((Filter(Filter(_MESSAGES, "map", (Const("role"),)), "join", (Const(" "),)), Const(" ")))),
        *((_parts(),) if seen else ()),
        If(
            ((unusual, (SetAttribute(STATE, "turns", ListLiteral()), walk, Set(chat.turns, turns))),),
            (Set(chat.turns, _MESSAGES),),
        ),
    )


def _has(key: str) -> Expr:
    return Compare(Const(key), "in", _MESSAGE)


def _parts() -> Stmt:
    """Whether there is a content that is a list of parts: something is printed then."""
    content = Item(_MESSAGE, Const("content"))
    listed = And((Test(content, "string", negated=True), content))
    return SetBlock("parts", (For(("message",), _MESSAGES, (Output(Const("x")),), listed),))


def _system(name: str, turns: Expr | None) -> Body:
    content = Item(_MESSAGE, Const("content"))
    role = Compare(Item(_MESSAGE, Const("role")), "==", Const("system"))
    separator = If(((Attribute(Name("loop"), "first"), ()),), (Output(Const("\n\n")),))
    # In the turns no content is a list.
    text = Output(Or((content, EMPTY)) if turns is not None else Call("text", (content,)))
    return (
        Comment("The texts of all system messages, wherever they stand."),
        SetBlock(name, (For(("message",), turns or _MESSAGES, (separator, text), role),)),
    )


def _call_names(name: str) -> Stmt:
    """The names of all calls by id, as one text: `\\nid\\tname\\n…`."""
    call = Name("tool_call")
    pieces = (
        Const("\n"),
        Or((Item(call, Const("id")), EMPTY)),
        Const("\t"),
        Item(Item(call, Const("function")), Const("name")),
        Const("\n"),
    )
    calls = Or((Item(_MESSAGE, Const("tool_calls")), ListLiteral()))
    return SetBlock(
        name,
        (
            For(
                ("message",),
                _MESSAGES,
                (For(("tool_call",), calls, tuple(Output(piece) for piece in pieces)),),
                Item(_MESSAGE, Const("tool_calls")),
            ),
        ),
    )


def _thinking(chat: ChatNames, read: frozenset[str], *, can_think: bool) -> Body:
    """Think, IsThinkSet and ThinkLevel; a template that can think does so unless it is told not to."""
    switch, effort = Name("enable_thinking"), Name("reasoning_effort")
    is_set = And((Test(switch, "defined"), Test(switch, "none", negated=True)))
    by_effort: Expr = And((Test(effort, "defined"), effort)) if chat.think_level in read else FALSE
    out: list[Stmt] = []
    if chat.think in read or chat.think_level in read:
        default = TRUE if can_think else Conditional(by_effort, TRUE, FALSE)
        out.append(Set(chat.think, Conditional(is_set, switch, default)))
    if chat.think_set in read:
        out.append(Set(chat.think_set, Or((is_set, by_effort))))
    if chat.think_level in read:
        level = Conditional(And((Test(effort, "defined"), effort)), effort, Const("medium"))
        out.append(Set(chat.think_level, Conditional(Name(chat.think), level, EMPTY)))
    return tuple(out)
