"""What lowering an expression gives: Jinja that computes it, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from transpiler.jinja.ast import And, Attribute, Compare, CompareOp, Const, Expr, Name, Not, Shared
from transpiler.ollama.datamodel import Shape
from transpiler.source import Span

LOOP = Name("loop")


@dataclass(slots=True, eq=False)
class Loop:
    """A `range` that is being lowered: the id of its Jinja loop, and names for what its body shares.

    `stops`: the names of its own flag for `break` and of those of the loops in it; `guarded`: whether statements of its
    body are passed over where the flag for `continue` is set.
    """

    id: int
    span: Span
    over_messages: bool
    names: dict[str, str]
    stops: set[str] = field(default_factory=set)
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """A number that is known relative to a loop.

    `index` + offset: `$i`, `len (printf "a%*s" $i "")`; `left` + offset: `len (slice $.Messages $i)`, 1 at the last
    element; `length` + offset (without a loop): `len .Messages`.
    """

    kind: Literal["index", "left", "length"]
    loop: Loop | None
    items: Expr
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A lowered expression.

    `optional`: where Go has the empty value, the Jinja may be undefined or none. `rest`: a list that is another one
    from that loop's position on.
    """

    expr: Expr
    shape: Shape
    optional: bool = False
    position: Position | None = None
    rest: Position | None = None

    @property
    def const(self) -> str | int | bool | None:
        """The value where it is a constant, else None."""
        return self.expr.value if isinstance(self.expr, Const) else None


def shared(loop: Loop, hint: str, expr: Expr, uses: int = 2) -> Shared:
    """An expression of one iteration of `loop`, to be set as a variable from `uses` uses on."""
    return Shared(loop.names.get(hint, hint), expr, loop.id, uses)


def loop_attribute(loop: Loop, name: str) -> Shared:
    """`loop.first` and the like, also for use inside inner loops."""
    return shared(loop, {"index0": "index", "revindex": "left"}.get(name, name), Attribute(LOOP, name))


_FLIPPED: dict[CompareOp, CompareOp] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def compare_positions(left: Value, op: CompareOp, right: Value) -> Expr | None:
    """A comparison of numbers that depend on a loop's position, or None where it isn't one.

    "This is the last message" is false while no generation prompt is wanted: more messages are to come.
    """
    a, b = left.position, right.position
    if b is not None and a is None:
        return compare_positions(right, _FLIPPED[op], left)
    if a is None:
        return None
    if b is None:
        if not (isinstance(right.const, int) and not isinstance(right.const, bool)):
            return None
        bound = right.const - a.offset
        if a.kind == "left" and a.loop is not None:
            return elements_left(a.loop, op, bound)
        if a.kind == "index" and a.loop is not None:
            return _index(a.loop, op, bound)
        return None
    if a.items != b.items or {a.kind, b.kind} != {"index", "length"}:
        return None
    if a.kind == "length":
        return compare_positions(right, _FLIPPED[op], left)
    # i + x < n + y means n - i > x - y.
    return elements_left(a.loop, _FLIPPED[op], a.offset - b.offset) if a.loop is not None else None


def _index(loop: Loop, op: CompareOp, bound: int) -> Expr | None:
    first = loop_attribute(loop, "first")
    match op, bound:
        case ("==", 0) | ("<", 1) | ("<=", 0):
            return first
        case ("!=", 0) | (">", 0) | (">=", 1):
            return Not(first)
        case _:
            return None


def elements_left(loop: Loop, op: CompareOp, bound: int, *, always: bool = False) -> Expr:
    """A comparison of how many elements are left, this one counted.

    In a loop over the messages none is the last while no generation prompt is wanted; `always` asks for the list as it
    is.
    """
    match op:
        case "!=" | ">" | ">=":
            opposite: dict[CompareOp, CompareOp] = {"!=": "==", ">": "<=", ">=": "<"}
            return Not(elements_left(loop, opposite[op], bound, always=always))
        case "<":
            return elements_left(loop, "<=", bound - 1, always=always)
        case _:
            pass
    if bound < 1:
        return Const(False)
    last: Expr = Attribute(LOOP, "last") if bound == 1 else Compare(Attribute(LOOP, "revindex"), op, Const(bound))
    if bound == 1:
        hint = "at_end" if always else "last"
    else:
        # The loop's own name with the number: no variable and no other loop has that.
        word = loop.names["few_at_end" if always else "few_left"]
        hint = f"{word}_{bound}" if op == "<=" else f"{word}_is_{bound}"
    if loop.over_messages and not always:
        last = And((last, Name("add_generation_prompt")))
    return shared(loop, hint, last)
