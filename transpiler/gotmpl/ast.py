"""The tree of a Go template: the nodes of Go's `text/template/parse`, each with its span.

Nodes are frozen and hold no facts beyond what the source says; what passes find out lives in tables of their own.
A span covers the node's source text and takes no part in comparisons.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from transpiler.nodes import node
from transpiler.source import Span


@node
class Node:
    """What all nodes have: the place they come from."""

    span: Span = field(kw_only=True, compare=False, repr=False)


# -- operands ---------------------------------------------------------------------------------------------------------


@node
class Dot(Node):
    """`.`"""


@node
class Nil(Node):
    """`nil`"""


@node
class Bool(Node):
    """`true`, `false`"""

    value: bool


@node
class Number(Node):
    """`1`, `-0x10`, `1_000`, `1.5`, `1e3`, `'a'`, `2i`; `value` has the type that Go's template gives the constant."""

    text: str
    value: int | float | complex


@node
class String(Node):
    """`"a\\n"` or a raw string in backquotes; `value` is what it stands for, `quoted` the source."""

    quoted: str
    value: str


@node
class Field(Node):
    """`.A.B` on dot: names `("A", "B")`."""

    names: tuple[str, ...]


@node
class Variable(Node):
    """`$x`, `$x.A.B`, `$`: the name with its `$`, then the fields."""

    name: str
    names: tuple[str, ...] = ()


@node
class Identifier(Node):
    """The name of a function: `eq`."""

    name: str


@node
class Chain(Node):
    """Fields of something in parentheses, or of a function's result: `(index .Messages 0).Content`."""

    base: Operand
    names: tuple[str, ...]


@node
class Command(Node):
    """Operands with spaces between: `eq .Role "user"`. With one operand it is that operand's value or a call."""

    args: tuple[Operand, ...]


@node
class Pipeline(Node):
    """`.X | json`, `$i, $m := .Messages`: declared (or, with `assign`, assigned) variables, then the commands."""

    decls: tuple[Variable, ...]
    assign: bool
    cmds: tuple[Command, ...]


Operand: TypeAlias = Dot | Nil | Bool | Number | String | Field | Variable | Identifier | Chain | Pipeline


# -- statements -------------------------------------------------------------------------------------------------------


@node
class Text(Node):
    """Text outside of actions, after the trim markers next to it did their work; never empty."""

    text: str


@node
class Comment(Node):
    """`{{/* text */}}`: the text between the stars."""

    text: str


@node
class Action(Node):
    """`{{ pipe }}`: prints, or declares or assigns variables and prints nothing."""

    pipe: Pipeline


@node
class If(Node):
    """`{{ if pipe }} body {{ else }} orelse {{ end }}`; `{{ else if }}` is an `If` alone in `orelse`."""

    pipe: Pipeline
    body: Block
    orelse: Block | None


@node
class Range(Node):
    """`{{ range pipe }} body {{ else }} orelse {{ end }}`; the loop variables are the pipeline's declarations."""

    pipe: Pipeline
    body: Block
    orelse: Block | None


@node
class With(Node):
    """`{{ with pipe }} body {{ else }} orelse {{ end }}`; `{{ else with }}` is a `With` alone in `orelse`."""

    pipe: Pipeline
    body: Block
    orelse: Block | None


@node
class TemplateCall(Node):
    """`{{ template "name" pipe }}`; also what a `{{ block }}` leaves in its place."""

    name: str
    pipe: Pipeline | None


@node
class Break(Node):
    """`{{ break }}`"""


@node
class Continue(Node):
    """`{{ continue }}`"""


Statement: TypeAlias = Text | Comment | Action | If | Range | With | TemplateCall | Break | Continue
Block: TypeAlias = tuple[Statement, ...]


@node
class Define(Node):
    """`{{ define "name" }} body {{ end }}` or `{{ block "name" pipe }} body {{ end }}`."""

    name: str
    body: Block


@node
class Template(Node):
    """A whole template: its own statements and what it defines, in the order of the source."""

    body: Block
    defines: tuple[Define, ...] = ()
