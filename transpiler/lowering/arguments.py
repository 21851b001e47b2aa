"""What the functions of a template are given: arguments that are lowered when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from transpiler.gotmpl.ast import Node, Operand
from transpiler.jinja.ast import And, Expr, Or
from transpiler.lowering.state import State
from transpiler.lowering.values import Value


class Argument(Protocol):
    """One argument of a call."""

    @property
    def node(self) -> Node:
        """Where it stands."""
        ...

    def value(self) -> Value:
        """Its value."""
        ...

    def condition(self) -> Expr:
        """Its truth."""
        ...

    def lower(self, operand: Operand) -> Value:
        """The value of another operand at the same place."""
        ...


Function = Callable[[State, Node, Sequence[Argument]], Value]


def and_of(operands: Sequence[Expr]) -> Expr:
    """All of them, as a condition."""
    return operands[0] if len(operands) == 1 else And(tuple(operands))


def or_of(operands: Sequence[Expr]) -> Expr:
    """Any of them, as a condition."""
    return operands[0] if len(operands) == 1 else Or(tuple(operands))
