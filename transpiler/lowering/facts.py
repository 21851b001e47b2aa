"""What is known to hold at a place of the template, from the conditions around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from transpiler.jinja.ast import And, Attribute, Compare, Const, Expr, Filter, Name, Not, Or, Shared, Slice
from transpiler.jinja.simplify import negate
from transpiler.jinja.walk import subexpressions


@dataclass(frozen=True, slots=True)
class Facts:
    """Expressions that are true, or equal to a text, wherever the code being lowered runs."""

    true: frozenset[Expr] = frozenset()
    equal: tuple[tuple[Expr, str], ...] = ()

    def text_of(self, expr: Expr) -> str | None:
        """The text that an expression is known to be."""
        return next((text for known, text in reversed(self.equal) if known == expr), None)

    def holds(self, expr: Expr) -> bool:
        """Whether an expression is known to be true."""
        text = self.text_of(expr)
        return expr in self.true or bool(text)

    def least_length(self, text: Expr) -> int:
        """How many characters a text is known to have at least."""
        known = [0]
        for fact in self.true:
            match fact:
                case Compare(Filter(base, "length"), ">=" | "==", Const(int(n))) if base == text:
                    known.append(n)
                case Compare(Filter(base, "length"), ">", Const(int(n))) if base == text:
                    known.append(n + 1)
                case _:
                    pass
        return max(known)

    def ascii_prefix(self, text: Expr) -> int:
        """How many characters at a text's beginning are known to be ASCII, so that they are as many bytes."""
        known = [0]
        for fact in self.true:
            match fact:
                case Compare(Slice(base, None, Const()), "==", Const(str(start))) if base == text and start.isascii():
                    known.append(len(start))
                case _:
                    pass
        return max(known)

    def assuming(self, condition: Expr, *, truth: bool, stable: frozenset[str]) -> Facts:
        """What holds where `condition` was found true (or false), for names that never change."""
        true, equal = set(self.true), list(self.equal)
        for fact in _parts(condition if truth else negate(condition)):
            if not _is_stable(fact, stable):
                continue
            true.add(fact)
            match fact:
                case Compare(left, "==", Const(str(text))):
                    equal.append((left, text))
                case Compare(left, ">", Const(0)) if isinstance(left, Filter) and left.name == "length":
                    true.add(left.base)
                case _:
                    pass
        return Facts(frozenset(true), tuple(equal))


def _parts(condition: Expr) -> Iterator[Expr]:
    match condition:
        case And(operands):
            for operand in operands:
                yield from _parts(operand)
        case Not(Or(operands)):
            for operand in operands:
                yield from _parts(negate(operand))
        case Shared(_, expr):
            yield condition
            yield from _parts(expr)
        case _:
            yield condition


def _is_stable(expr: Expr, stable: frozenset[str]) -> bool:
    for inner in subexpressions(expr):
        match inner:
            case Attribute(Name("loop")):
                pass
            case Attribute():
                return False
            case Name(name):
                if name != "loop" and name not in stable:
                    return False
            case _:
                pass
    return True
