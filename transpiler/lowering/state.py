"""What the lowering of one template carries along: where it is, what is known there, and what it found to say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from transpiler.diagnostics import Diagnostic, Severity
from transpiler.gotmpl.ast import Node
from transpiler.jinja.ast import Attribute, Call, Const, Expr, Name, Set, SetAttribute, Stmt
from transpiler.lowering.facts import Facts
from transpiler.lowering.names import Names
from transpiler.lowering.values import Loop, Value
from transpiler.ollama.cut import Cut
from transpiler.ollama.datamodel import BOOL, NOTHING, ROOT, Mode, Shape
from transpiler.passes.scopes import Binding, Scopes
from transpiler.passes.shapes import Shapes
from transpiler.source import Source

STATE = "go"
JsonStyle = Literal["go", "native"]


@dataclass(frozen=True, slots=True)
class ChatNames:
    """The variables that the emitted template makes of a chat before it starts."""

    system: str
    turns: str
    think: str
    think_set: str
    think_level: str
    call_names: str
    prompt: str
    response: str
    cut: str


@dataclass(slots=True)
class State:
    """The lowering of one template."""

    source: Source
    mode: Mode
    scopes: Scopes
    shapes: Shapes
    names: Names
    chat: ChatNames
    can_think: bool
    json_style: JsonStyle = "go"
    dot: Value = Value(Const(None), ROOT)
    root: Value = Value(Const(None), ROOT)
    loops: list[Loop] = field(default_factory=list)
    facts: Facts = Facts()
    stable: frozenset[str] = frozenset()
    bound: dict[Binding, Value] = field(default_factory=dict)
    in_namespace: set[Binding] = field(default_factory=set)
    settled: set[Binding] = field(default_factory=set)
    cut: Cut | None = None
    macros: dict[str, str] = field(default_factory=dict)
    pending: list[Stmt] = field(default_factory=list)
    diagnostics: dict[tuple[str, int], Diagnostic] = field(default_factory=dict)
    branches: int = 0
    in_else_arm: bool = False
    loop_count: int = 0

    # -- places --------------------------------------------------------------------------------------------------

    @contextmanager
    def inside(
        self,
        *,
        dot: Value | None = None,
        assuming: Expr | None = None,
        truth: bool = True,
        always: bool = False,
    ) -> Iterator[None]:
        """The body of a block: with its own dot, and what its condition says; `always`: every chat gets there."""
        before = self.dot, self.facts
        if dot is not None:
            self.dot = dot
        if assuming is not None:
            self.facts = self.facts.assuming(assuming, truth=truth, stable=self.stable)
        self.branches += not always
        try:
            yield
        finally:
            self.branches -= not always
            self.dot, self.facts = before

    @contextmanager
    def after_cut(self) -> Iterator[None]:
        """Code that does not run in the last turn."""
        before, self.cut = self.cut, None
        self.branches += 1
        try:
            yield
        finally:
            self.branches -= 1
            self.cut = before

    def holds(self, *names: str) -> None:
        """Say that variables of the emitted template never change, so that facts about them stay true."""
        self.stable |= frozenset(names)

    # -- variables -----------------------------------------------------------------------------------------------

    def read(self, binding: Binding) -> Value:
        """The value of a Go variable."""
        known = self.bound.get(binding)
        if known is not None:
            return known
        shape: Shape = self.shapes.bindings.get(binding, NOTHING)
        return Value(self.place(binding), shape)

    @property
    def bool_names(self) -> frozenset[str]:
        """The names under which truth values and nothing else are kept."""
        own = (self.names.of(binding) for binding, kinds in self.shapes.bindings.items() if kinds == BOOL)
        return frozenset((self.chat.think, self.chat.think_set, "add_generation_prompt", *own))

    def place(self, binding: Binding) -> Expr:
        """Where a Go variable is kept: a variable, or an attribute of the namespace if it outlives iterations."""
        name = self.names.of(binding)
        return Attribute(Name(STATE), name) if binding in self.in_namespace else Name(name)

    def write(self, binding: Binding, expr: Expr) -> Stmt:
        """The statement that puts a value into a Go variable."""
        name = self.names.of(binding)
        return SetAttribute(STATE, name, expr) if binding in self.in_namespace else Set(name, expr)

    # -- findings ------------------------------------------------------------------------------------------------

    def report(self, code: str, severity: Severity, node: Node, message: str, help: str | None = None) -> None:
        """Collect a diagnostic, once for its place."""
        key = (code, node.span.start)
        if key not in self.diagnostics:
            self.diagnostics[key] = Diagnostic(code, severity, message, self.source, node.span, help=help)

    def fail(self, code: str, node: Node, message: str, go_error: str | None = None) -> Value:
        """What Ollama stops at: the emitted template refuses the chat at the same place.

        It is an error where every chat gets there, and a warning where only some do.
        """
        severity = Severity.WARNING if self.branches else Severity.ERROR
        help = "Ollama stops here, and so does the emitted template" if self.branches else None
        self.report(code, severity, node, message, help)
        return Value(refuse(go_error or message), NOTHING)

    def note_bytes(self, node: Node, message: str) -> None:
        """Say that a result can differ for text that isn't ASCII."""
        self.report("GT303", Severity.WARNING, node, message, "the same for ASCII text; for other text it can differ")

    def forget_bytes(self, node: Node) -> None:
        """Take back what `note_bytes` said of a node: of a length is asked only whether it is zero."""
        for key in [key for key in self.diagnostics if key[0] == "GT303"]:
            if node.span.start <= key[1] < node.span.end:
                del self.diagnostics[key]

    def cannot(self, code: str, node: Node, message: str, help: str | None = None) -> Value:
        """What no portable Jinja can say."""
        self.report(code, Severity.ERROR, node, message, help)
        return Value(Const(""), NOTHING)


def refuse(message: str) -> Expr:
    """Jinja that refuses the chat with a message."""
    return Call("raise_exception", (Const(message),))
