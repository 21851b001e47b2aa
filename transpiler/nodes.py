"""`node`: the decorator of the trees' nodes, which are made by the thousand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """A dataclass with slots, equality and a hash, whose attributes nobody sets again.

    The type checker sees to that: checked at run time too, as by `dataclass(frozen=True)`, making a node takes several
    times as long. Methods that need no code of their own are not generated, which takes most of the time that making a
    class takes, and so of the time that the command takes to start.
    """
    made: Any = dataclass(slots=True, eq=False, repr=False)(cls)
    compared = [f.name for f in fields(made) if f.compare]
    shown = [f.name for f in fields(made) if f.repr]
    value: Callable[[object], object] = attrgetter(*compared) if compared else type

    def equal(self: object, other: object) -> bool:
        return self is other or (type(self) is type(other) and value(self) == value(other))

    def hashed(self: object) -> int:
        return hash(value(self))

    def written(self: object) -> str:
        return f"{made.__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    made.__eq__, made.__hash__, made.__repr__ = equal, hashed, written
    return made  # type: ignore[no-any-return]
