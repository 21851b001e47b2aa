"""The tree of a Jinja template, as much of Jinja as all engines agree on and no more.

A node that is not here can't be printed: no `break`, no keyword arguments of macros, no float literals, no tuples.
Which constructs are portable was measured on jinja2, minijinja, @huggingface/jinja, llama.cpp and minja.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from transpiler.nodes import node

# -- expressions ------------------------------------------------------------------------------------------------------


@node
class Name:
    """`message`"""

    name: str


@node
class Const:
    """`"text"`, `3`, `true`, `none`"""

    value: str | int | bool | None


@node
class Attribute:
    """`loop.last`, `go.count`: of a loop or a namespace, never of data"""

    base: Name
    name: str


@node
class Item:
    """`message['role']`, `items[0]`"""

    base: Expr
    key: Expr


@node
class Slice:
    """`items[1:]`, `text[:7]`"""

    base: Expr
    start: Expr | None
    stop: Expr | None


@node
class Call:
    """`json(value)`: a macro or one of `range`, `namespace`, `raise_exception`, `strftime_now`"""

    name: str
    args: tuple[Expr, ...] = ()


Method: TypeAlias = Literal["replace", "split", "startswith", "endswith"]


@node
class MethodCall:
    """`role.startswith('document')`"""

    base: Expr
    method: Method
    args: tuple[Expr, ...]


FilterName: TypeAlias = Literal[
    "length", "join", "items", "dictsort", "string", "int", "lower", "trim", "tojson", "map"
]


@node
class Filter:
    """`parts|join(', ')`; `dictsort` and `map` bring the one argument that is portable"""

    base: Expr
    name: FilterName
    args: tuple[Expr, ...] = ()


TestName: TypeAlias = Literal["defined", "none", "string", "mapping", "boolean", "integer", "number", "iterable"]


@node
class Test:
    """`content is string`, `tools is not defined`"""

    base: Expr
    name: TestName
    negated: bool = False


@node
class Not:
    """`not last`"""

    operand: Expr


@node
class And:
    """`a and b and c`, as a condition"""

    operands: tuple[Expr, ...]


@node
class Or:
    """`a or b or c`, as a condition or, in every engine, as a value"""

    operands: tuple[Expr, ...]


CompareOp: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


@node
class Compare:
    """`role == 'user'`"""

    left: Expr
    op: CompareOp
    right: Expr


@node
class Arithmetic:
    """`n + 1`, `n - 1`, `n % 2`, `items + [item]`"""

    left: Expr
    op: Literal["+", "-", "*", "%"]
    right: Expr


@node
class Concat:
    """`"<" ~ name ~ ">"`"""

    parts: tuple[Expr, ...]


@node
class Conditional:
    """`then if test else other`"""

    test: Expr
    then: Expr
    other: Expr


@node
class ListLiteral:
    """`['a', 'b']`"""

    items: tuple[Expr, ...] = ()


@node
class DictLiteral:
    """`{'role': role}`"""

    items: tuple[tuple[str, Expr], ...] = ()


@node
class Shared:
    """An expression that a loop's body may need more than once; `sharing` makes it a variable or puts it in place.

    `loop` is the `For.id` of the loop whose iteration it belongs to; `uses` from how many uses on a variable pays.
    """

    name: str
    expr: Expr
    loop: int
    uses: int


Expr: TypeAlias = (
    Name
    | Const
    | Attribute
    | Item
    | Slice
    | Call
    | MethodCall
    | Filter
    | Test
    | Not
    | And
    | Or
    | Compare
    | Arithmetic
    | Concat
    | Conditional
    | ListLiteral
    | DictLiteral
    | Shared
)

TRUE = Const(True)
FALSE = Const(False)
EMPTY = Const("")

# -- statements -------------------------------------------------------------------------------------------------------


@node
class Output:
    """`{{- expr -}}`"""

    expr: Expr


@node
class If:
    """`{%- if … -%} … {%- elif … -%} … {%- else -%} … {%- endif -%}`; an absent else is empty"""

    branches: tuple[tuple[Expr, Body], ...]
    orelse: Body = ()


@node
class For:
    """`{%- for item in items -%}`, `{%- for key, item in map|dictsort -%}`, with an `if` behind where `only` is set"""

    targets: tuple[str, ...]
    items: Expr
    body: Body
    only: Expr | None = None
    id: int = 0


@node
class Set:
    """`{%- set name = expr -%}`"""

    name: str
    expr: Expr


@node
class SetAttribute:
    """`{%- set go.name = expr -%}` of a namespace"""

    base: str
    name: str
    expr: Expr


@node
class SetBlock:
    """`{%- set name -%} … {%- endset -%}`"""

    name: str
    body: Body


@node
class Macro:
    """`{%- macro name(a, b) -%} … {%- endmacro -%}`"""

    name: str
    params: tuple[str, ...]
    body: Body


@node
class Comment:
    """`{#- text -#}`"""

    text: str


@node
class Blank:
    """An empty line between two parts of the template, for the reader"""


@node
class Verbatim:
    """A macro that was written by hand, with its comment, as text"""

    text: str


Stmt: TypeAlias = Verbatim | Output | If | For | Set | SetAttribute | SetBlock | Macro | Comment | Blank
Body: TypeAlias = tuple[Stmt, ...]
