"""`printf`: formats whose verbs Jinja can say, and the one that counts."""

from __future__ import annotations

import re
from typing import Protocol

from transpiler.gotmpl.ast import Command, Identifier, Node, Operand, Pipeline, String
from transpiler.jinja.ast import Arithmetic, Conditional, Const, Expr, Or, Test, TestName
from transpiler.lowering.printing import joined, print_pieces, value_words
from transpiler.lowering.state import State
from transpiler.lowering.values import Position, Value
from transpiler.ollama.datamodel import INT, STRING, Kind, only, shape

_VERB = re.compile(r"%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d+))?(.)", re.DOTALL)
# Which kinds a verb prints as `print` would; of others Go writes a complaint such as `%!d(string=x)`.
_VERBS = {"s": {"string", "property_type", "tools", "tool", "arguments", "properties"}, "d": {"int"}, "t": {"bool"}}
_COMPLAINED_OF = ("string", "int", "bool")


class _Argument(Protocol):
    @property
    def node(self) -> Node: ...

    def lower(self, operand: Operand) -> Value: ...


def format_text(state: State, node: Node, text: Value, args: list[tuple[Node, Value]]) -> Value:
    """The value of a `printf` with plain verbs."""
    if not isinstance(text.const, str):
        return state.cannot("GT304", node, "the format of `printf` is not a constant")
    out: list[Expr] = []
    at, rest = 0, list(args)
    for verb in _VERB.finditer(text.const):
        out.append(Const(text.const[at : verb.start()]))
        at = verb.end()
        flags, width, precision, letter = verb.groups()
        if letter == "%":
            out.append(Const("%"))
        elif flags or width or precision or letter not in "svdt":
            return state.cannot("GT304", node, f"`printf` with `{verb.group()}`", "use `print`, or only %s %v %d %t")
        elif rest:
            out += _formatted(state, letter, *rest.pop(0))
        else:
            out.append(Const(f"%!{letter}(MISSING)"))
    out.append(Const(text.const[at:]))
    out += _extra(state, rest)
    return Value(joined([piece for piece in out if piece != Const("")]), STRING)


def _formatted(state: State, letter: str, node: Node, value: Value) -> list[Expr]:
    """A value as a verb prints it."""
    names = {kind.name for kind in value.shape}
    if letter == "v" or not names or names <= _VERBS[letter]:
        return print_pieces(state, [(node, value)], node)
    if names <= {"missing", "nil"}:
        return [Const(f"%!{letter}(<nil>)")]
    if not names <= set(_COMPLAINED_OF):
        words = value_words(value)
        return [state.cannot("GT304", node, f"`%{letter}` of {words}").expr]
    kinds = [name for name in _COMPLAINED_OF if name in names]
    if len(kinds) == 1:
        return [Const(f"%!{letter}({kinds[0]}="), *print_pieces(state, [(node, value)], node), Const(")")]
    tests: dict[str, TestName] = {"string": "string", "int": "integer", "bool": "boolean"}
    found = _as_kind(state, letter, kinds[-1], value, node)
    for kind in reversed(kinds[:-1]):
        found = Conditional(Test(value.expr, tests[kind]), _as_kind(state, letter, kind, value, node), found)
    return [found]


def _as_kind(state: State, letter: str, kind: str, value: Value, node: Node) -> Expr:
    known = Value(value.expr, shape(Kind(kind)), value.optional)
    return joined(_formatted(state, letter, node, known))


def _extra(state: State, args: list[tuple[Node, Value]]) -> list[Expr]:
    """What Go writes of arguments that no verb is there for: `%!(EXTRA string=x, int=1)`."""
    out: list[Expr] = []
    for n, (node, value) in enumerate(args):
        names = {kind.name for kind in value.shape}
        if not names:
            return [value.expr]
        out.append(Const(", " if n else "%!(EXTRA "))
        if names <= {"missing", "nil"}:
            out.append(Const("<nil>"))
        elif len(names) == 1 and names <= set(_COMPLAINED_OF):
            out += [Const(f"{only(value.shape)}="), *print_pieces(state, [(node, value)], node)]
        else:
            return [state.cannot("GT304", node, f"an argument of `printf` without a verb, {value_words(value)}").expr]
    return [*out, Const(")")] if out else []


def count_format(arg: _Argument) -> Value | None:
    """`printf "a%*s" $n ""` as an argument of `len`: n + 1, the way to add in a template."""
    node: Node = arg.node
    while isinstance(node, Pipeline) and len(node.cmds) == 1 and not node.decls and len(node.cmds[0].args) == 1:
        node = node.cmds[0].args[0]
    cmd = node.cmds[0] if isinstance(node, Pipeline) and len(node.cmds) == 1 and not node.decls else None
    match cmd:
        case Command((Identifier("printf"), String(_, text), number, String(_, ""))):
            pass
        case _:
            return None
    verbs = list(_VERB.finditer(text))
    if len(verbs) != 1 or verbs[0].group() not in ("%*s", "%*v"):
        return None
    value = arg.lower(number)
    if value.shape != INT:
        return None
    more = len((text[: verbs[0].start()] + text[verbs[0].end() :]).encode())
    position = value.position
    moved = Position(position.kind, position.loop, position.items, position.offset + more) if position else None
    known = Or((value.expr, Const(0))) if value.optional else value.expr
    expr = known if not more else Arithmetic(known, "+", Const(more))
    return Value(expr, INT, position=moved)
