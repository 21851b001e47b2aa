"""The head of a loop: what it goes over, its variables, and the flags that stand for `continue` and `break`."""

from __future__ import annotations

from transpiler.gotmpl.ast import Node, Pipeline, Range
from transpiler.jinja import ast as jinja
from transpiler.lowering.data import as_total
from transpiler.lowering.state import STATE, State
from transpiler.lowering.values import Loop, Position, Value, loop_attribute
from transpiler.ollama.datamodel import GO_TYPES, INT, LISTS, MAPS, STRING, only
from transpiler.ollama.functions import element_shape
from transpiler.passes.scopes import Binding

_ELEMENT_NAMES = {
    "messages": "message",
    "tools": "tool",
    "calls": "tool_call",
    "property_type": "type",
    "property_list": "option",
}
_SHARED_NAMES = (
    "content",
    "thinking",
    "tool_calls",
    "tool_name",
    "parameters",
    "last",
    "at_end",
    "few_left",
    "few_at_end",
    "first",
    "index",
    "left",
    "skip",
)


def items_of(state: State, value: Value, names: set[str], node: Node) -> jinja.Expr | None:
    """What the Jinja loop goes over."""
    if names <= MAPS:
        return jinja.Filter(as_total(state, value), "dictsort")
    if names == {"property_type"}:
        types = as_total(state, value)
        return jinja.Conditional(jinja.Test(value.expr, "string"), jinja.ListLiteral((value.expr,)), types)
    if names <= LISTS:
        return as_total(state, value)
    if names == {"int"}:
        return jinja.Call("range", (value.expr,))
    if names == {"any"} or len(names) > 1:
        state.cannot("GT306", node, "a range over a value out of JSON", "range over a list or map of known type")
        return None
    name = only(value.shape) or ""
    go_type = GO_TYPES.get(name, name)
    return state.fail(
        "GT204", node, f"`range` can't go over {name.replace('_', ' ')}", f"range can't iterate over {go_type}"
    ).expr


def new_loop(state: State, stmt: Range, names: set[str]) -> Loop:
    """A loop, with names for what its body shares that no loop around it has."""
    state.loop_count += 1
    taken = {name for loop in state.loops for name in loop.names.values()}
    shared = {hint: state.names.beside(hint, taken) for hint in _SHARED_NAMES}
    return Loop(state.loop_count, stmt.span, names == {"messages"}, shared)


def targets_of(
    state: State, pipe: Pipeline, loop: Loop, value: Value, names: set[str]
) -> tuple[tuple[str, ...], Value, list[jinja.Stmt]]:
    """The Jinja loop's variables, the value of dot, and statements for loop variables that are written to."""
    taken = {name for outer in state.loops for name in outer.names.values()}
    bindings = [state.scopes.of.get(decl.span) if decl.name != "$_" else None for decl in pipe.decls]
    element_binding = bindings[-1] if bindings else None
    key_binding = bindings[0] if len(bindings) == 2 else None
    (kind,) = names if len(names) == 1 else ("item",)
    hint = _ELEMENT_NAMES.get(kind, "item")
    if element_binding is not None and not element_binding.writes and not pipe.assign:
        target = state.names.of(element_binding)
    else:
        # Dot stays the element when the variable is given another value.
        target = state.names.beside(hint, taken)
    loop.names["element"] = target
    element = Value(jinja.Name(target), element_shape(value.shape))
    if names <= MAPS:
        key = state.names.of(key_binding) if key_binding is not None else state.names.beside("key", taken)
        loop.names["key"] = key
        first = _bind(state, key_binding, Value(jinja.Name(key), STRING), pipe)
        return (key, target), element, first + _bind(state, element_binding, element, pipe)
    first = []
    if key_binding is not None:
        loop.names["index"] = state.names.of(key_binding)
        index = loop_attribute(loop, "index0")
        position = Position("index", loop, as_total(state, value))
        first = _bind(state, key_binding, Value(index, INT, position=position), pipe)
    return (target,), element, first + _bind(state, element_binding, element, pipe)


def _bind(state: State, binding: Binding | None, value: Value, pipe: Pipeline) -> list[jinja.Stmt]:
    if binding is None:
        return []
    if pipe.assign or binding.writes:
        if not pipe.assign and binding.crosses_loops:
            state.in_namespace.add(binding)
        return [state.write(binding, value.expr)]
    state.bound[binding] = value
    return []


def with_jumps(loop: Loop, body: jinja.Body) -> tuple[jinja.Body, list[jinja.Stmt]]:
    """The loop's body with the flags that stand for `continue` and `break`."""
    if loop.guarded:
        body = (jinja.Set(loop.names["skip"], jinja.FALSE), *body)
    if "stop" not in loop.names:
        return body, []
    stop = jinja.Attribute(jinja.Name(STATE), loop.names["stop"])
    body = (jinja.If(((jinja.Not(stop), body),)),)
    return body, [jinja.SetAttribute(STATE, loop.names["stop"], jinja.FALSE)]
