"""Repairs: edits of a Go template's text, and the same change to its tree, so that it needs no second reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Chain,
    Command,
    If,
    Node,
    Operand,
    Pipeline,
    Range,
    Statement,
    Template,
    TemplateCall,
    With,
)
from transpiler.source import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` where `span` is."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Repair:
    """One change: of the text, and of the tree (`new` in the place of the node `old`)."""

    edit: Edit
    old: Node
    new: Operand


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` after all edits; they may not overlap."""
    out: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: e.span):
        out += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    return "".join((*out, text[at:]))


def apply_repairs(template: Template, repairs: Iterable[Repair]) -> Template:
    """The tree with each repaired node exchanged; what has no repaired node in it stays the same object."""
    repairs = tuple(repairs)
    exchange = _Exchange({id(r.old): r.new for r in repairs}, tuple(r.old.span for r in repairs))
    defines = tuple(replace(d, body=exchange.block(d.body)) for d in template.defines)
    return replace(template, body=exchange.block(template.body), defines=defines)


class _Exchange:
    def __init__(self, new: Mapping[int, Operand], places: Sequence[Span]) -> None:
        self.new = new
        self.places = places

    def block(self, block: Block) -> Block:
        return tuple(self.statement(stmt) for stmt in block)

    def statement(self, stmt: Statement) -> Statement:
        start, end = stmt.span.start, stmt.span.end
        if not any(start <= place.start and place.end <= end for place in self.places):
            return stmt
        match stmt:
            case Action(pipe):
                new = self.pipeline(pipe)
                return stmt if new is pipe else replace(stmt, pipe=new)
            case If(pipe, body, orelse) | Range(pipe, body, orelse) | With(pipe, body, orelse):
                other = self.block(orelse) if orelse is not None else None
                return replace(stmt, pipe=self.pipeline(pipe), body=self.block(body), orelse=other)
            case TemplateCall(_, call) if call is not None:
                return replace(stmt, pipe=self.pipeline(call))
            case _:
                return stmt

    def pipeline(self, pipe: Pipeline) -> Pipeline:
        new = self.new.get(id(pipe))
        if isinstance(new, Pipeline):
            return new
        cmds = tuple(self.command(cmd) for cmd in pipe.cmds)
        return pipe if all(a is b for a, b in zip(cmds, pipe.cmds, strict=True)) else replace(pipe, cmds=cmds)

    def command(self, cmd: Command) -> Command:
        args = tuple(self.operand(arg) for arg in cmd.args)
        return cmd if all(a is b for a, b in zip(args, cmd.args, strict=True)) else replace(cmd, args=args)

    def operand(self, operand: Operand) -> Operand:
        new = self.new.get(id(operand))
        if new is not None:
            return new
        match operand:
            case Pipeline():
                return self.pipeline(operand)
            case Chain(base):
                inner = self.operand(base)
                return operand if inner is base else replace(operand, base=inner)
            case _:
                return operand
