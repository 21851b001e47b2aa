"""How a chat template gets at the fields of Ollama's values: Go's names on the left, the chat's on the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transpiler.gotmpl.ast import Node
from transpiler.jinja.ast import (
    EMPTY,
    FALSE,
    TRUE,
    And,
    Attribute,
    Call,
    Compare,
    Conditional,
    Const,
    DictLiteral,
    Expr,
    Item,
    ListLiteral,
    Name,
    Not,
    Or,
    Shared,
    Test,
)
from transpiler.lowering.state import State, refuse
from transpiler.lowering.values import Loop, Value, shared
from transpiler.ollama.datamodel import (
    BOOL,
    GO_TYPES,
    MISSING,
    NOTHING,
    ROOT_FIELDS,
    STRING,
    STRUCTS,
    Kind,
    Mode,
    Shape,
    shape,
)
from transpiler.ollama.functions import field_shape


def field(state: State, base: Value, name: str, node: Node) -> Value:
    """`.name` of a value."""
    if base.shape == NOTHING:
        return base
    absent = [kind for kind in base.shape if kind.name in ("missing", "nil")]
    good = [kind for kind in base.shape if field_shape(shape(kind), name, state.mode) and kind not in absent]
    if not good and 0 < len(absent) < len(base.shape):
        # Of nothing a field is nothing; of a text there is none.
        there = next(kind for kind in base.shape if kind not in absent)
        stops = refuse(_go_words(name, GO_TYPES.get(there.name, there.name)))
        nothing = Or((Test(base.expr, "defined", negated=True), Test(base.expr, "none")))
        return Value(Conditional(nothing, Const(None), stops), MISSING)
    if not good:
        return _no_field(state, base.shape, name, node)
    result = field_shape(base.shape, name, state.mode)
    found = _field_of(state, base, good[0], name, result, node)
    if len(good) == len(base.shape):
        return found
    # A variable that may hold a text or a message: Go looks when it gets there.
    if len(good) + len(absent) == len(base.shape):
        return Value(Conditional(Test(base.expr, "mapping"), as_total(state, found), Const(None)), result)
    bad = next(kind for kind in base.shape if kind not in (*good, *absent))
    if any(kind.name in STRUCTS for kind in base.shape if kind not in good):
        return state.cannot("GT306", node, f"`.{name}` of a value that may be {_a(good[0])} or {_a(bad)}")
    message = f"can't evaluate field {name} in type {GO_TYPES.get(bad.name, bad.name)}"
    return Value(Conditional(Test(base.expr, "mapping"), as_total(state, found), refuse(message)), result)


def as_total(state: State, value: Value) -> Expr:
    """An expression that is never undefined or none: an absent text is the empty text, an absent list is empty."""
    text = state.facts.text_of(value.expr)
    if text is not None:
        return Const(text)
    if not value.optional or state.facts.holds(value.expr):
        return value.expr
    names = {kind.name for kind in value.shape}
    if names <= {"string", "property_type"}:
        return Or((value.expr, EMPTY))
    if names <= {"arguments", "properties"} or any(n in STRUCTS for n in names):
        return Or((value.expr, DictLiteral()))
    if names == {"bool"}:
        return Or((value.expr, Const(False)))
    if names == {"int"}:
        return Or((value.expr, Const(0)))
    if names & {"any", "int"}:
        return value.expr
    return Or((value.expr, ListLiteral()))


def as_operand(state: State, value: Value) -> Expr:
    """The total expression for a place that may also hold values of other types.

    Of a truth value elsewhere only the truth counts: `ne .Role ""` may be the role itself.
    """
    if value.shape != BOOL or _is_bool(state, value.expr):
        return as_total(state, value)
    return Conditional(value.expr, TRUE, FALSE)


def _is_bool(state: State, expr: Expr) -> bool:
    match expr:
        case Compare() | Test() | Attribute(Name("loop")):
            return True
        case Not(operand):
            return True if not isinstance(operand, Not) else _is_bool(state, operand)
        case Const(value):
            return isinstance(value, bool)
        case And(operands) | Or(operands):
            return all(_is_bool(state, operand) for operand in operands)
        case Shared(_, inner):
            return _is_bool(state, inner)
        case Name(name) | Attribute(_, name):
            return name in state.bool_names
        case _:
            return False


def _no_field(state: State, value: Shape, name: str, node: Node) -> Value:
    kind = next(iter(value))
    if kind.name in ("missing", "nil"):
        return state.fail(
            "GT202", node, f"`.{name}` of a value that is not there", f"nil pointer evaluating interface {{}}.{name}"
        )
    go_type = GO_TYPES.get(kind.name, kind.name)
    if kind.name in STRUCTS:
        known = ", ".join(STRUCTS[kind.name]) or "none"
        return state.fail(
            "GT202", node, f"{_a(kind)} has no field `{name}` (it has: {known})", _go_words(name, go_type)
        )
    return state.fail("GT202", node, f"{_a(kind)} has no fields, so there is no `.{name}`", _go_words(name, go_type))


def _go_words(name: str, go_type: str) -> str:
    return f"can't evaluate field {name} in type {go_type}"


def _a(kind: Kind) -> str:
    words = {
        "call": "a tool call",
        "call_function": "the function of a tool call",
        "tools": "the list of tools",
        "calls": "the list of tool calls",
        "messages": "the list of messages",
        "int": "a number",
        "string": "a text",
        "bool": "a truth value",
    }
    return words.get(kind.name, f"a {kind.name.replace('_', ' ')}")


def _field_of(state: State, base: Value, kind: Kind, name: str, result: Shape, node: Node) -> Value:
    match kind.name:
        case "root":
            return _root_field(state, name)
        case "any" | "arguments" | "properties":
            return Value(Item(as_total(state, base), Const(name)), result, optional=True)
        case "message" if name in _MESSAGE:
            return _MESSAGE[name](state, base)
        case "property" | "message" if name in ("Images", "Properties"):
            return state.cannot("GT305", node, f"`.{name}` has no portable form")
        case "function" if name == "Parameters":
            parameters = Or((Item(base.expr, Const("parameters")), DictLiteral()))
            return Value(_per_iteration(state, base, "parameters", parameters, 2), result)
        case _:
            key, optional = _KEYS[kind.name, name]
            item = Item(base.expr, Const(key))
            if key == "items":
                # `x['items']` of a mapping without such a key is a method in some engines.
                return Value(Conditional(Call("has_items", (base.expr,)), item, Const(None)), result, optional)
            return Value(item, result, optional)


# (kind, Go's name) -> (the chat's name, whether it may be absent)
_KEYS: Mapping[tuple[str, str], tuple[str, bool]] = {
    ("message", "Role"): ("role", False),
    ("message", "ToolCallID"): ("tool_call_id", True),
    ("call", "ID"): ("id", True),
    ("call", "Function"): ("function", False),
    ("call_function", "Name"): ("name", False),
    ("call_function", "Index"): ("index", True),
    ("call_function", "Arguments"): ("arguments", True),
    ("tool", "Type"): ("type", True),
    ("tool", "Items"): ("items", True),
    ("tool", "Function"): ("function", False),
    ("function", "Name"): ("name", False),
    ("function", "Description"): ("description", True),
    ("parameters", "Type"): ("type", True),
    ("parameters", "Defs"): ("$defs", True),
    ("parameters", "Items"): ("items", True),
    ("parameters", "Required"): ("required", True),
    ("parameters", "Properties"): ("properties", True),
    ("property", "AnyOf"): ("anyOf", True),
    ("property", "Type"): ("type", True),
    ("property", "Items"): ("items", True),
    ("property", "Description"): ("description", True),
    ("property", "Enum"): ("enum", True),
    ("property", "Required"): ("required", True),
}


def _per_iteration(state: State, base: Value, hint: str, expr: Expr, uses: int) -> Expr:
    """An expression on a loop's element, to be computed once an iteration where it is needed often enough."""
    loop = _loop_of(state, base.expr)
    return shared(loop, hint, expr, uses) if loop is not None else expr


