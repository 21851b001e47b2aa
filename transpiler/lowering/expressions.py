"""Operands, commands and pipelines: each becomes a value, or, where only its truth counts, a condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from transpiler.gotmpl.ast import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Node,
    Number,
    Operand,
    Pipeline,
    String,
    Variable,
)
from transpiler.jinja.ast import FALSE, TRUE, Compare, Conditional, Const, Expr, Filter, Name
from transpiler.jinja.simplify import is_pure, negate
from transpiler.lowering.arguments import Argument
from transpiler.lowering.data import as_total, field
from transpiler.lowering.functions import FUNCTION_TABLE, all_of, any_of
from transpiler.lowering.printing import is_absent, joined, pieces
from transpiler.lowering.state import State
from transpiler.lowering.values import Value, compare_positions
from transpiler.ollama.datamodel import ALWAYS_TRUE, BOOL, FLOAT, INT, MAPS, METHODS, MISSING, NIL, NOTHING, STRING
from transpiler.ollama.functions import SIGNATURES

# From here on Go prints a number with an exponent.
_EXPONENT = 1e21
# The copy of a template that is cut for the last turn has only Go's own functions.
_OLLAMA_FUNCTIONS = frozenset({"json", "currentDate", "yesterdayDate", "toTypeScriptType"})


def value_of(state: State, operand: Operand) -> Value:
    """The value of an operand."""
    match operand:
        case Dot():
            return state.dot
        case Nil():
            return Value(Const(None), NIL)
        case Bool(truth):
            return Value(Const(truth), BOOL)
        case Number(text, number):
            if isinstance(number, int):
                if not -(2**63) <= number < 2**63:
                    return state.fail("GT205", operand, f"{text} overflows int")
                return Value(Const(number), INT)
            if isinstance(number, float) and number.is_integer() and abs(number) < _EXPONENT and str(number) != "-0.0":
                return Value(Const(int(number)), FLOAT)
            return state.cannot("GT306", operand, f"the number {text} has no form that all engines print alike")
        case String(_, text):
            return Value(Const(text), STRING)
        case Field(names):
            return _fields(state, state.dot, names, operand)
        case Variable("$", names):
            return _fields(state, state.root, names, operand)
        case Variable(_, names):
            binding = state.scopes.of.get(operand.span)
            if binding is None or binding not in state.shapes.bindings:
                # Declared in a block's other arm, or in terms of itself: Go's parser lets that pass.
                name = operand.name
                return state.fail("GT207", operand, f"undefined variable: {name}", f"undefined variable: {name}")
            return _fields(state, state.read(binding), names, operand)
        case Chain(base, names):
            return _fields(state, value_of(state, base), names, operand)
        case Identifier():
            return _call(state, operand, operand, (), None)
        case Pipeline():
            return pipeline_value(state, operand)
        case _:
            assert_never(operand)


def pipeline_value(state: State, pipe: Pipeline) -> Value:
    """The value of a pipeline; variables declared in parentheses are set before the statement."""
    value: Value | None = None
    for cmd in pipe.cmds:
        value = _command(state, cmd, value)
    if value is None:
        return Value(Const(None), NOTHING)
    for decl in pipe.decls:
        binding = state.scopes.of.get(decl.span)
        if binding is not None:
            state.pending.append(state.write(binding, as_total(state, value)))
    return value


def condition_of(state: State, operand: Operand) -> Expr:
    """The truth of an operand, as Go sees it."""
    if isinstance(operand, Pipeline) and len(operand.cmds) == 1 and not operand.decls:
        cmd = operand.cmds[0]
        first = cmd.args[0]
        if isinstance(first, Identifier) and first.name in ("and", "or", "not") and len(cmd.args) > 1:
            return _logic(state, first.name, [Operated(state, arg) for arg in cmd.args[1:]])
        if len(cmd.args) == 1 and not isinstance(first, Nil):
            return condition_of(state, first)
    return truth(state, value_of(state, operand))


def truth(state: State, value: Value) -> Expr:
    """Whether a value counts as true in Go: empty texts, lists and maps, zero, false and nil don't."""
    if value.shape == NOTHING:
        return value.expr
    text = state.facts.text_of(value.expr)
    if text is not None:
        return Const(bool(text))
    if isinstance(value.expr, Const):
        return Const(bool(value.expr.value))
    names = {kind.name for kind in value.shape}
    if names <= ALWAYS_TRUE:
        return TRUE if is_pure(value.expr) else value.expr
    if names <= {"missing", "nil"}:
        return FALSE
    if value.position is not None and value.position.kind == "index":
        return compare_positions(value, "!=", Value(Const(0), INT)) or value.expr
    if state.facts.holds(value.expr):
        return TRUE
    if state.facts.holds(negate(value.expr)):
        return FALSE
    if names <= MAPS:
        # An empty mapping is true in minja.
        return Compare(Filter(as_total(state, value), "length"), ">", Const(0))
    return value.expr


