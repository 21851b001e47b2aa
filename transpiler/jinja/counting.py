"""Loops that need their position count: `for i in range(count)` in the place of `loop.last` and its like.

In the sandbox of transformers an attribute of `loop` costs as much as all else of a message, a comparison of numbers
next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from transpiler.jinja.ast import (
    Arithmetic,
    Attribute,
    Body,
    Call,
    Compare,
    Const,
    Expr,
    Filter,
    For,
    Item,
    Name,
    Set,
    Stmt,
)
from transpiler.jinja.walk import bodies, expressions, map_parts, map_statement, statements, subexpressions

_LOOP = Name("loop")
_ONE = Const(1)

# What stands for an attribute of the loop, by the names of the index and of the number of elements.
_COUNTED: Mapping[str, Callable[[Name, Name], Expr]] = {
    "index0": lambda index, count: index,
    "index": lambda index, count: Arithmetic(index, "+", _ONE),
    "first": lambda index, count: Compare(index, "==", Const(0)),
    "last": lambda index, count: Compare(Arithmetic(index, "+", _ONE), "==", count),
    "revindex": lambda index, count: Arithmetic(count, "-", index),
}


def count_loops(body: Body, items: Name, fresh: Callable[[str], str]) -> Body:
    """A template, or a macro's body, with each loop over `items` that reads its position made into one that counts.

    `items` is a list that never changes; `fresh` makes a name that nothing else has.
    """
    loops = {
        id(stmt)
        for stmt in statements(body)
        if isinstance(stmt, For) and stmt.items == items and stmt.only is None and _reads_position(stmt.body)
    }
    if not loops:
        return body
    count = Name(fresh("count"))
    indexes: list[Name] = []  # by depth: only a loop within another one needs another name

    def counted(body: Body, depth: int) -> Body:
        out: list[Stmt] = []
        for stmt in body:
            deeper = depth + (id(stmt) in loops)
            inner = map_statement(stmt, lambda expr: expr, lambda body, at=deeper: counted(body, at))  # type: ignore[misc]
            if isinstance(inner, For) and id(stmt) in loops:
                if len(indexes) <= depth:
                    indexes.extend(Name(fresh("index")) for _ in range(depth + 1 - len(indexes)))
                inner = _counted(inner, items, count, indexes[depth])
            out.append(inner)
        return tuple(out)

    return (Set(count.name, Filter(items, "length")), *counted(body, 0))


def _reads_position(body: Body) -> bool:
    """Whether a loop's body reads attributes of `loop`; in a loop within it they would be that one's."""
    for stmt in body:
        own = (expr for expr in expressions(stmt))
        if any(isinstance(e, Attribute) and e.base == _LOOP for expr in own for e in subexpressions(expr)):
            return True
        if not isinstance(stmt, For) and any(map(_reads_position, bodies(stmt))):
            return True
    return False


def _counted(loop: For, items: Name, count: Name, index: Name) -> For:
    named = [s.name for s in loop.body if isinstance(s, Set) and s.expr == Attribute(_LOOP, "index0")]
    index = Name(named[0]) if named else index
    (target,) = loop.targets
    kept = tuple(stmt for stmt in loop.body if stmt != Set(index.name, Attribute(_LOOP, "index0")))
    body = (Set(target, Item(items, index)), *_replaced(kept, index, count))
    return replace(loop, targets=(index.name,), items=Call("range", (count,)), body=body)


def _replaced(body: Body, index: Name, count: Name) -> Body:
    def exchange(expr: Expr) -> Expr:
        if isinstance(expr, Attribute) and expr.base == _LOOP:
            return _COUNTED[expr.name](index, count)
        return map_parts(expr, exchange)

    return tuple(
        replace(stmt, items=exchange(stmt.items))
        if isinstance(stmt, For)
        else map_statement(stmt, exchange, lambda inner: _replaced(inner, index, count))
        for stmt in body
    )
