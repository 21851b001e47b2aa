"""What all chat-template engines agree on: the tables that the rules look things up in."""

from __future__ import annotations

from jinja2 import nodes

STATEMENTS: frozenset[type[nodes.Node]] = frozenset(
    {nodes.Output, nodes.If, nodes.For, nodes.Assign, nodes.AssignBlock, nodes.Macro, nodes.FilterBlock}
)

LOOP_FIELDS = frozenset({"index", "index0", "first", "last", "length", "revindex", "previtem", "nextitem"})

# Filter: how many positional arguments, and the exact keyword arguments of each accepted form.
FILTERS: dict[str, frozenset[tuple[int, tuple[str, ...]]]] = {
    "default": frozenset({(1, ())}),
    "dictsort": frozenset({(0, ("case_sensitive",))}),
    "int": frozenset({(0, ())}),
    "items": frozenset({(0, ())}),
    "join": frozenset({(1, ())}),
    "last": frozenset({(0, ())}),
    "length": frozenset({(0, ())}),
    "list": frozenset({(0, ())}),
    "lower": frozenset({(0, ())}),
    "map": frozenset({(0, ("attribute",))}),
    "rejectattr": frozenset({(3, ())}),
    "selectattr": frozenset({(3, ())}),
    "string": frozenset({(0, ())}),
    "tojson": frozenset({(0, ())}),
    "trim": frozenset({(0, ())}),
    "upper": frozenset({(0, ())}),
}

TESTS = frozenset({"boolean", "defined", "integer", "iterable", "mapping", "none", "number", "string"})

# Method: the number of its arguments.
METHODS = {
    "endswith": 1,
    "lower": 0,
    "lstrip": 0,
    "replace": 2,
    "rstrip": 0,
    "split": 1,
    "startswith": 1,
    "strip": 0,
    "upper": 0,
}

# Function: how many arguments it may have.
FUNCTIONS = {"namespace": {0}, "raise_exception": {1}, "range": {1, 2, 3}, "strftime_now": {1}}

# Attributes that some engine takes for a method of its own: `x.items` is not `x['items']`. Python's of a mapping, and
# those that llama.cpp prefers to a key, in a namespace as well.
COLLIDING_ATTRIBUTES = frozenset(
    {"clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"}
    | {"dictsort", "join", "length", "string", "tojson"}
)

ESCAPES = frozenset("ntr\\\"'bf")
LARGEST_INTEGER = 2**53

MAX_BLOCKS = 90
MAX_LOOPS = 19
MAX_NESTING = 60
MAX_CONCATENATION = 500
MAX_ALTERNATIVES = 199
