"""Rewrites that leave the rendered text as it is and make the template shorter: what a person would not have written.

Constants are folded, branches that can't run and variables that nobody reads are dropped, an `if` that is alone in an
`else` becomes an `elif`, and neighbouring pieces of text become one.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, gt, le, lt

from transpiler.jinja.ast import (
    EMPTY,
    FALSE,
    TRUE,
    And,
    Body,
    Call,
    Comment,
    Compare,
    CompareOp,
    Concat,
    Conditional,
    Const,
    DictLiteral,
    Expr,
    Filter,
    For,
    If,
    Item,
    ListLiteral,
    Macro,
    MethodCall,
    Name,
    Not,
    Or,
    Output,
    Set,
    SetAttribute,
    SetBlock,
    Slice,
    Stmt,
    Test,
)
from transpiler.jinja.walk import Uses, map_parts, map_statement, statements, subexpressions, uses_of

_OPPOSITE: dict[CompareOp, CompareOp] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "in": "not in",
    "not in": "in",
}

_ORDER: dict[CompareOp, Callable[[int, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def simplify(body: Body) -> Body:
    """The same template, shorter; nothing outside of it reads what it sets."""
    return simplify_body(drop_unread(body))


def negate(expr: Expr) -> Expr:
    """The condition that holds where `expr` doesn't."""
    match expr:
        case Not(operand):
            return operand
        case Const(value):
            return Const(not value)
        case Compare(left, op, right):
            return Compare(left, _OPPOSITE[op], right)
        case Test(base, name, negated):
            return Test(base, name, not negated)
        case _:
            return Not(expr)


def is_pure(expr: Expr) -> bool:
    """Whether nothing is lost when the expression isn't evaluated (it can't refuse the chat)."""
    return not any(isinstance(e, Call) and e.name == "raise_exception" for e in subexpressions(expr))


# -- expressions ------------------------------------------------------------------------------------------------------


def _condition(expr: Expr) -> Expr:
    """An expression of which only the truth counts."""
    match expr:
        case And(operands):
            return _and(tuple(_condition(o) for o in operands))
        case Or(operands):
            return _or(tuple(_condition(o) for o in operands), truth=True)
        case Not(operand):
            return negate(_condition(operand))
        case Conditional(test, then, other):
            test, then, other = _condition(test), _condition(then), _condition(other)
            if isinstance(test, Const):
                return then if test.value else other
            if other == FALSE:
                return _and((test, then))
            if then == TRUE:
                return _or((test, other), truth=True)
            if then == FALSE:
                return _and((negate(test), other))
            return Conditional(test, then, other)
        case Const(value):
            return Const(bool(value))
        case ListLiteral(()) | DictLiteral(()):
            return FALSE
        case _:
            return _value(expr)


def _value(expr: Expr) -> Expr:
    match expr:
        case Const() | Name():
            return expr
        case Item() | Call() | Filter() | Test():
            return map_parts(expr, _value)
        case And() | Not():
            return _condition(expr)
        case Or(operands):
            return _or(tuple(_value(o) for o in operands), truth=False)
        case Conditional(test, then, other):
            test, then, other = _condition(test), _value(then), _value(other)
            if isinstance(test, Const):
                return then if test.value else other
            if then == other and is_pure(test):
                return then
            if then == test and is_pure(test):
                return _or((then, other), truth=False)
            if then == TRUE and other == FALSE and _is_boolean(test):
                return test
            return Conditional(test, then, other)
        case Compare(Const(left), "==" | "!=" as op, Const(right)) if type(left) is type(right):
            return Const((left == right) == (op == "=="))
        case Compare(Const(left), "==" | "!=" as op, Const(right)) if (left is None) != (right is None):
            return Const(op == "!=")
        case Compare(Const(int(left)), "<" | "<=" | ">" | ">=" as op, Const(int(right))):
            return Const(_ORDER[op](left, right))
        case Compare(Const(str(text)), "in" | "not in" as op, ListLiteral(items)) if all(
            isinstance(item, Const) for item in items
        ):
            return Const((Const(text) in items) == (op == "in"))
        case Slice(Const(str(text)), None | Const(), None | Const()) if text.isascii():
            start, stop = (end.value if isinstance(end, Const) else None for end in (expr.start, expr.stop))
            return Const(text[start:stop]) if isinstance(start, int | None) and isinstance(stop, int | None) else expr
        case Concat(operands):
            return _concat(tuple(_value(o) for o in operands))
        case Slice():
            inner = map_parts(expr, _value)
            return inner if inner == expr else _value(inner)
        case _:
            return map_parts(expr, _value)