def _loop_of(state: State, expr: Expr) -> Loop | None:
    """The loop whose element an expression is made of: `message`, `tool['function']`."""
    while isinstance(expr, Item):
        expr = expr.base
    if not isinstance(expr, Name):
        return None
    return next((loop for loop in reversed(state.loops) if loop.names.get("element") == expr.name), None)


def _content(_: State, message: Value) -> Value:
    # A list of parts is one text already: a chat with such lists is gone through beforehand.
    return Value(Item(message.expr, Const("content")), STRING, optional=True)


_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking")


def _thinking(state: State, message: Value) -> Value:
    # Reading a key that is not there costs more than asking for it.
    there = Or(tuple(Compare(Const(key), "in", message.expr) for key in _THINKING_KEYS))
    some = Or((*(Item(message.expr, Const(key)) for key in _THINKING_KEYS), EMPTY))
    thinking = Conditional(there, some, EMPTY)
    return Value(_per_iteration(state, message, "thinking", thinking, 1), STRING)


def _tool_calls(state: State, message: Value) -> Value:
    key = Const("tool_calls")
    calls = Conditional(Compare(key, "in", message.expr), Item(message.expr, key), ListLiteral())
    shape = STRUCTS["message"]["ToolCalls"]
    return Value(_per_iteration(state, message, "tool_calls", calls, 2), shape, optional=True)


def _tool_name(state: State, message: Value) -> Value:
    name = Call("tool_name", (message.expr, Name(state.chat.call_names)))
    return Value(_per_iteration(state, message, "tool_name", name, 2), STRING)


_MESSAGE: Mapping[str, Callable[[State, Value], Value]] = {
    "Content": _content,
    "Thinking": _thinking,
    "ToolCalls": _tool_calls,
    "ToolName": _tool_name,
}


def _root_field(state: State, name: str) -> Value:
    known = ROOT_FIELDS[state.mode].get(name)
    if known is None:
        return Value(Const(None), MISSING)
    chat = state.chat
    match name:
        case "Response" if state.mode is not Mode.LEGACY:
            return Value(EMPTY, known)
        case "IsThinkSet" if state.can_think:
            return Value(TRUE, known)
        case _:
            pass
    names = {
        "System": chat.system,
        "Messages": chat.turns,
        "Tools": "tools",
        "Think": chat.think,
        "ThinkLevel": chat.think_level,
        "IsThinkSet": chat.think_set,
        "Prompt": chat.prompt,
        "Response": chat.response,
        "Suffix": "suffix",
    }
    return Value(Name(names[name]), known, optional=name == "Tools")
