"""`printf`: formats whose verbs Jinja can say, and the one that counts."""

from __future__ import annotations

import re
from typing import Protocol

from transpiler.gotmpl.ast import Command, Identifier, Node, Operand, Pipeline, String
from transpiler.jinja.ast import Arithmetic, Const, Expr
from transpiler.lowering.printing import joined, print_pieces
from transpiler.lowering.state import State
from transpiler.lowering.values import Position, Value
from transpiler.ollama.datamodel import INT, STRING, only

_VERB = re.compile(r"%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d+))?(.)", re.DOTALL)
# Which kinds a verb prints as `print` would; for others Go writes a complaint such as `%!d(string=x)`.
_VERBS = {"s": {"string", "property_type"}, "d": {"int"}, "t": {"bool"}}


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
        out += [Const(text.const[at : verb.start()])]
        at = verb.end()
        flags, width, precision, letter = verb.groups()
        if letter == "%":
            out.append(Const("%"))
            continue
        if flags or width or precision or letter not in "svdt" or not rest:
            return state.cannot("GT304", node, f"`printf` with `{verb.group()}`", "use `print`, or only %s %v %d %t")
        where, value = rest.pop(0)
        name = only(value.shape)
        if letter != "v" and name not in _VERBS[letter] and not (letter == "s" and name in _STRINGERS):
            return state.cannot("GT304", node, f"`{verb.group()}` of {name or 'a value of several types'}")
        out += print_pieces(state, [(where, value)], node)
    if rest:
        return state.cannot("GT304", node, "`printf` has more arguments than verbs")
    return Value(
        joined([*(p for p in out if p != Const("")), *([Const(text.const[at:])] if text.const[at:] else [])]), STRING
    )


_STRINGERS = {"tools", "tool", "arguments", "properties"}


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
    expr = value.expr if not more else Arithmetic(value.expr, "+", Const(more))
    return Value(expr, INT, position=moved)