def _and(operands: tuple[Expr, ...]) -> Expr:
    kept: list[Expr] = []
    for operand in operands:
        for part in operand.operands if isinstance(operand, And) else (operand,):
            if isinstance(part, Const) and part.value:
                continue
            if part not in kept:
                kept.append(part)
            if isinstance(part, Const):
                # Nothing behind a false operand is evaluated; what stands before it matters only if it can raise.
                return FALSE if all(map(is_pure, kept)) else And(tuple(kept))
    kept = _prefix_tests(kept)
    return TRUE if not kept else kept[0] if len(kept) == 1 else And(tuple(kept))


def _prefix_tests(operands: list[Expr]) -> list[Expr]:
    """`s|length >= 3 and s[:3] == 'abc'` as `s.startswith('abc')`: a text that begins so is as long."""
    out: list[Expr] = []
    for operand in operands:
        match operand:
            case Compare(Slice(text, None, Const(int(n))), "==", Const(str(start))) if len(start) == n:
                starts = MethodCall(text, "startswith", (Const(start),))
                out = [o for o in out if not _is_length_test(o, text, n)]
                out.append(starts)
            case _:
                out.append(operand)
    return out


def _is_length_test(operand: Expr, text: Expr, most: int) -> bool:
    match operand:
        case Compare(Filter(base, "length"), ">=", Const(int(n))):
            return base == text and n <= most
        case _:
            return False


def _or(operands: tuple[Expr, ...], *, truth: bool) -> Expr:
    """`a or b`; with `truth` only its truth counts, else it is the first operand that is true, or the last one."""
    flat = [part for operand in operands for part in (operand.operands if isinstance(operand, Or) else (operand,))]
    kept: list[Expr] = []
    for n, part in enumerate(flat):
        is_last = n == len(flat) - 1
        if isinstance(part, Const) and not part.value and not is_last:
            continue
        # As a value the last operand is what is left where none is true, even if it was asked before.
        if part not in kept or (is_last and not truth and part != kept[-1]):
            kept.append(part)
        if isinstance(part, Const) and part.value:
            if truth and all(map(is_pure, kept)):
                return TRUE
            break
    positive = [negate(operand) for operand in kept]
    if any(isinstance(p, Compare) and isinstance(p.left, Slice) for p in positive):
        kept = [negate(operand) for operand in _prefix_tests(positive)]
    if len(kept) > 1 and kept[-1] == FALSE and all(_is_boolean(k) for k in kept):
        kept.pop()
    return FALSE if not kept else kept[0] if len(kept) == 1 else Or(tuple(kept))


def _concat(operands: tuple[Expr, ...]) -> Expr:
    kept: list[Expr] = []
    for operand in operands:
        for part in operand.parts if isinstance(operand, Concat) else (operand,):
            last = kept[-1] if kept else None
            if part == EMPTY and kept:
                continue
            if isinstance(part, Const) and isinstance(last, Const):
                kept[-1] = Const(str(last.value) + str(part.value))
            else:
                kept.append(part)
    if len(kept) > 2 and kept[0] == EMPTY:
        kept = kept[1:]
    return kept[0] if len(kept) == 1 else Concat(tuple(kept))


def _is_boolean(expr: Expr) -> bool:
    match expr:
        case Compare() | Test() | Not():
            return True
        case Const(value):
            return isinstance(value, bool)
        case And(operands) | Or(operands):
            return all(_is_boolean(o) for o in operands)
        case _:
            return False


# -- statements -------------------------------------------------------------------------------------------------------


