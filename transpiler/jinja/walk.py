"""Going through a Jinja tree: what an expression or statement holds, and rebuilding it with parts exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from transpiler.jinja.ast import (
    And,
    Arithmetic,
    Attribute,
    Blank,
    Body,
    Call,
    Comment,
    Compare,
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
    Shared,
    Slice,
    Stmt,
    Test,
    Verbatim,
)


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that stand directly inside `expr`."""
    match expr:
        case Name() | Const():
            return ()
        case Attribute(base):
            return (base,)
        case Item(base, key):
            return base, key
        case Slice(base, start, stop):
            return (base, *(e for e in (start, stop) if e is not None))
        case Call(_, args):
            return args
        case MethodCall(base, _, args) | Filter(base, _, args):
            return base, *args
        case Test(base):
            return (base,)
        case Not(operand):
            return (operand,)
        case And(operands) | Or(operands) | Concat(operands) | ListLiteral(operands):
            return operands
        case Compare(left, _, right) | Arithmetic(left, _, right):
            return left, right
        case Conditional(test, then, other):
            return test, then, other
        case DictLiteral(items):
            return tuple(value for _, value in items)
        case Shared(_, inner):
            return (inner,)
        case _:
            assert_never(expr)


def map_parts(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `f` applied to each part of it; the same object where nothing changed."""
    before = parts(expr)
    if not before:
        return expr
    after = tuple(f(p) for p in before)
    if all(a is b for a, b in zip(after, before, strict=True)):
        return expr
    match expr:
        case Attribute(_, name):
            base = after[0]
            return Attribute(base, name) if isinstance(base, Name) else expr
        case Item():
            return Item(*after)
        case Slice(_, start, stop):
            rest = iter(after[1:])
            return Slice(after[0], next(rest) if start is not None else None, next(rest) if stop is not None else None)
        case Call(name):
            return Call(name, after)
        case MethodCall() | Filter():
            return replace(expr, base=after[0], args=after[1:])
        case Test():
            return replace(expr, base=after[0])
        case Not():
            return Not(after[0])
        case And() | Or():
            return replace(expr, operands=after)
        case Concat():
            return Concat(after)
        case ListLiteral():
            return ListLiteral(after)
        case Compare() | Arithmetic():
            return replace(expr, left=after[0], right=after[1])
        case Conditional():
            return Conditional(*after)
        case DictLiteral(items):
            return DictLiteral(tuple((key, value) for (key, _), value in zip(items, after, strict=True)))
        case Shared():
            return replace(expr, expr=after[0])
        case Name() | Const():
            return expr
        case _:
            assert_never(expr)


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not of the statements inside it."""
    match stmt:
        case Output(expr) | Set(_, expr) | SetAttribute(_, _, expr):
            return (expr,)
        case If(branches):
            return tuple(test for test, _ in branches)
        case For(_, items, _, only):
            return (items,) if only is None else (items, only)
        case SetBlock() | Macro() | Comment() | Blank() | Verbatim():
            return ()
        case _:
            assert_never(stmt)


def bodies(stmt: Stmt) -> tuple[Body, ...]:
    """The bodies of a statement."""
    match stmt:
        case If(branches, orelse):
            return (*(body for _, body in branches), orelse)
        case For(_, _, body) | SetBlock(_, body) | Macro(_, _, body):
            return (body,)
        case Output() | Set() | SetAttribute() | Comment() | Blank() | Verbatim():
            return ()
        case _:
            assert_never(stmt)


def map_statement(stmt: Stmt, f: Callable[[Expr], Expr], g: Callable[[Body], Body]) -> Stmt:
    """`stmt` with `f` applied to its expressions and `g` to its bodies."""
    match stmt:
        case Output(expr):
            return Output(f(expr))
        case Set(name, expr):
            return Set(name, f(expr))
        case SetAttribute(base, name, expr):
            return SetAttribute(base, name, f(expr))
        case If(branches, orelse):
            return If(tuple((f(test), g(body)) for test, body in branches), g(orelse))
        case For(_, items, body, only):
            return replace(stmt, items=f(items), body=g(body), only=f(only) if only is not None else None)
        case SetBlock(name, body):
            return SetBlock(name, g(body))
        case Macro(name, params, body):
            return Macro(name, params, g(body))
        case Comment() | Blank() | Verbatim():
            return stmt
        case _:
            assert_never(stmt)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything inside it."""
    yield expr
    for part in parts(expr):
        yield from subexpressions(part)


def statements(body: Body) -> Iterator[Stmt]:
    """All statements of a body, inner ones after the one they stand in."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from statements(inner)


def all_expressions(body: Body) -> Iterator[Expr]:
    """All expressions of a body and everything inside them."""
    for stmt in statements(body):
        for expr in expressions(stmt):
            yield from subexpressions(expr)
