"""Which declaration every use of a variable means, and where its value is read and written.

Go's rules: `:=` makes a new variable that lives to the end of its block, `=` writes to the nearest one of that name,
and each of `if`, `with`, `range` opens a block for its pipeline and one for each arm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from transpiler.gotmpl.ast import (
    Action,
    Block,
    Break,
    Chain,
    Comment,
    Continue,
    If,
    Operand,
    Pipeline,
    Range,
    Template,
    TemplateCall,
    Text,
    Variable,
    With,
)
from transpiler.source import Span


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a variable is read or written, and the ranges around it (their spans, the outermost first)."""

    span: Span
    loops: tuple[Span, ...]
    pipe: Pipeline | None = None


@dataclass(slots=True, eq=False)
class Binding:
    """One variable: its name with the `$`, where it is declared, and every use."""

    name: str
    span: Span
    loops: tuple[Span, ...]
    pipe: Pipeline
    shadows: Binding | None
    is_action: bool
    block: Block
    block_name: str = ""
    reads: list[Use] = field(default_factory=list)
    writes: list[Use] = field(default_factory=list)

    @property
    def crosses_loops(self) -> bool:
        """Whether a range inside its scope writes to it, so that the value has to outlive an iteration."""
        return any(len(w.loops) > len(self.loops) for w in self.writes)


@dataclass(slots=True)
class Scopes:
    """All variables of a template and, by the span of each occurrence, which one is meant."""

    bindings: list[Binding] = field(default_factory=list)
    of: dict[Span, Binding] = field(default_factory=dict)


def resolve_scopes(template: Template) -> Scopes:
    """Resolve every variable; those of a `define` are apart, `$` (the data) is in no table."""
    scopes = Scopes()
    for block in (template.body, *(d.body for d in template.defines)):
        _Resolver(scopes).block(block, "template")
    return scopes


class _Resolver:
    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.visible: list[Binding] = []
        self.loops: tuple[Span, ...] = ()
        self.current: tuple[Block, str] = ((), "")

    def block(self, block: Block, name: str) -> None:
        outer, mark = self.current, len(self.visible)
        self.current = block, name
        for stmt in block:
            match stmt:
                case Action(pipe):
                    self.pipeline(pipe, action=True)
                case If(pipe, body, orelse) | With(pipe, body, orelse) | Range(pipe, body, orelse):
                    self.branch(stmt, pipe, body, orelse)
                case TemplateCall(_, call):
                    if call is not None:
                        self.pipeline(call)
                case Text() | Comment() | Break() | Continue():
                    pass
                case _:
                    assert_never(stmt)
        del self.visible[mark:]
        self.current = outer

    def branch(self, stmt: If | With | Range, pipe: Pipeline, body: Block, orelse: Block | None) -> None:
        mark, loops = len(self.visible), self.loops
        word = type(stmt).__name__.lower()
        if isinstance(stmt, Range):
            self.commands(pipe)
            self.loops = (*loops, stmt.span)
            self.declare(pipe, action=False)
        else:
            self.pipeline(pipe)
        self.block(body, word)
        self.loops = loops
        if orelse is not None:
            self.block(orelse, word)
        del self.visible[mark:]

    def pipeline(self, pipe: Pipeline, *, action: bool = False) -> None:
        self.commands(pipe)
        self.declare(pipe, action=action)

    def declare(self, pipe: Pipeline, *, action: bool) -> None:
        for decl in pipe.decls:
            known = self.find(decl.name)
            if pipe.assign:
                if known is not None:
                    self.scopes.of[decl.span] = known
                    known.writes.append(Use(decl.span, self.loops, pipe))
                continue
            block, word = self.current
            binding = Binding(decl.name, decl.span, self.loops, pipe, known, action, block, word)
            self.scopes.bindings.append(binding)
            self.scopes.of[decl.span] = binding
            self.visible.append(binding)

    def commands(self, pipe: Pipeline) -> None:
        for cmd in pipe.cmds:
            for arg in cmd.args:
                self.operand(arg)

    def operand(self, operand: Operand) -> None:
        match operand:
            case Variable(name):
                binding = self.find(name)
                if binding is not None:
                    self.scopes.of[operand.span] = binding
                    binding.reads.append(Use(operand.span, self.loops))
            case Pipeline():
                # Variables may be declared in parentheses too; they live on in the block.
                self.pipeline(operand)
            case Chain(base):
                self.operand(base)
            case _:
                pass

    def find(self, name: str) -> Binding | None:
        return next((b for b in reversed(self.visible) if b.name == name), None)