def simplify_body(body: Body) -> Body:
    """A part of a template, shorter; what it sets may be read elsewhere."""
    out: list[Stmt] = []
    for stmt in body:
        for simple in _statement(stmt):
            last = out[-1] if out else None
            if (
                isinstance(simple, Output)
                and isinstance(last, Output)
                and isinstance(simple.expr, Const)
                and isinstance(last.expr, Const)
            ):
                out[-1] = Output(Const(str(last.expr.value) + str(simple.expr.value)))
            elif isinstance(simple, If) and isinstance(last, If) and _same_question(last, simple):
                ((test, first),), ((_, second),) = last.branches, simple.branches
                out[-1] = If(((test, simplify_body((*first, *second))),))
            else:
                out.append(simple)
    return tuple(out)


def _same_question(first: If, second: If) -> bool:
    """Whether two neighbours ask for one variable that the first leaves as it is."""
    if first.orelse or second.orelse or len(first.branches) != 1 or len(second.branches) != 1:
        return False
    (test, body), (other, _) = first.branches[0], second.branches[0]
    if not (isinstance(test, Name) and test == other):
        return False
    return not any(isinstance(stmt, Set | SetBlock) and stmt.name == test.name for stmt in statements(body))


def _statement(stmt: Stmt) -> Body:
    match stmt:
        case If():
            return _if(stmt)
        case Output(Const(value)):
            return () if value == "" else (stmt,)
        case Output(expr):
            expr = _value(expr)
            if isinstance(expr, Concat):
                return tuple(Output(part) for part in expr.parts if part != EMPTY)
            return () if expr == EMPTY else (stmt if expr is stmt.expr else Output(expr),)
        case For(_, items, _, only):
            simple = map_statement(stmt, _value, simplify_body)
            empty = isinstance(simple, For) and not _does_something(simple.body)
            return () if empty and is_pure(items) and (only is None or is_pure(only)) else (simple,)
        case _:
            return (map_statement(stmt, _value, simplify_body),)


def _does_something(body: Body) -> bool:
    return any(not isinstance(stmt, Comment) for stmt in body)


def _if(stmt: If) -> Body:
    branches: list[tuple[Expr, Body]] = []
    orelse = simplify_body(stmt.orelse)
    for test, inner in stmt.branches:
        test = _condition(test)
        if isinstance(test, Const):
            if not test.value:
                continue
            orelse = simplify_body(inner)
            break
        branches.append((test, simplify_body(inner)))
    if len(orelse) == 1 and isinstance(orelse[0], If):
        branches.extend(orelse[0].branches)
        orelse = orelse[0].orelse
    orelse = orelse if _does_something(orelse) else ()
    while branches and not orelse and not _does_something(branches[-1][1]) and is_pure(branches[-1][0]):
        branches.pop()
    if not branches:
        return orelse
    if len(branches) == 1:
        (test, inner), nested = branches[0], branches[0][1]
        if not _does_something(inner) and orelse:
            return _if(If(((negate(test), orelse),)))
        if not orelse and len(nested) == 1 and isinstance(nested[0], If):
            only = nested[0]
            if len(only.branches) == 1 and not only.orelse:
                return (If(((_and((test, only.branches[0][0])), only.branches[0][1]),)),)
    return (If(tuple(branches), orelse),)


# -- variables --------------------------------------------------------------------------------------------------------


def drop_unread(body: Body) -> Body:
    """The template without the variables, namespace attributes and macros that nothing reads."""
    while True:
        uses = uses_of(body)

        def unread(stmt: Stmt, uses: Uses = uses) -> bool:
            match stmt:
                case Set(name, expr):
                    return name not in uses.names and is_pure(expr)
                case SetAttribute(base, name, expr):
                    return (base, name) not in uses.attributes and is_pure(expr)
                case SetBlock(name):
                    return name not in uses.names
                case Macro(name):
                    return name not in uses.calls
                case _:
                    return False

        if not any(map(unread, statements(body))):
            return body
        body = _without(body, unread)


def _without(body: Body, unwanted: Callable[[Stmt], bool]) -> Body:
    return tuple(
        map_statement(stmt, lambda e: e, lambda b: _without(b, unwanted)) for stmt in body if not unwanted(stmt)
    )
