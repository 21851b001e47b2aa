"""Why Go refuses an action that the grammar doesn't know: Go's words, the place, and what to do about it.

The grammar says only that a piece doesn't fit. This reads that one action again, token by token as Go's lexer does, and
follows Go's parser up to the first thing it would stumble over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transpiler.gotmpl.grammar import MOST_PARENTHESES
from transpiler.source import Span

_SPACE = re.compile(r"[ \t\r\n]+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?"
    r"|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)
_QUOTED = {
    '"': (re.compile(r'"(?:\\[^\n]|[^"\\\n])*"'), "unterminated quoted string"),
    "'": (re.compile(r"'(?:\\[^\n]|[^'\\\n])*'"), "unterminated character constant"),
    "`": (re.compile(r"`[^`]*`"), "unterminated raw quoted string"),
}
_WORD_ENDS = frozenset(" \t\r\n.,|:()")
_KEYWORDS = frozenset("block break continue define else end if range template with".split())  # noqa: SIM905
_OPERANDS = frozenset({"word", "field", "variable", "dot", "number", "string", "char", "("})


@dataclass(frozen=True, slots=True)
class Problem:
    """One syntax error: code, Go's words, place, advice."""

    code: str
    message: str
    span: Span
    help: str | None = None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


class _Found(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def explain(text: str, start: int) -> Problem | None:
    """What is wrong with the action or comment at `start`; None where Go would take it."""
    try:
        _Reader(text, start).action()
    except _Found as found:
        return found.problem
    return None


class _Reader:
    """Go's lexer and parser for one action, as far as errors go."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.at = start + 2
        self.depth = 0
        self.token = _Token("{{", "{{", Span(start, start + 2))
        self.last: _Token | None = None

    # -- tokens --------------------------------------------------------------------------------------------------

    def fail(self, code: str, message: str, span: Span, help: str | None = None) -> _Found:
        return _Found(Problem(code, message, span, help))

    def unexpected(self, context: str) -> _Found:
        token = self.token
        if token.kind == "}}":
            return self.fail("GT105", f"missing value for {context}", Span(self.start, token.span.end))
        word = f"<{token.text}>" if token.text in _KEYWORDS and token.kind == "word" else _quote(token.text)
        return self.fail("GT101", f"unexpected {word} in {context}", token.span, _advice(token.text))

    def next(self) -> _Token:
        """The next token; white space is one."""
        text, at = self.text, self.at
        space = _SPACE.match(text, at)
        if text.startswith("}}", at) or (space is not None and text.startswith("-}}", space.end())):
            if self.depth:
                raise self.fail("GT102", "unclosed left paren", Span(at, at + 2), "close it with `)`")
            end = at + 2 if space is None else space.end() + 3
            self.token = _Token("}}", "}}", Span(at, end))
            return self.token
        if at >= len(text):
            raise self.fail("GT102", "unclosed action", Span(self.start, self.start + 2), "close it with `}}`")
        kind, end = ("space", space.end()) if space is not None else self.scan(text[at], at)
        self.at = end
        self.token = _Token(kind, text[at:end], Span(at, end))
        return self.token

    def scan(self, char: str, at: int) -> tuple[str, int]:
        text = self.text
        if char in "=|,":
            return char, at + 1
        if char == ":":
            if not text.startswith(":=", at):
                raise self.fail("GT101", "expected :=", Span(at, at + 1), "a variable is declared with `:=`")
            return ":=", at + 2
        if char in _QUOTED:
            pattern, message = _QUOTED[char]
            match = pattern.match(text, at)
            if match is None:
                end = text.find("\n", at)
                place = Span(at, end if end >= 0 else len(text))
                raise self.fail("GT102", message, place, "close it with the same quote, on the same line")
            return "char" if char == "'" else "string", match.end()
        if char == "$" or (char == "." and not text[at + 1 : at + 2].isdecimal()):
            return self.name(char, at)
        if char in "+-." or "0" <= char <= "9":
            return self.number(at)
        if char in "()":
            self.depth += 1 if char == "(" else -1
            if self.depth < 0:
                raise self.fail("GT101", "unexpected right paren", Span(at, at + 1))
            if self.depth > MOST_PARENTHESES:
                raise self.fail("GT902", f"more than {MOST_PARENTHESES} parentheses in each other", Span(at, at + 1))
            return char, at + 1
        if _is_letter(char):
            match = _WORD.match(text, at)
            end = match.end() if match is not None else at + 1
            self.check_end(end)
            return "word", end
        if char.isascii() and char.isprintable():
            return "sign", at + 1
        raise self.fail("GT101", f"unrecognized character in action: {_unicode(char)}", Span(at, at + 1))

    def name(self, char: str, at: int) -> tuple[str, int]:
        end = at + 1
        match = _WORD.match(self.text, end)
        if match is not None:
            end = match.end()
        self.check_end(end)
        if char == "$":
            return "variable", end
        return ("field", end) if match is not None else ("dot", end)

    def number(self, at: int) -> tuple[str, int]:
        match = _NUMBER.match(self.text, at)
        end = match.end() if match is not None else at + 1
        if self.text[end : end + 1] and _is_letter(self.text[end]):
            place = Span(at, end + 1)
            raise self.fail("GT107", f"bad number syntax: {_quote(self.text[at : end + 1])}", place)
        if self.text[at:end] in ("+", "-", "."):
            place = Span(at, end)
            raise self.fail(
                "GT107", f"illegal number syntax: {_quote(self.text[at:end])}", place, _advice(self.text[at:end])
            )
        return "number", end

    def check_end(self, end: int) -> None:
        char = self.text[end : end + 1]
        if char and char not in _WORD_ENDS and not self.text.startswith("}}", end):
            raise self.fail("GT101", f"bad character {_unicode(char)}", Span(end, end + 1), _advice(char))

    def solid(self) -> _Token:
        """The next token that isn't white space."""
        token = self.next()
        return self.next() if token.kind == "space" else token

    # -- grammar -------------------------------------------------------------------------------------------------

    def action(self) -> None:
        text, at = self.text, self.at
        marker = text.startswith("-", at) and text[at + 1 : at + 2] in tuple(" \t\r\n")
        self.at = at = at + 2 if marker and text[at + 1 : at + 2] else at
        if text.startswith("/*", at):
            self.comment(at)
            return
        token = self.solid()
        word = token.text if token.kind == "word" else ""
        match word:
            case "end":
                self.expect_close("end")
            case "break" | "continue":
                self.expect_close(f"{{{{{word}}}}}")
            case "else":
                self.solid()
                if self.token.text in ("if", "with"):
                    context = self.token.text
                    self.solid()
                    self.pipeline(context, "}}")
                elif self.token.kind != "}}":
                    raise self.unexpected_token("else")
            case "if" | "with" | "range":
                self.solid()
                self.pipeline(word, "}}")
            case "define" | "block" | "template":
                self.named(word)
            case _:
                self.pipeline("command", "}}")

    def named(self, word: str) -> None:
        context = f"{word} clause"
        if self.solid().kind != "string":
            raise self.unexpected_token(context, "its name stands in double quotes")
        self.solid()
        if word == "define":
            if self.token.kind != "}}":
                raise self.unexpected_token(context)
        elif word == "block" or self.token.kind != "}}":
            self.pipeline(context, "}}")

    def comment(self, at: int) -> None:
        end = self.text.find("*/", at + 2)
        if end < 0:
            raise self.fail("GT102", "unclosed comment", Span(self.start, at + 2), "close it with `*/}}`")
        after = end + 2
        if not self.text.startswith("}}", after) and not re.compile(r"[ \t\r\n]-\}\}").match(self.text, after):
            message = "comment ends before closing delimiter"
            raise self.fail("GT102", message, Span(end, after), "`*/` stands right before `}}` or ` -}}`")

    def expect_close(self, context: str) -> None:
        if self.solid().kind != "}}":
            raise self.unexpected_token(context)

    def unexpected_token(self, context: str, help: str | None = None) -> _Found:
        token = self.token
        word = f"<{token.text}>" if token.kind == "word" else _quote(token.text)
        return self.fail("GT101", f"unexpected {word} in {context}", token.span, help or _advice(token.text))

    def pipeline(self, context: str, end: str) -> None:
        """`pipeline`, from the current token on, up to its end."""
        began = self.token.span.start
        commands = 0
        if self.token.kind == "variable":
            commands = self.declarations(context)
        while True:
            if self.token.kind == end:
                if not commands:
                    raise self.fail("GT105", f"missing value for {context}", Span(began, self.token.span.end))
                return
            if self.token.kind not in _OPERANDS or (self.token.kind == "word" and self.token.text in _KEYWORDS):
                raise self.unexpected_token(context)
            self.command(end)
            commands += 1

    def declarations(self, context: str) -> int:
        """Variables at the beginning; gives 1 where the first was an operand after all, and its command is read."""
        declared = 0
        while self.token.kind == "variable":
            variable, mark, depth = self.token, self.at, self.depth
            self.solid()
            if self.token.kind in ("=", ":="):
                self.solid()
                return 0
            if self.token.kind == ",":
                declared += 1
                if context != "range" or declared > 1:
                    raise self.fail("GT109", f"too many declarations in {context}", variable.span)
                if self.solid().kind not in ("variable", "}}"):
                    raise self.fail("GT109", "range can only initialize variables", self.token.span)
                continue
            self.token, self.at, self.depth = variable, mark, depth
            return 0
        return 0

    def command(self, end: str) -> None:
        while True:
            if self.token.kind == "(":
                self.solid()
                self.pipeline("parenthesized pipeline", ")")
                self.next()
            elif self.token.kind in _OPERANDS and self.token.text not in _KEYWORDS:
                self.next()
            while self.token.kind == "field":
                self.next()
            if self.token.kind == "space":
                self.next()
                if self.token.kind in _OPERANDS and self.token.text not in _KEYWORDS:
                    continue
            if self.token.kind == "|":
                self.solid()
                return
            if self.token.kind == end or self.token.kind in ("}}", ")"):
                return
            raise self.unexpected_token("operand")


def _is_letter(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def _unicode(char: str) -> str:
    return f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


_ADVICE = {
    "==": "compare with `eq`: `eq .A .B`",
    "=": "compare with `eq`: `eq .A .B`; a variable is assigned with spaces around `=`",
    "!": "`!=` is `ne .A .B`, and not is `not .A`",
    "+": "templates have no arithmetic",
    "-": "templates have no arithmetic; a trim marker is ` -}}`, with a space before it",
    "<": "compare with `lt` and `le`: `lt .A .B`",
    ">": "compare with `gt` and `ge`: `gt .A .B`",
    "&": "write `and .A .B`",
    "|": "write `or .A .B`; a single `|` passes a value to a function",
    "[": 'elements are taken with `index`: `index .Messages 0`, `index $map "key"`',
    "{": "a single action has two braces on each side",
    "%": "`{% … %}` is Jinja; Go's actions are `{{ if … }}`, `{{ range … }}`",
    "(": "arguments follow a function with spaces between: `eq .A .B`",
    ",": "arguments are separated by spaces",
}


def _advice(text: str) -> str | None:
    return _ADVICE.get(text) or _ADVICE.get(text[:1])
