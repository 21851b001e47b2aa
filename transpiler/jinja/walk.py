"""Going through a Jinja tree: what an expression or statement holds, and rebuilding it with parts exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, assert_never

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

_PARTS: Mapping[type, Callable[[Any], tuple[Expr, ...]]] = {
    Name: lambda e: (),
    Const: lambda e: (),
    Attribute: lambda e: (e.base,),
    Item: lambda e: (e.base, e.key),
    Slice: lambda e: (e.base, *(end for end in (e.start, e.stop) if end is not None)),
    Call: lambda e: e.args,
    MethodCall: lambda e: (e.base, *e.args),
    Filter: lambda e: (e.base, *e.args),
    Test: lambda e: (e.base,),
    Not: lambda e: (e.operand,),
    And: lambda e: e.operands,
    Or: lambda e: e.operands,
    Concat: lambda e: e.parts,
    ListLiteral: lambda e: e.items,
    Compare: lambda e: (e.left, e.right),
    Arithmetic: lambda e: (e.left, e.right),
    Conditional: lambda e: (e.test, e.then, e.other),
    DictLiteral: lambda e: tuple(value for _, value in e.items),
    Shared: lambda e: (e.expr,),
}


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that stand directly inside `expr`."""
    return _PARTS[type(expr)](expr)


def map_parts(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `f` applied to each part of it; the same object where that changes nothing."""
    before = parts(expr)
    if not before:
        return expr
    after = tuple([f(p) for p in before])
    if after == before:
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
        case Output(expr) | Set(_, expr) | SetAttribute(_, _, expr):
            new = f(expr)
            return stmt if new is expr else replace(stmt, expr=new)
        case If(branches, orelse):
            return If(tuple([(f(test), g(body)) for test, body in branches]), g(orelse) if orelse else ())
        case For(_, items, body, only):
            return For(stmt.targets, f(items), g(body), f(only) if only is not None else None, stmt.id)
        case SetBlock(_, body) | Macro(_, _, body):
            return replace(stmt, body=g(body))
        case Comment() | Blank() | Verbatim():
            return stmt
        case _:
            assert_never(stmt)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything inside it."""
    todo = [expr]
    while todo:
        inner = todo.pop()
        yield inner
        todo += parts(inner)


def statements(body: Body) -> Iterator[Stmt]:
    """All statements of a body, inner ones after the one they stand in."""
    todo = list(reversed(body))
    while todo:
        stmt = todo.pop()
        yield stmt
        for inner in reversed(bodies(stmt)):
            todo += reversed(inner)


@dataclass(frozen=True, slots=True)
class Uses:
    """What a template reads: variables, attributes of namespaces, keys of mappings, and what it calls."""

    names: frozenset[str]
    attributes: frozenset[tuple[str, str]]
    keys: frozenset[str | int | bool | None]
    calls: frozenset[str]


def uses_of(body: Body) -> Uses:
    """What the expressions of a template read and call."""
    names: set[str] = set()
    attributes: set[tuple[str, str]] = set()
    keys: set[str | int | bool | None] = set()
    calls: set[str] = set()
    todo = [expr for stmt in statements(body) for expr in expressions(stmt)]
    while todo:
        expr = todo.pop()
        if isinstance(expr, Const):
            continue
        if isinstance(expr, Name):
            names.add(expr.name)
            continue
        if isinstance(expr, Item) and isinstance(expr.key, Const):
            keys.add(expr.key.value)
        elif isinstance(expr, Attribute):
            attributes.add((expr.base.name, expr.name))
            continue
        elif isinstance(expr, Call):
            calls.add(expr.name)
        todo += parts(expr)
    return Uses(frozenset(names), frozenset(attributes), frozenset(keys), frozenset(calls))
