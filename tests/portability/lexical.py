"""Rules that are about characters and tokens: what the tree of jinja2 no longer shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from jinja2 import Environment

from .tables import ESCAPES, LARGEST_INTEGER, MAX_NESTING
from .violation import Violation

_BEGINS = {"block_begin": "{%-", "variable_begin": "{{-", "comment_begin": "{#-"}
_ENDS = {"block_end": "-%}", "variable_end": "-}}", "comment_end": "-#}"}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_OPERAND_ENDS = frozenset({"string", "integer", "float"})
_SEPARATORS = frozenset({",", ":", "|", "==", "!=", "<", ">", "<=", ">=", "="})
_WORD_SEPARATORS = frozenset({"and", "or", "not", "if", "else", "in", "is"})
# Words after which an operand begins, so that a minus there is a sign.
_WORDS_BEFORE_OPERAND = _WORD_SEPARATORS | {"elif"}


class Token(NamedTuple):
    """A raw token of jinja2's lexer; whitespace is left out, and `after_space` says that some stood before it."""

    line: int
    kind: str
    text: str
    after_space: bool


def tokens_of(text: str, environment: Environment) -> list[Token]:
    """Return the raw tokens of `text`."""
    tokens, space = [], False
    for line, kind, value in environment.lex(text):
        if kind != "whitespace":
            tokens.append(Token(line, kind, value, space))
        space = kind == "whitespace"
    return tokens


def _tags(tokens: list[Token]) -> Iterator[Violation]:
    for token in tokens:
        if token.kind in _BEGINS and token.text.strip() != _BEGINS[token.kind]:
            yield Violation(token.line, "tag-dash", f"a tag begins with {token.text.strip()!r}")
        elif token.kind in _ENDS and token.text.strip() != _ENDS[token.kind]:
            yield Violation(token.line, "tag-dash", f"a tag ends with {token.text.strip()!r}")
        elif token.kind == "data" and token.text.strip():
            yield Violation(token.line, "text-outside", f"text outside tags: {token.text.strip()[:30]!r}")
        elif token.kind == "raw_begin":
            yield Violation(token.line, "statement", "raw block")


def _strings(tokens: list[Token]) -> Iterator[Violation]:
    for token in tokens:
        if token.kind != "string":
            continue
        for escaped in re.findall(r"\\(.)", token.text, re.DOTALL):
            if escaped not in ESCAPES:
                yield Violation(token.line, "escape", f"escape \\{escaped}")
        if "\n" in token.text or "\r" in token.text:
            yield Violation(token.line, "literal-newline", "a raw line break inside a literal")
        if re.search(r"\{%-?\s*(end)?generation\s*-?%\}", token.text):
            yield Violation(token.line, "generation-literal", "a generation tag inside a literal")
    for left, right in pairwise(tokens):
        if left.kind == right.kind == "string":
            yield Violation(right.line, "adjacent-strings", "adjacent literals")


def _numbers(tokens: list[Token]) -> Iterator[Violation]:
    for before, token in pairwise(tokens):
        if token.kind == "float":
            yield Violation(token.line, "float", f"float {token.text}")
        elif token.kind == "integer" and not re.fullmatch(r"0|[1-9][0-9]*", token.text):
            yield Violation(token.line, "integer-form", f"integer {token.text}")
        elif token.kind == "integer" and int(token.text) > LARGEST_INTEGER:
            yield Violation(token.line, "integer-size", f"integer {token.text}")
        elif before.text == "-" and before.kind == "operator" and token.after_space and _is_sign(tokens, before):
            yield Violation(token.line, "sign-space", "a space after the sign of a number")


def _is_sign(tokens: list[Token], minus: Token) -> bool:
    """Tell whether `minus` is a sign: nothing that could be a left operand stands before it."""
    before = tokens[next(index for index, token in enumerate(tokens) if token is minus) - 1]
    if before.kind == "name":
        return before.text in _WORDS_BEFORE_OPERAND
    return before.kind not in _OPERAND_ENDS and before.text not in _CLOSING


def _brackets(tokens: list[Token]) -> Iterator[Violation]:
    depth = 0
    for before, token in pairwise(tokens):
        if token.kind != "operator":
            continue
        if token.text in _OPENING:
            depth += 1
            if depth == MAX_NESTING + 1:
                yield Violation(token.line, "expression-depth", f"more than {MAX_NESTING} nested brackets")
        elif token.text in _CLOSING:
            depth -= 1
            if before.text == ",":
                yield Violation(token.line, "trailing-comma", f"a comma before {token.text}")
            if token.text == before.text == "}" and not token.after_space:
                yield Violation(token.line, "closing-braces", "}} inside an expression")


def _mixed_operators(tokens: list[Token]) -> Iterator[Violation]:
    """``a + b ~ c`` binds differently from engine to engine: ask for parentheses."""
    levels: list[set[str]] = [set()]
    for before, token in pairwise(tokens):
        if token.kind.endswith(("_begin", "_end")):
            levels = [set()]
        elif token.kind == "operator" and token.text in _OPENING:
            levels.append(set())
        elif token.kind == "operator" and token.text in _CLOSING and len(levels) > 1:
            levels.pop()
        elif token.text in _SEPARATORS or (token.kind == "name" and token.text in _WORD_SEPARATORS):
            levels[-1].clear()
        elif token.kind == "operator" and token.text in "~+-*%":
            signed = token.text == "-" and before.kind not in {"name", *_OPERAND_ENDS} and before.text not in _CLOSING
            mixed = levels[-1] | {token.text}
            if not signed:
                if "~" in mixed and len(mixed) > 1 and not ("~" in levels[-1] and len(levels[-1]) > 1):
                    yield Violation(token.line, "mixed-operators", "~ beside arithmetic without parentheses")
                levels[-1].add(token.text)


def lexical_violations(text: str, environment: Environment) -> Iterator[Violation]:
    """Yield what the characters and tokens of `text` break; it has to be lexically sound."""
    if not text.endswith("\n"):
        last_line = text.count("\n") + 1
        yield Violation(last_line, "final-newline", "no newline at the end")
    tokens = tokens_of(text, environment)
    for rule in (_tags, _strings, _numbers, _brackets, _mixed_operators):
        yield from rule(tokens)
