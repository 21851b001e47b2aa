"""What stands before a chat: the system message and the messages of a Modelfile, and the token that begins a text.

Ollama's server puts a Modelfile's MESSAGE lines before the messages of a request, and before those its SYSTEM where the
request does not begin with a system message (`ChatHandler` of Ollama v0.34). The BOS token is added by its tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass

from transpiler.jinja.ast import (
    EMPTY,
    And,
    Arithmetic,
    Body,
    Comment,
    Compare,
    Const,
    DictLiteral,
    Expr,
    If,
    Item,
    ListLiteral,
    Name,
    Or,
    Output,
    Set,
    SetBlock,
    Stmt,
)

_MESSAGES = Name("messages")
_SYSTEM = "default_system"
_EXAMPLES = "examples"


@dataclass(frozen=True, slots=True)
class Preface:
    """`system`: the system message of chats that don't begin with one; `messages`: pairs of role and content that come
    before those of a chat; `bos`: whether the template prints the BOS token, for runtimes that don't add it."""

    system: str | None = None
    messages: tuple[tuple[str, str], ...] = ()
    bos: bool = False


def preface_setup(preface: Preface) -> Body:
    """The statements that put the Modelfile's messages before those of the chat."""
    out: list[Stmt] = []
    with_examples: Expr = _MESSAGES
    if preface.messages:
        examples = tuple(_message(role, Const(content)) for role, content in preface.messages)
        out += (
            Comment("The MESSAGE lines of the Modelfile, which come before the chat."),
            Set(_EXAMPLES, ListLiteral(examples)),
        )
        with_examples = Arithmetic(Name(_EXAMPLES), "+", _MESSAGES)
    rest: Body = (Set("messages", with_examples),) if preface.messages else ()
    if preface.system is None:
        return (*out, *rest)
    # Which message is the first one of the request is asked before others come in front of it.
    first = Item(Item(_MESSAGES, Const(0)), Const("role"))
    lacks = And((_MESSAGES, Compare(first, "!=", Const("system"))))
    system: Expr = ListLiteral((_message("system", Name(_SYSTEM)),))
    if preface.messages:
        system = Arithmetic(system, "+", Name(_EXAMPLES))
    return (
        *out,
        Comment("The SYSTEM of the Modelfile, for a chat that does not begin with a system message."),
        SetBlock(_SYSTEM, (Output(Const(preface.system)),)),
        If(((lacks, (Set("messages", Arithmetic(system, "+", _MESSAGES)),)),), rest),
    )


def opening(preface: Preface) -> Body:
    """What is printed before all else."""
    return (Output(Or((Name("bos_token"), EMPTY))),) if preface.bos else ()


def _message(role: str, content: Expr) -> DictLiteral:
    return DictLiteral((("role", Const(role)), ("content", content)))
