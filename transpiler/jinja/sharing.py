"""Where a loop's body needs one expression of its iteration more than once, it gets a variable.

`Shared` nodes mark such expressions. The variable is set as late as it can be: right before the first statement that
needs it, in the innermost body that holds all uses, but never inside an inner loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from transpiler.jinja import ast as jinja
from transpiler.jinja.ast import Body, Expr, For, Name, Shared, Stmt
from transpiler.jinja.walk import bodies, expressions, map_parts, map_statement, subexpressions

# A place: the way from the root to a statement, as (number of the body, number of the statement) steps.
_Path = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Uses:
    paths: list[_Path] = field(default_factory=list)
    inner: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which variables are set before which statement, and the ways that lead to a use: all else stays as it is."""

    settings: Mapping[_Path, Sequence[Shared]]
    variables: Set[Shared]
    ways: Set[_Path]


def share(body: Body) -> Body:
    """The template with every `Shared` replaced, by a variable or by its expression."""
    uses: dict[Shared, _Uses] = defaultdict(_Uses)
    for path, loop, shared in _found(body, (), 0):
        uses[shared].paths.append(path)
        uses[shared].inner |= loop != shared.loop
    if not uses:
        return body
    settings: dict[_Path, list[Shared]] = defaultdict(list)
    for shared, found in uses.items():
        if len(found.paths) >= shared.uses or found.inner:
            settings[_first_place(found.paths, shared, body)].append(shared)
    for placed in settings.values():
        placed.sort(key=_nesting)
    variables = {shared for placed in settings.values() for shared in placed}
    ways = {path[:n] for found in uses.values() for path in found.paths for n in range(1, len(path) + 1)}
    return _rewrite(body, (), 0, _Plan(settings, variables, ways))


def _nesting(shared: Shared) -> int:
    """How many other shared expressions it is made of: those are set before it."""
    return sum(isinstance(inner, Shared) for inner in subexpressions(shared.expr))


def _found(body: Body, at: _Path, loop: int, number: int = 0) -> list[tuple[_Path, int, Shared]]:
    """The uses of shared expressions: where, and in which loop."""
    found: list[tuple[_Path, int, Shared]] = []
    for n, stmt in enumerate(body):
        path = (*at, (number, n))
        for expr in expressions(stmt):
            found += ((path, loop, inner) for inner in subexpressions(expr) if isinstance(inner, Shared))
        inside = stmt.id if isinstance(stmt, For) else loop
        for k, inner_body in enumerate(bodies(stmt)):
            found += _found(inner_body, path, inside, k)
    return found


def _first_place(paths: list[_Path], shared: Shared, body: Body) -> _Path:
    """The statement before which the variable is set."""
    first = min(paths)
    shortest = min(len(p) for p in paths)
    depth = 0
    while depth < shortest - 1 and all(p[depth] == first[depth] for p in paths):
        depth += 1
    if any(p[depth][0] != first[depth][0] for p in paths):
        # The uses are in different bodies of one statement: the variable is set before that statement.
        depth -= 1
    place = first[: depth + 1]
    # Out of inner loops: the statement just inside the owner's body that leads to the place.
    statements = _statements_on(body, place)
    owner = (
        0
        if shared.loop == 0
        else next(n for n, s in enumerate(statements) if isinstance(s, For) and s.id == shared.loop) + 1
    )
    for n in range(owner, len(place) - 1):
        if isinstance(statements[n], For):
            return place[: n + 1]
    return place


def _statements_on(body: Body, path: _Path) -> list[Stmt]:
    found: list[Stmt] = []
    for n, (number, index) in enumerate(path):
        inner = body if n == 0 else bodies(found[-1])[number]
        found.append(inner[index])
    return found


def _rewrite(body: Body, at: _Path, number: int, plan: _Plan) -> Body:
    def replace(expr: Expr) -> Expr:
        if isinstance(expr, Shared):
            return Name(expr.name) if expr in plan.variables else replace(expr.expr)
        return map_parts(expr, replace)

    out: list[Stmt] = []
    for n, stmt in enumerate(body):
        path = (*at, (number, n))
        if path not in plan.ways:
            out.append(stmt)
            continue
        out.extend(jinja.Set(shared.name, replace(shared.expr)) for shared in plan.settings.get(path, ()))
        inner = iter(range(len(bodies(stmt))))
        out.append(map_statement(stmt, replace, lambda b, p=path, k=inner: _rewrite(b, p, next(k), plan)))  # type: ignore[misc]
    return tuple(out)
