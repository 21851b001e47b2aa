"""Where a loop's body needs one expression of its iteration more than once, it gets a variable.

`Shared` nodes mark such expressions. The variable is set as late as it can be: right before the first statement that
needs it, in the innermost body that holds all uses, but never inside an inner loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from transpiler.jinja.ast import Body, Expr, For, Name, Set, Shared, Stmt
from transpiler.jinja.walk import bodies, expressions, map_parts, map_statement, subexpressions

# A place: the way from the root to a statement, as (number of the body, number of the statement) steps.
_Path = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Uses:
    paths: list[_Path] = field(default_factory=list)
    inner: bool = False


def share(body: Body) -> Body:
    """The template with every `Shared` replaced, by a variable or by its expression."""
    uses: dict[Shared, _Uses] = defaultdict(_Uses)
    depths: dict[int, int] = {0: 0}
    for path, loops, stmt in _walk(body, (), (0,)):
        if isinstance(stmt, For):
            depths[stmt.id] = len(path) + 1
        for shared in _shared_in(stmt):
            uses[shared].paths.append(path)
            uses[shared].inner |= loops[-1] != shared.loop
    settings: dict[_Path, list[Shared]] = defaultdict(list)
    for shared, found in uses.items():
        if len(found.paths) >= shared.uses or found.inner:
            settings[_first_place(found.paths, shared, body)].append(shared)
    for placed in settings.values():
        placed.sort(key=_nesting)
    variables = {shared for placed in settings.values() for shared in placed}
    return _rewrite(body, (), 0, settings, variables)


def _nesting(shared: Shared) -> int:
    """How many other shared expressions it is made of: those are set before it."""
    return sum(isinstance(inner, Shared) for inner in subexpressions(shared.expr))


def _shared_in(stmt: Stmt) -> Iterator[Shared]:
    for expr in expressions(stmt):
        for inner in subexpressions(expr):
            if isinstance(inner, Shared):
                yield inner


def _walk(
    body: Body, at: _Path, loops: tuple[int, ...], number: int = 0
) -> Iterator[tuple[_Path, tuple[int, ...], Stmt]]:
    for n, stmt in enumerate(body):
        path = (*at, (number, n))
        yield path, loops, stmt
        inside = (*loops, stmt.id) if isinstance(stmt, For) else loops
        for k, inner in enumerate(bodies(stmt)):
            yield from _walk(inner, path, inside, k)


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


def _rewrite(body: Body, at: _Path, number: int, settings: dict[_Path, list[Shared]], variables: set[Shared]) -> Body:
    def replace(expr: Expr) -> Expr:
        if isinstance(expr, Shared):
            return Name(expr.name) if expr in variables else replace(expr.expr)
        return map_parts(expr, replace)

    out: list[Stmt] = []
    for n, stmt in enumerate(body):
        path = (*at, (number, n))
        out.extend(Set(shared.name, replace(shared.expr)) for shared in settings.get(path, ()))
        inner = iter(range(len(bodies(stmt))))
        out.append(
            map_statement(stmt, replace, lambda b, p=path, k=inner: _rewrite(b, p, next(k), settings, variables))  # type: ignore[misc]
        )
    return tuple(out)
