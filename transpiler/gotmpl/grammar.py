"""The grammar of Go's template actions, flat: it reads one piece of a template, text or comment or action.

Blocks are folded elsewhere. A rule for nested blocks would recurse as deep as they nest; this one recurses only for
parentheses, whose depth is looked at before.

Terminals are regular expressions where a token is one; whatever may follow a word in Go ends it: white space, one of
`.,|:()`, or `}}`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsimonious.expressions import Expression

# How deep parentheses may stand in each other; the grammar recurses with them.
MOST_PARENTHESES = 50

_WORD_END = r"(?=[ \t\r\n.,|:()]|\}\}|\Z)"
_LETTER = r"[\p{L}\p{Nd}_]"
_FIELDS = rf"(?:\.(?![0-9]){_LETTER}+{_WORD_END})"
# An operand without parentheses. Fields behind literals are read here and refused by the parser, as Go does it.
_SIMPLE = "".join(
    line.strip()
    for line in rf"""
    (?P<field>{_FIELDS}+)
  | (?P<variable>\${_LETTER}*{_WORD_END}{_FIELDS}*)
  | (?P<word>(?![0-9]){_LETTER}+{_WORD_END}{_FIELDS}*)
  | (?: (?P<string>\"(?:\\[^\n]|[^\"\\\n])*\"|`[^`]*`)
      | (?P<number>[+-]?(?:
            0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?
          | 0[oO][0-7_]*(?:\.[0-7_]*)? | 0[bB][01_]*(?:\.[01_]*)?
          | (?=\.?[0-9])[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)? | \.[0-9][0-9_]*(?:[eE][+-]?[0-9_]*)?
        )i?(?!{_LETTER})(?:[+-][0-9._eE]+i(?!{_LETTER}))?)
      | (?P<char>'(?:\\[^\n]|[^'\\\n])*')
      | (?P<dot>\.{_WORD_END})
    )(?P<after>{_FIELDS}*)
""".splitlines()
)

GRAMMAR = rf'''
piece       = text / comment / action

text        = ~r"(?:[^{{]+|\{{(?!\{{))+"
comment     = ~r"\{{\{{(?P<left>-[ \t\r\n])?/\*(?P<text>(?:[^*]++|\*(?!/))*+)\*/(?P<right>[ \t\r\n]-)?\}}\}}"
action      = open statement close
open        = ~r"\{{\{{(?P<trim>-[ \t\r\n])?[ \t\r\n]*"
close       = ~r"(?:[ \t\r\n]+(?P<trim>-)|[ \t\r\n]*)\}}\}}"

statement   = if / range / with / else / end / template / define / block / break / continue / pipeline
if          = ~r"if{_WORD_END}" ws pipeline
with        = ~r"with{_WORD_END}" ws pipeline
range       = ~r"range{_WORD_END}" ws pair? pipeline
pair        = variable comma second?
second      = variable ws assign ws
else        = ~r"else{_WORD_END}" chained?
chained     = ws ~r"(?:if|with){_WORD_END}" ws pipeline
end         = ~r"end{_WORD_END}" ""
break       = ~r"break{_WORD_END}" ""
continue    = ~r"continue{_WORD_END}" ""
template    = ~r"template{_WORD_END}" ws string argument?
argument    = ws pipeline
define      = ~r"define{_WORD_END}" ws string
block       = ~r"block{_WORD_END}" ws string ws pipeline

pipeline    = declaration? command stage* pipe_end?
declaration = variable ws assign ws
stage       = pipe command
command     = operand other*
other       = space operand
operand     = simple / parenthesis
parenthesis = "(" ws pipeline ws ")" fields?
simple      = ~r"{_SIMPLE}"xu
fields      = ~r"(?:\.(?![0-9]){_LETTER}+{_WORD_END})+"
variable    = ~r"\${_LETTER}*{_WORD_END}"
string      = ~r"\"(?:\\[^\n]|[^\"\\\n])*\"|`[^`]*`"
assign      = ":=" / "="
pipe        = ws "|" ws
pipe_end    = ws "|"
comma       = ws "," ws
space       = ~r"[ \t\r\n]+(?!-\}}\}}|[|)}}])"
ws          = ~r"[ \t\r\n]*"
'''


@cache
def piece() -> Expression:
    """The rule for one piece of a template; the grammar is built when it is first needed."""
    from parsimonious.grammar import Grammar

    return Grammar(GRAMMAR)["piece"]
