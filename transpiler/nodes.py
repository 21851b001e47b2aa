"""`node`: the decorator of the trees' nodes, which are made by the thousand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """A dataclass with slots, equality and a hash, whose attributes nobody sets again.

    The type checker sees to that: checked at run time too, as by `dataclass(frozen=True)`, making a node takes several
    times as long, and so does making the class.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
