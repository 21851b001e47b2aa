"""How values are printed: as Go's `fmt` does it, and as `json`, by the kind of the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from transpiler.gotmpl.ast import Node
from transpiler.jinja.ast import EMPTY, Call, Concat, Conditional, Const, Expr, Filter, Or, Test
from transpiler.lowering.data import as_operand, as_total
from transpiler.lowering.state import State
from transpiler.lowering.values import Value
from transpiler.ollama.datamodel import NOTHING, STRING, only


def pieces(state: State, value: Value, node: Node) -> list[Expr]:
    """What `{{ value }}` prints, as expressions to be printed one after another."""
    return _pieces(state, value, node, "<no value>")


def print_pieces(state: State, values: Sequence[tuple[Node, Value]], node: Node, absent: str = "<nil>") -> list[Expr]:
    """What `print` makes of its operands: a space stands between two of which neither is a text."""
    out: list[Expr] = []
    before: Value | None = None
    for at, value in values:
        if before is not None and STRING not in (before.shape, value.shape):
            if not (_never_text(before) and _never_text(value)):
                state.cannot("GT306", node, "whether `print` puts a space here depends on the types of its operands")
            out.append(Const(" "))
        printed = _pieces(state, value, at, absent)
        # A number is printed as it is, but `{{ len (print 12) }}` needs its text.
        out += printed if _text_already(value) else [Concat((EMPTY, piece)) for piece in printed]
        before = value
    return out


def _text_already(value: Value) -> bool:
    return "int" not in {kind.name for kind in value.shape}


def is_absent(value: Value) -> bool:
    """Whether it is nil or a name that isn't there."""
    return bool(value.shape) and {kind.name for kind in value.shape} <= {"missing", "nil"}


def joined(parts: Sequence[Expr]) -> Expr:
    """One text of several."""
    return EMPTY if not parts else parts[0] if len(parts) == 1 and _is_text(parts[0]) else Concat((EMPTY, *parts))


def _is_text(expr: Expr) -> bool:
    return not isinstance(expr, Const) or isinstance(expr.value, str)


def _never_text(value: Value) -> bool:
    return not any(kind.name in ("string", "any") for kind in value.shape)


def _pieces(state: State, value: Value, node: Node, absent: str) -> list[Expr]:
    if value.shape == NOTHING:
        return [value.expr]
    names = {kind.name for kind in value.shape}
    if names <= {"string", "int"}:
        return [as_total(state, value) if names != {"int"} or not value.optional else _zero(value)]
    if names <= {"missing", "nil"}:
        return [Const(absent)]
    if names == {"bool"}:
        return [Conditional(value.expr, Const("true"), Const("false"))]
    if names == {"float64"} and value.const is not None:
        return [Const(str(value.const))]
    name = only(value.shape) or ""
    if name in _PRINTED:
        return _PRINTED[name](state, value)
    if names <= {"any", "string", "int", "bool", "float64", "strings", "anys", "nil", "missing"}:
        text = Call("go_text", (value.expr,))
        if names & {"any", "nil", "missing"} and absent != "<nil>":
            return [Conditional(_is_nil(value), Const(absent), text)]
        return [text]
    return [state.cannot("GT301", node, f"what Go prints for {value_words(value)} has no form in Jinja").expr]


def _zero(value: Value) -> Expr:
    return Or((value.expr, Const(0)))


def _is_nil(value: Value) -> Expr:
    return Or((Test(value.expr, "defined", negated=True), Test(value.expr, "none")))


def value_words(value: Value) -> str:
    """The kinds of a value, for a message."""
    return " or ".join(sorted(kind.name.replace("_", " ") for kind in value.shape)) or "this"


def _macro(name: str) -> Callable[[State, Value], list[Expr]]:
    return lambda state, value: [Call(name, (value.expr,))]


def _in_brackets(state: State, value: Value) -> list[Expr]:
    return [Const("["), Filter(as_total(state, value), "join", (Const(" "),)), Const("]")]


def _json_text(state: State, value: Value) -> list[Expr]:
    name = only(value.shape) or ""
    if state.json_style == "native":
        return [_native(state, value)]
    macro = {"tools": "tools_json", "tool": "tool_json", "arguments": "arguments_json", "properties": "properties_json"}
    return [Call(macro[name], (value.expr,))]


def _native(state: State, value: Value) -> Expr:
    """By the engine's own `tojson`; arguments that come as JSON text stay as they are."""
    text = Filter(as_total(state, value), "tojson")
    return Conditional(Test(value.expr, "string"), value.expr, text) if only(value.shape) == "arguments" else text


_PRINTED: Mapping[str, Callable[[State, Value], list[Expr]]] = {
    "tools": _json_text,
    "tool": _json_text,
    "arguments": _json_text,
    "properties": _json_text,
    "property_type": _macro("type_text"),
    "function": _macro("function_dump"),
    "parameters": _macro("parameters_dump"),
    "call": _macro("call_dump"),
    "call_function": _macro("call_function_dump"),
    "property": _macro("property_dump"),
    "strings": _in_brackets,
    "anys": lambda state, value: [Call("go_text", (as_total(state, value),))],
}

_JSON: Mapping[str, str] = {
    "string": "json_string",
    "tools": "tools_json",
    "tool": "tool_json",
    "function": "function_json",
    "parameters": "parameters_json",
    "property": "schema_json",
    "calls": "calls_json",
    "call": "call_json",
    "call_function": "call_function_json",
    "any": "json",
    "bool": "json",
    "int": "json",
}


def json_of(state: State, value: Value, node: Node) -> Expr:
    """What `json value` gives."""
    if value.shape == NOTHING:
        return value.expr
    names = {kind.name for kind in value.shape}
    if names <= {"missing", "nil"}:
        return Const("null")
    if state.json_style == "native":
        return _native(state, value)
    name = only(value.shape) or ""
    if name == "string":
        return Call("json_string", (as_total(state, value),))
    if name in ("arguments", "properties"):
        there = state.facts.holds(value.expr)
        return Call(f"{name}_json" if there else f"{name}_or_null", (value.expr,))
    if name == "property_type":
        return Call("type_json", (value.expr,))
    if name in ("strings", "anys"):
        # On its way through Ollama's server an empty list of a schema is lost.
        return Call("json", (Or((value.expr, Const(None))),))
    if name in _JSON:
        return Call(_JSON[name], (as_operand(state, value) if name in ("bool", "int") else value.expr,))
    if names <= {"any", "string", "int", "bool", "strings", "anys", "nil", "missing"}:
        return Call("json", (value.expr,))
    return state.cannot("GT301", node, f"the JSON of {value_words(value)} has no form in Jinja").expr