@dataclass(slots=True)
class Operated:
    """An argument that is lowered when it is asked for, so that what stands before it can be known."""

    state: State
    operand: Operand

    @property
    def node(self) -> Node:
        return self.operand

    def value(self) -> Value:
        return value_of(self.state, self.operand)

    def condition(self) -> Expr:
        return condition_of(self.state, self.operand)

    def lower(self, operand: Operand) -> Value:
        return value_of(self.state, operand)


@dataclass(slots=True)
class Passed:
    """An argument that is a value already: what a pipeline passes on."""

    state: State
    node: Node
    known: Value

    def value(self) -> Value:
        return self.known

    def condition(self) -> Expr:
        return truth(self.state, self.known)

    def lower(self, operand: Operand) -> Value:
        return value_of(self.state, operand)


def _fields(state: State, value: Value, names: tuple[str, ...], node: Node) -> Value:
    if names and is_absent(value):
        # Go's pipelines make an invalid value of what is not there, and its fields are no values either.
        return Value(Const(None), MISSING)
    for name in names:
        if value.shape and all(name in METHODS.get(kind.name, {}) for kind in value.shape):
            value = _method(state, value, name, node)
        else:
            value = field(state, value, name, node)
    return value


def _method(state: State, value: Value, name: str, node: Node) -> Value:
    if name == "String":
        return Value(joined(pieces(state, value, node)), STRING)
    return FUNCTION_TABLE["toTypeScriptType"](state, node, [Passed(state, node, value)])


def _command(state: State, cmd: Command, final: Value | None) -> Value:
    first = cmd.args[0]
    if isinstance(first, Identifier):
        return _call(state, cmd, first, cmd.args[1:], final)
    if isinstance(first, Nil):
        return state.fail("GT205", cmd, "nil is not a command")
    if len(cmd.args) > 1 or final is not None:
        return state.fail("GT205", cmd, "only functions can be given arguments", "can't give argument to non-function")
    return value_of(state, first)


def _call(state: State, node: Node, function: Identifier, operands: tuple[Operand, ...], final: Value | None) -> Value:
    args: list[Argument] = [Operated(state, operand) for operand in operands]
    if final is not None:
        args.append(Passed(state, node, final))
    signature = SIGNATURES[function.name]
    if len(args) < signature.least or (signature.most is not None and len(args) > signature.most):
        wants = str(signature.least) if signature.most == signature.least else f"at least {signature.least}"
        message = f"wrong number of args for {function.name}: want {wants} got {len(args)}"
        return state.fail("GT205", node, message)
    if state.cut is not None and function.name in _OLLAMA_FUNCTIONS:
        message = f"`{function.name}` isn't there in the last turn"
        failed = state.fail("GT208", node, message, f'"{function.name}" is not a defined function')
        value = FUNCTION_TABLE[function.name](state, node, args)
        return Value(Conditional(Name(state.chat.cut), failed.expr, value.expr), value.shape)
    return FUNCTION_TABLE[function.name](state, node, args)


def _logic(state: State, name: str, args: list[Operated]) -> Expr:
    match name:
        case "and":
            return all_of(state, args)
        case "or":
            return any_of(state, args)
        case _:
            return negate(args[0].condition())
