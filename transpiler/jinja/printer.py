"""The tree as text: one tag a line, indented, every tag with `-` on both sides, so that no engine's trimming matters.

Runs of output share a line up to where the rendered text ends one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from transpiler.jinja.ast import (
    And,
    Arithmetic,
    Attribute,
    Blank,
    Body,
    Call,
    Comment,
    Compare,
    Concat,
    Conditional,
    Const,
    DictLiteral,
    Expr,
    Filter,
    For,
    If,
    Item,
    ListLiteral,
    Macro,
    MethodCall,
    Name,
    Not,
    Or,
    Output,
    Set,
    SetAttribute,
    SetBlock,
    Shared,
    Slice,
    Test,
    Verbatim,
)

INDENT = "  "

# How tightly an expression holds together; an operand looser than its place asks for gets parentheses.
CONDITIONAL, OR, AND, NOT, COMPARE, SUM, ATOM = range(7)

_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"})
# Places where a literal is cut in two because an engine would read its text as a tag: @huggingface/jinja edits
# `{%- … -%}` and `{% generation %}` anywhere in the source.
# A line of text with the empty lines before it.
_LINE = re.compile(r"\n*[^\n]+\n?|\n+")
_TAG_IN_TEXT = re.compile(r"(?<=\{)(?=%)|(?<=%)(?=\})")


def print_template(body: Body) -> str:
    """The text of a template, with its final newline."""
    return "".join(f"{line}\n" for line in _lines(body, 0))


def print_expression(expr: Expr) -> str:
    """The text of one expression, as it stands in a tag."""
    return _expr(expr, CONDITIONAL)


def quote(text: str) -> str:
    """A string literal, in the quotes that need fewer escapes; only escapes that every engine knows."""
    text = text.translate(_ESCAPES)
    if '"' in text and "'" not in text:
        return f"'{text}'"
    return '"' + text.replace('"', '\\"') + '"'


# -- statements -------------------------------------------------------------------------------------------------------


def _lines(body: Body, depth: int) -> Iterator[str]:
    pad = INDENT * depth
    run: list[str] = []
    for stmt in body:
        if isinstance(stmt, Output):
            for piece, ends in _output(stmt.expr):
                run.append(piece)
                if ends:
                    yield pad + "".join(run)
                    run.clear()
            continue
        if run:
            yield pad + "".join(run)
            run.clear()
        match stmt:
            case If(branches, orelse):
                for n, (test, inner) in enumerate(branches):
                    yield f"{pad}{{%- {'elif' if n else 'if'} {_expr(test, OR)} -%}}"
                    yield from _lines(inner, depth + 1)
                if orelse:
                    yield f"{pad}{{%- else -%}}"
                    yield from _lines(orelse, depth + 1)
                yield f"{pad}{{%- endif -%}}"
            case For(targets, items, inner, only):
                condition = f" if {_expr(only, OR)}" if only is not None else ""
                yield f"{pad}{{%- for {', '.join(targets)} in {_expr(items, OR)}{condition} -%}}"
                yield from _lines(inner, depth + 1)
                yield f"{pad}{{%- endfor -%}}"
            case Set(name, expr):
                yield f"{pad}{{%- set {name} = {_expr(expr, CONDITIONAL)} -%}}"
            case SetAttribute(base, name, expr):
                yield f"{pad}{{%- set {base}.{name} = {_expr(expr, CONDITIONAL)} -%}}"
            case SetBlock(name, inner):
                yield f"{pad}{{%- set {name} -%}}"
                yield from _lines(inner, depth + 1)
                yield f"{pad}{{%- endset -%}}"
            case Macro(name, params, inner):
                yield f"{pad}{{%- macro {name}({', '.join(params)}) -%}}"
                yield from _lines(inner, depth + 1)
                yield f"{pad}{{%- endmacro -%}}"
            case Comment(text):
                yield f"{pad}{{#- {text.replace('#}', '# }')} -#}}"
            case Blank():
                yield ""
            case Verbatim(text):
                yield from text.split("\n")
            case _:
                assert_never(stmt)
    if run:
        yield pad + "".join(run)


def _output(expr: Expr) -> Iterator[tuple[str, bool]]:
    """The tags that print an expression, each with whether the rendered line ends there."""
    if not (isinstance(expr, Const) and isinstance(expr.value, str)):
        yield f"{{{{- {_expr(expr, CONDITIONAL)} -}}}}", False
        return
    for line in _LINE.findall(expr.value):
        for piece in _TAG_IN_TEXT.split(line):
            yield f"{{{{- {quote(piece)} -}}}}", piece.endswith("\n")


# -- expressions ------------------------------------------------------------------------------------------------------


def _expr(expr: Expr, place: int) -> str:
    text, level = _print(expr)
    return text if level >= place else f"({text})"


def _print(expr: Expr) -> tuple[str, int]:
    match expr:
        case Name(name):
            return name, ATOM
        case Const(value):
            return _const(value), ATOM
        case Attribute(base, name):
            return f"{base.name}.{name}", ATOM
        case Item(base, key):
            return f"{_expr(base, ATOM)}[{_key(key)}]", ATOM
        case Slice(base, start, stop):
            ends = [_expr(end, CONDITIONAL) if end is not None else "" for end in (start, stop)]
            return f"{_expr(base, ATOM)}[{ends[0]}:{ends[1]}]", ATOM
        case Call(name, args):
            return f"{name}({_args(args)})", ATOM
        case MethodCall(base, method, args):
            return f"{_expr(base, ATOM)}.{method}({_args(args)})", ATOM
        case Filter(base, name, args):
            return f"{_expr(base, ATOM)}|{_filter(name, args)}", ATOM
        case Test(base, name, negated):
            return f"{_expr(base, ATOM)} is {'not ' if negated else ''}{name}", COMPARE
        case Not(operand):
            return f"not {_expr(operand, ATOM if not isinstance(operand, Not) else NOT)}", NOT
        case And(operands):
            return " and ".join(_expr(o, NOT) for o in operands), AND
        case Or(operands):
            # `a and b or c` binds as everywhere, but a reader should not have to know.
            return " or ".join(_expr(o, NOT) for o in operands), OR
        case Compare(left, op, right):
            return f"{_expr(left, SUM)} {op} {_expr(right, SUM)}", COMPARE
        case Arithmetic(left, op, right):
            # Chains of one operator need no parentheses on the left.
            same = isinstance(left, Arithmetic) and left.op == op
            return f"{_expr(left, SUM if same else ATOM)} {op} {_expr(right, ATOM)}", SUM
        case Concat(parts):
            return " ~ ".join(_expr(p, ATOM) for p in parts), SUM
        case Conditional(test, then, other):
            ends = [_expr(e, ATOM if isinstance(e, Concat | Arithmetic | And | Or) else OR) for e in (then, other)]
            return f"{ends[0]} if {_expr(test, OR)} else {ends[1]}", CONDITIONAL
        case ListLiteral(items):
            return f"[{_args(items)}]", ATOM
        case DictLiteral(pairs):
            return "{" + ", ".join(f"'{key}': {_expr(value, CONDITIONAL)}" for key, value in pairs) + "}", ATOM
        case Shared(_, shared):
            return _print(shared)
        case _:
            assert_never(expr)


def _args(args: tuple[Expr, ...]) -> str:
    return ", ".join(_expr(a, CONDITIONAL) for a in args)


def _const(value: str | int | bool | None) -> str:
    if isinstance(value, str):
        return _single(value)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _single(text: str) -> str:
    """A string inside an expression: in single quotes, as Jinja authors write keys and roles, where that is easy."""
    if "'" in text or "\\" in text or "\n" in text:
        return quote(text)
    return f"'{text.translate(_ESCAPES)}'"


def _key(key: Expr) -> str:
    return f"'{key.value}'" if isinstance(key, Const) and isinstance(key.value, str) else _expr(key, CONDITIONAL)


def _filter(name: str, args: tuple[Expr, ...]) -> str:
    match name:
        case "dictsort":
            # Without the argument engines disagree on case; with it they sort by code point, as Go does.
            return "dictsort(case_sensitive=true)"
        case "map":
            return f"map(attribute={_args(args)})"
        case _:
            return f"{name}({_args(args)})" if args else name
