"""The shape of every expression and variable, from what Ollama's data model says.

A variable has the shapes of all values that are ever put into it, wherever that happens; so the tree is gone through
until nothing new is found (values only flow along assignments, of which there are few).
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
    Operand,
    Pipeline,
    Range,
    String,
    Template,
    TemplateCall,
    Text,
    Variable,
    With,
)
from transpiler.ollama.datamodel import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NIL,
    NOTHING,
    ROOT,
    STRING,
    Mode,
    Shape,
)
from transpiler.ollama.functions import element_shape, field_shape, key_shape, result_shape
from transpiler.passes.scopes import Binding, Scopes


@dataclass(slots=True)
class Shapes:
    """What is known: per node (by identity), per variable, and per defined template what its dot may be."""

    nodes: dict[int, Shape] = field(default_factory=dict)
    bindings: dict[Binding, Shape] = field(default_factory=dict)
    dots: dict[str, Shape] = field(default_factory=dict)

    def of(self, node: Node) -> Shape:
        """The shape of a pipeline, command or operand of the template."""
        return self.nodes.get(id(node), NOTHING)


def infer_shapes(template: Template, scopes: Scopes, mode: Mode) -> Shapes:
    """The shapes of a template that Ollama runs in `mode`."""
    shapes = Shapes()
    defines = {d.name: d.body for d in template.defines}
    while True:
        walker = _Walker(shapes, scopes, mode)
        walker.root = ROOT
        walker.block(template.body, ROOT)
        for name, body in defines.items():
            walker.root = shapes.dots.get(name, NOTHING)
            walker.read.add(name)
            walker.block(body, walker.root)
        if not walker.stale:
            return shapes


class _Walker:
    def __init__(self, shapes: Shapes, scopes: Scopes, mode: Mode) -> None:
        self.shapes = shapes
        self.scopes = scopes
        self.mode = mode
        self.root: Shape = ROOT
        # What has been read in this round; where that grows afterwards, another round is needed.
        self.read: set[Binding | str] = set()
        self.stale = False

    def block(self, block: Block, dot: Shape) -> None:
        for stmt in block:
            match stmt:
                case Action(pipe):
                    self.pipeline(pipe, dot)
                case If(pipe, body, orelse):
                    self.pipeline(pipe, dot)
                    self.block(body, dot)
                    self.block(orelse or (), dot)
                case With(pipe, body, orelse):
                    self.block(body, self.pipeline(pipe, dot))
                    self.block(orelse or (), dot)
                case Range(pipe, body, orelse):
                    items = self.commands(pipe, dot)
                    element = element_shape(items)
                    if len(pipe.decls) == 2:
                        self.bind(pipe.decls[0], key_shape(items))
                    if pipe.decls:
                        self.bind(pipe.decls[-1], element)
                    self.block(body, element)
                    self.block(orelse or (), dot)
                case TemplateCall(name, call):
                    argument = self.pipeline(call, dot) if call is not None else NIL
                    known = self.shapes.dots.get(name, NOTHING)
                    if not argument <= known:
                        self.shapes.dots[name] = known | argument
                        self.stale |= name in self.read
                case Text() | Comment() | Break() | Continue():
                    pass
                case _:
                    assert_never(stmt)

    def bind(self, decl: Variable, value: Shape) -> None:
        binding = self.scopes.of.get(decl.span)
        if binding is None:
            return
        known = self.shapes.bindings.get(binding)
        if known is None or not value <= known:
            self.shapes.bindings[binding] = value if known is None else known | value
            self.stale |= binding in self.read

    def pipeline(self, pipe: Pipeline, dot: Shape) -> Shape:
        value = self.commands(pipe, dot)
        for decl in pipe.decls:
            self.bind(decl, value)
        return value

    def commands(self, pipe: Pipeline, dot: Shape) -> Shape:
        value: Shape | None = None
        for cmd in pipe.cmds:
            value = self.command(cmd, dot, value)
        return self.note(pipe, value if value is not None else NOTHING)

    def command(self, cmd: Command, dot: Shape, final: Shape | None) -> Shape:
        first = cmd.args[0]
        if isinstance(first, Identifier):
            args = [self.operand(arg, dot) for arg in cmd.args[1:]]
            return self.note(cmd, result_shape(first.name, args if final is None else [*args, final]))
        values = [self.operand(arg, dot) for arg in cmd.args]
        # Only functions take arguments: with anything else Go stops there.
        return self.note(cmd, values[0] if len(values) == 1 and final is None else NOTHING)

    def operand(self, operand: Operand, dot: Shape) -> Shape:
        return self.note(operand, self.operand_shape(operand, dot))

    def operand_shape(self, operand: Operand, dot: Shape) -> Shape:
        match operand:
            case Dot():
                return dot
            case Nil():
                return NIL
            case Bool():
                return BOOL
            case Number(_, number):
                return INT if isinstance(number, int) else FLOAT if isinstance(number, float) else COMPLEX
            case String():
                return STRING
            case Field(names):
                return self.fields(dot, names)
            case Variable("$", names):
                return self.fields(self.root, names)
            case Variable(_, names):
                binding = self.scopes.of.get(operand.span)
                value = NOTHING
                if binding is not None:
                    value = self.shapes.bindings.get(binding, NOTHING)
                    self.read.add(binding)
                return self.fields(value, names)
            case Identifier(name):
                return result_shape(name, [])
            case Chain(base, names):
                return self.fields(self.operand(base, dot), names)
            case Pipeline():
                return self.pipeline(operand, dot)
            case _:
                assert_never(operand)

    def fields(self, value: Shape, names: tuple[str, ...]) -> Shape:
        for name in names:
            value = field_shape(value, name, self.mode)
        return value

    def note(self, node: Node, value: Shape) -> Shape:
        self.shapes.nodes[id(node)] = value
        return value
