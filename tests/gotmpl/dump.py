"""A tree in the form in which the oracle writes Go's: nested lists, the node's kind first."""

from __future__ import annotations

from typing import Any, assert_never

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Bool,
    Break,
    Chain,
    Comment,
    Continue,
    Dot,
    Field,
    Identifier,
    If,
    Nil,
    Number,
    Operand,
    Pipeline,
    Range,
    Statement,
    String,
    Template,
    TemplateCall,
    Text,
    Variable,
    With,
)


def dump(template: Template) -> dict[str, Any]:
    """All trees of a template by name; its own is named "". Go drops one that is empty where others are defined."""
    return {"": _block(template.body), **{d.name: _block(d.body) for d in template.defines}}


def _block(block: Block) -> list[Any]:
    return ["list", *(_statement(s) for s in block if not isinstance(s, Comment))]


def _statement(stmt: Statement) -> list[Any]:
    match stmt:
        case Text(text):
            return ["text", text]
        case Action(pipe):
            return ["action", _pipe(pipe)]
        case TemplateCall(name, pipe):
            return ["template", name, _pipe(pipe) if pipe is not None else None]
        case If(pipe, body, orelse) | Range(pipe, body, orelse) | With(pipe, body, orelse):
            kind = type(stmt).__name__.lower()
            return [kind, _pipe(pipe), _block(body), _block(orelse) if orelse is not None else None]
        case Break():
            return ["break"]
        case Continue():
            return ["continue"]
        case Comment():
            return []
        case _:
            assert_never(stmt)


def _pipe(pipe: Pipeline) -> list[Any]:
    sign = "" if not pipe.decls else "=" if pipe.assign else ":="
    commands = [["command", *(_operand(a) for a in cmd.args)] for cmd in pipe.cmds]
    return ["pipe", [v.name for v in pipe.decls], sign, *commands]


def _operand(operand: Operand) -> list[Any]:
    match operand:
        case Dot():
            return ["dot"]
        case Nil():
            return ["nil"]
        case Bool(value):
            return ["bool", value]
        case Number(text):
            return ["number", text]
        case String(quoted, value):
            return ["string", value, quoted]
        case Identifier(name):
            return ["identifier", name]
        case Field(names):
            return ["field", *names]
        case Variable(name, names):
            return ["variable", name, *names]
        case Chain(base, names):
            return ["chain", _operand(base), *names]
        case Pipeline():
            return _pipe(operand)
        case _:
            assert_never(operand)
