"""How Ollama runs a template: which of its three ways, and what it reads out of the tree beforehand.

The rules are `Template.Execute`, `Identifiers` and `thinking.InferTags` of Ollama v0.34.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Bool,
    Break,
    Chain,
    Command,
    Comment,
    Continue,
    Dot,
    Field,
    Identifier,
    If,
    Nil,
    Node,
    Number,
    Pipeline,
    Range,
    String,
    Template,
    TemplateCall,
    Text,
    Variable,
    With,
)
from transpiler.ollama.datamodel import Mode

# Go's `unicode.IsSpace`, as `strings.TrimSpace` uses it.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


def identifiers(template: Template) -> frozenset[str]:
    """The lower-cased names that Ollama looks for; names behind parentheses don't count, those of variables do."""
    found: set[str] = set()
    for block in (template.body, *(d.body for d in template.defines)):
        for node in _nodes(block):
            match node:
                case Field(names):
                    found.update(n.lower() for n in names)
                case Variable(name, names):
                    found.update(n.lower() for n in (name, *names))
                case _:
                    pass
    return frozenset(found)


def chat_mode(template: Template) -> Mode:
    """Messages mode where the template speaks of `.Messages` at all, else one run a turn."""
    return Mode.MESSAGES if "messages" in identifiers(template) else Mode.LEGACY


def has_fim_form(template: Template) -> bool:
    """Whether Ollama offers to fill gaps with it (its `insert` capability)."""
    return "suffix" in identifiers(template)


@dataclass(frozen=True, slots=True)
class _At:
    """What stands around a node: the range's pipeline and the list of statements next above it."""

    range: Pipeline | None
    block: Block


def thinking_tags(template: Template) -> tuple[str, str]:
    """The texts that Ollama takes for the tags around thinking; `("", "")` where it finds none.

    In the body of a range over `.Messages` they are the first and the last text next to a use of `.Thinking`; the last
    use in the template counts.
    """
    opening = closing = ""
    for node, at in _placed(template.body, _At(None, template.body)):
        if not (isinstance(node, Field) and node.names[0] == "Thinking"):
            continue
        if at.range is None or not any(f.names[0] == "Messages" for f in _fields(at.range)):
            continue
        statements = [s for s in at.block if not isinstance(s, Comment)]
        if isinstance(statements[0], Text):
            opening = statements[0].text.strip(_SPACE)
        if isinstance(statements[-1], Text):
            closing = statements[-1].text.strip(_SPACE)
    return opening, closing


def _fields(pipe: Pipeline) -> Iterator[Field]:
    for node in _operands(pipe):
        if isinstance(node, Field):
            yield node


def _placed(block: Block, at: _At) -> Iterator[tuple[Node, _At]]:
    for stmt in block:
        match stmt:
            case Action(pipe):
                yield from ((node, at) for node in _operands(pipe))
            case If(pipe, body, orelse) | With(pipe, body, orelse) | Range(pipe, body, orelse):
                inner = pipe if isinstance(stmt, Range) else at.range
                yield from ((node, _At(inner, at.block)) for node in _operands(pipe))
                yield from _placed(body, _At(inner, body))
                if orelse:
                    yield from _placed(orelse, _At(inner, orelse))
            case TemplateCall(_, call):
                if call is not None:
                    yield from ((node, at) for node in _operands(call))
            case Text() | Comment() | Break() | Continue():
                pass
            case _:
                assert_never(stmt)


def _nodes(block: Block) -> Iterator[Node]:
    return (node for node, _ in _placed(block, _At(None, block)))


def _operands(pipe: Pipeline) -> Iterator[Node]:
    """The operands of a pipeline and of those in parentheses, but not of what has fields behind its parentheses."""
    yield from pipe.decls
    for cmd in pipe.cmds:
        yield from _command(cmd)


def _command(cmd: Command) -> Iterator[Node]:
    for arg in cmd.args:
        match arg:
            case Pipeline():
                yield from _operands(arg)
            case Dot() | Nil() | Bool() | Number() | String() | Field() | Variable() | Identifier() | Chain():
                yield arg
            case _:
                assert_never(arg)
