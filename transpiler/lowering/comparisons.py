"""`eq`, `ne`, `lt` and their like, by Go's rules: only values of one basic type can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transpiler.gotmpl.ast import Node
from transpiler.jinja.ast import (
    EMPTY,
    FALSE,
    And,
    Compare,
    CompareOp,
    Conditional,
    Const,
    Expr,
    Filter,
    ListLiteral,
    Not,
    Or,
    Slice,
    Test,
)
from transpiler.jinja.simplify import negate
from transpiler.lowering.arguments import Argument, Function, or_of
from transpiler.lowering.data import as_total
from transpiler.lowering.state import State, refuse
from transpiler.lowering.values import Value, compare_positions
from transpiler.ollama.datamodel import BOOL, INT, LISTS, MAPS, NOTHING, STRING, only


def equal(state: State, node: Node, args: Sequence[Argument]) -> Value:
    """`eq`: whether the first argument is equal to any of the others."""
    if len(args) < 2:
        return state.fail("GT205", node, "missing argument for comparison")
    left, *rest = [arg.value() for arg in args]
    texts = [value.const for value in rest if value.shape == STRING and isinstance(value.const, str)]
    if left.shape == STRING and len(texts) == len(rest) > 1:
        return Value(Compare(as_total(state, left), "in", ListLiteral(tuple(Const(t) for t in texts))), BOOL)
    return Value(or_of([_equal(state, node, left, value) for value in rest]), BOOL)


def not_equal(state: State, node: Node, args: Sequence[Argument]) -> Value:
    """`ne`"""
    found = equal(state, node, args)
    return Value(negate(found.expr), BOOL) if found.shape != NOTHING else found


def _equal(state: State, node: Node, left: Value, right: Value) -> Expr:
    if NOTHING in (left.shape, right.shape):
        return left.expr if left.shape == NOTHING else right.expr
    positions = compare_positions(left, "==", right)
    if positions is not None:
        return positions
    a, b = _basic(left), _basic(right)
    if "absent" in (a, b):
        return _is_absent(state, left, right)
    if a is None or b is None:
        return _equal_at_run_time(state, left, right)
    if a != b or a == "other":
        return state.fail("GT203", node, _incompatible(left, right), "incompatible types for comparison").expr
    if a == "bool":
        return _same_truth(left.expr, right.expr)
    for value, other in ((left, right), (right, left)):
        length = _length_of(value)
        if length is not None and other.const == 0:
            state.forget_bytes(node)
            return Not(length)
    if any(_is_prefix(value) and other.const is not None for value, other in ((left, right), (right, left))):
        state.forget_bytes(node)
    if EMPTY in (left.expr, right.expr):
        return Not(as_total(state, left if right.expr == EMPTY else right))
    # An absent text equals no text but the empty one, so it can be compared as it is.
    ends = [v.expr if _may_stay_absent(v, o) else as_total(state, v) for v, o in ((left, right), (right, left))]
    return Compare(ends[0], "==", ends[1])


def _is_prefix(value: Value) -> bool:
    """Whether it is a text's beginning: that equals a known text in bytes where it does in characters."""
    match value.expr:
        case Slice(_, None, Const()):
            return True
        case _:
            return False


def _may_stay_absent(value: Value, other: Value) -> bool:
    return value.optional and bool(other.const)


def _basic(value: Value) -> str | None:
    """Go's basic kind of a value; None where only the running template knows."""
    names = {kind.name for kind in value.shape}
    if names <= {"missing", "nil"}:
        return "absent"
    if len(names) > 1 or names == {"any"}:
        return None
    (name,) = names
    return name if name in ("string", "int", "bool", "float64", "complex128") else "other"


def _is_absent(state: State, left: Value, right: Value) -> Expr:
    """A comparison with nil or with a name that isn't there: equal only to another such, or to a nil list."""
    other = right if _basic(left) == "absent" else left
    names = {kind.name for kind in other.shape}
    if names <= {"missing", "nil"}:
        return Const(True)
    if names & {"any", "missing", "nil"}:
        return Or((Test(other.expr, "defined", negated=True), Test(other.expr, "none")))
    return Not(as_total(state, other)) if names & (LISTS | MAPS) else Const(False)


def _equal_at_run_time(state: State, left: Value, right: Value) -> Expr:
    for value, other in ((left, right), (right, left)):
        if other.shape == STRING:
            test = Test(value.expr, "string")
        elif other.shape == INT:
            test = Test(value.expr, "integer")
        elif other.shape == BOOL:
            test = Test(value.expr, "boolean")
        else:
            continue
        same = Compare(value.expr, "==", as_total(state, other))
        return Conditional(test, same, _unlike(value, only(other.shape) or ""))
    return Compare(left.expr, "==", right.expr)


def _unlike(value: Value, kind: str) -> Expr:
    """A comparison with a value that is not of that kind: nothing is like nothing, all else stops Ollama."""
    stops = refuse("incompatible types for comparison")
    others = {other.name for other in value.shape} - {kind}
    if others <= {"missing", "nil"}:
        return FALSE
    if not others & {"any", "missing", "nil"}:
        return stops
    there = And((Test(value.expr, "defined"), Test(value.expr, "none", negated=True)))
    return Conditional(there, stops, FALSE)


def _same_truth(left: Expr, right: Expr) -> Expr:
    for value, other in ((left, right), (right, left)):
        if isinstance(other, Const):
            return value if other.value else Not(value)
    return Or((And((left, right)), And((Not(left), Not(right)))))


def _incompatible(left: Value, right: Value) -> str:
    words = [" or ".join(sorted(kind.name.replace("_", " ") for kind in value.shape)) for value in (left, right)]
    return f"{words[0]} can't be compared with {words[1]}"


def order(op: CompareOp) -> Function:
    """`lt` and its like."""

    def compare(state: State, node: Node, args: Sequence[Argument]) -> Value:
        left, right = (arg.value() for arg in args)
        if NOTHING in (left.shape, right.shape):
            return left if left.shape == NOTHING else right
        positions = compare_positions(left, op, right)
        if positions is not None:
            return Value(positions, BOOL)
        kinds = {_basic(left), _basic(right)}
        if kinds == {"string"}:
            return state.cannot(
                "GT302", node, "texts are compared by order", "compare with `eq`, or lengths with `len`"
            )
        if None in kinds:
            return Value(Compare(left.expr, op, right.expr), BOOL)
        if len(kinds) > 1 or not kinds <= {"int", "float64"}:
            return state.fail("GT203", node, _incompatible(left, right), "incompatible types for comparison")
        length = _length_of(left)
        if length is not None and right.const in (0, 1) and (op, right.const) in _EMPTINESS:
            state.forget_bytes(args[0].node)
            return Value(length if _EMPTINESS[op, right.const] else Not(length), BOOL)
        return Value(Compare(as_total(state, left), op, as_total(state, right)), BOOL)

    return compare


# `len x > 0` and its like ask whether x is empty: true where the list or text has to be there.
_EMPTINESS: Mapping[tuple[CompareOp, object], bool] = {
    (">", 0): True,
    (">=", 1): True,
    ("<", 1): False,
    ("<=", 0): False,
}


def _length_of(value: Value) -> Expr | None:
    """The list or text whose length a value is."""
    match value.expr:
        case Filter(Or((base, ListLiteral(()))) | Or((base, Const(""))), "length"):
            return base
        case Filter(base, "length") if not isinstance(base, Or):
            return base
        case _:
            return None
