"""The functions that a template may call: Go's own and the four that Ollama adds, with their arities and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from transpiler.ollama.datamodel import (
    BOOL,
    INT,
    JSON,
    METHODS,
    MISSING,
    NOTHING,
    STRING,
    Kind,
    Mode,
    Shape,
    fields_of,
    shape,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """How many arguments a function takes (`most` None: any number), and its result where that is always the same."""

    least: int
    most: int | None
    result: Shape | None = None


SIGNATURES: Mapping[str, Signature] = {
    "and": Signature(1, None),
    "or": Signature(1, None),
    "not": Signature(1, 1, BOOL),
    "eq": Signature(1, None, BOOL),
    "ne": Signature(2, 2, BOOL),
    "lt": Signature(2, 2, BOOL),
    "le": Signature(2, 2, BOOL),
    "gt": Signature(2, 2, BOOL),
    "ge": Signature(2, 2, BOOL),
    "len": Signature(1, 1, INT),
    "index": Signature(1, None),
    "slice": Signature(1, None),
    "print": Signature(0, None, STRING),
    "printf": Signature(1, None, STRING),
    "println": Signature(0, None, STRING),
    "html": Signature(0, None, STRING),
    "js": Signature(0, None, STRING),
    "urlquery": Signature(0, None, STRING),
    "call": Signature(1, None, JSON),
    "json": Signature(1, 1, STRING),
    "currentDate": Signature(0, None, STRING),
    "yesterdayDate": Signature(0, None, STRING),
    "toTypeScriptType": Signature(1, 1, STRING),
}

FUNCTIONS: frozenset[str] = frozenset(SIGNATURES)


def result_shape(name: str, args: Sequence[Shape]) -> Shape:
    """What a call gives, from what it is given."""
    fixed = SIGNATURES[name].result if name in SIGNATURES else JSON
    if fixed is not None:
        return fixed
    match name:
        case "and" | "or":
            return frozenset[Kind]().union(*args)
        case "index":
            value = args[0] if args else NOTHING
            for _ in args[1:]:
                value = element_shape(value)
            return value
        case _:
            return args[0] if args else NOTHING


def element_shape(value: Shape) -> Shape:
    """The shape of an element of a list or a map, of whatever in `value` has elements."""
    found: frozenset[Kind] = frozenset()
    for kind in value:
        if kind.elem is not None:
            found |= kind.elem
        elif kind.name == "any":
            found |= JSON
        elif kind.name in ("string", "int"):
            found |= INT  # a byte of a string; `range 3` counts
    return found


@lru_cache(maxsize=1024)
def field_shape(value: Shape, name: str, mode: Mode) -> Shape:
    """The shape of `.name` of a value; empty where no kind in it has that field."""
    found: frozenset[Kind] = frozenset()
    for kind in value:
        if kind.name == "any":
            found |= JSON
            continue
        fields = fields_of(kind, mode)
        method = METHODS.get(kind.name, {}).get(name)
        if method is not None:
            found |= method
        elif fields is not None and name in fields:
            found |= fields[name]
        elif kind.name in ("root", "missing", "nil"):
            found |= MISSING
        elif kind.name == "arguments" or kind.name == "properties":
            found |= element_shape(shape(kind))
    return found


def key_shape(value: Shape) -> Shape:
    """The shape of the first of two range variables: an index, or a map's key."""
    return shape(*(k for kind in value for k in (STRING if kind.name in ("arguments", "properties") else INT)))
