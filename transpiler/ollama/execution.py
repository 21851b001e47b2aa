"""How Ollama runs a template: which of its three ways, and what it reads out of the tree beforehand.

The rules are `Template.Execute`, `Identifiers`, `thinking.InferTags` and `tools.parseTag` of Ollama v0.34.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Break,
    Comment,
    Continue,
    Field,
    If,
    Node,
    Pipeline,
    Range,
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
        for pipe, _ in _pipelines(block, _At(None, block)):
            for node in _operands(pipe):
                match node:
                    case Field(names):
                        found.update(names)
                    case Variable(name, names):
                        found.update((name, *names))
                    case _:
                        pass
    return frozenset(map(str.lower, found))


def chat_mode(names: frozenset[str]) -> Mode:
    """Messages mode where the template speaks of `.Messages` at all, else one run a turn; `names`: its identifiers."""
    return Mode.MESSAGES if "messages" in names else Mode.LEGACY


def has_fim_form(names: frozenset[str]) -> bool:
    """Whether Ollama offers to fill gaps with a template of these identifiers (its `insert` capability)."""
    return "suffix" in names


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
    for pipe, at in _pipelines(template.body, _At(None, template.body)):
        if at.range is None or not _speaks_of("Thinking", pipe) or not _speaks_of("Messages", at.range):
            continue
        statements = [s for s in at.block if not isinstance(s, Comment)]
        if isinstance(statements[0], Text):
            opening = statements[0].text.strip(_SPACE)
        if isinstance(statements[-1], Text):
            closing = statements[-1].text.strip(_SPACE)
    return opening, closing


def tool_call_tag(template: Template) -> str:
    """The text by which Ollama knows a tool call in an answer; `{` where it finds none.

    It is the first text inside the first `if` on a `.ToolCalls`, up to a brace (`tools.parseTag`).
    """
    calls = _calls_block(template.body)
    text = _first_text(calls) if calls is not None else ""
    return text.replace("\r\n", "\n").partition("{")[0].strip(_SPACE) or "{"


def _calls_block(block: Block) -> Block | None:
    for stmt in block:
        if not isinstance(stmt, If | Range | With):
            continue
        args = (arg for cmd in stmt.pipe.cmds for arg in cmd.args)
        if isinstance(stmt, If) and any(isinstance(arg, Field) and "ToolCalls" in arg.names for arg in args):
            return stmt.body
        for inner in (stmt.body, stmt.orelse or ()):
            found = _calls_block(inner)
            if found is not None:
                return found
    return None


def _first_text(block: Block) -> str:
    """The first text that isn't blank, before any action of the block."""
    for stmt in block:
        match stmt:
            case Text(text):
                if text.strip(_SPACE):
                    return text
            case If(_, body, orelse) | Range(_, body, orelse) | With(_, body, orelse):
                return _first_text(body) or _first_text(orelse or ())
            case Action():
                return ""
            case _:
                pass
    return ""


def _speaks_of(name: str, pipe: Pipeline) -> bool:
    return any(isinstance(node, Field) and node.names[0] == name for node in _operands(pipe))


def _pipelines(block: Block, at: _At) -> Iterator[tuple[Pipeline, _At]]:
    for stmt in block:
        match stmt:
            case Text() | Comment() | Break() | Continue():
                pass
            case Action(pipe):
                yield pipe, at
            case If(pipe, body, orelse) | With(pipe, body, orelse) | Range(pipe, body, orelse):
                inner = pipe if isinstance(stmt, Range) else at.range
                yield pipe, _At(inner, at.block)
                yield from _pipelines(body, _At(inner, body))
                if orelse:
                    yield from _pipelines(orelse, _At(inner, orelse))
            case TemplateCall(_, call):
                if call is not None:
                    yield call, at
            case _:
                assert_never(stmt)


def _operands(pipe: Pipeline) -> list[Node]:
    """The operands of a pipeline and of those in parentheses, but not of what has fields behind its parentheses."""
    found: list[Node] = [*pipe.decls]
    for cmd in pipe.cmds:
        for arg in cmd.args:
            if isinstance(arg, Pipeline):
                found += _operands(arg)
            else:
                found.append(arg)
    return found
