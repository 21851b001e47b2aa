"""From the grammar's parse tree to pipelines, commands and operands; finds names that aren't there on the way."""

from __future__ import annotations

from collections.abc import Callable, Collection
from re import Match
from typing import TYPE_CHECKING

from transpiler.gotmpl.ast import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipeline,
    String,
    Variable,
)
from transpiler.gotmpl.literals import LiteralError, character, number, unquote
from transpiler.gotmpl.variables import Variables
from transpiler.source import Span

if TYPE_CHECKING:
    from parsimonious.nodes import Node as ParseNode

# A problem: code, Go's words, place, help.
Report = Callable[[str, str, Span, str | None], None]
_KEYWORDS = frozenset("block break continue define else end if range template with".split())  # noqa: SIM905
_CONSTANTS = {"true": True, "false": False}


class Expressions:
    """Builds pipelines; `variables` are those declared so far."""

    def __init__(self, functions: Collection[str], report: Report) -> None:
        self.functions = functions
        self.report = report
        self.variables = Variables()

    def pipeline(self, node: ParseNode, context: str, pair: ParseNode | None = None) -> Pipeline:
        """`pipeline`; `pair` is what a range may have before it: `$i, ` or `$i, $m := `."""
        declaration, first, stages, _ = node.children
        decls: list[Variable] = []
        assign = False
        if pair is not None:
            variable, _, second = pair.children
            decls.append(self._declare(variable))
            if second.children:
                other, _, sign, _ = second.children[0].children
                decls.append(self._declare(other))
                assign = sign.text == "="
        if declaration.children:
            variable, _, sign, _ = declaration.children[0].children
            decls.append(self._declare(variable))
            assign = sign.text == "="
        cmds = [self._command(first)]
        for stage in stages.children:
            cmds.append(self._command(stage.children[1]))
        for n, cmd in enumerate(cmds[1:], 2):
            if isinstance(cmd.args[0], Bool | Dot | Nil | Number | String):
                message = f"non executable command in pipeline stage {n}"
                self.report("GT108", message, cmd.args[0].span, "behind `|` stands a function, such as json")
        start = pair.start if pair is not None else node.start
        return Pipeline(tuple(decls), assign, tuple(cmds), span=Span(start, cmds[-1].span.end))

    def _declare(self, node: ParseNode) -> Variable:
        self.variables.declare(node.text)
        return Variable(node.text, span=Span(node.start, node.end))

    def _command(self, node: ParseNode) -> Command:
        first, others = node.children
        args = [self._operand(first)]
        for other in others.children:
            args.append(self._operand(other.children[1]))
        return Command(tuple(args), span=Span(node.start, args[-1].span.end))

    def _operand(self, node: ParseNode) -> Operand:
        node = node.children[0]
        if node.expr_name == "simple":
            return self._simple(node)
        _, _, inner, _, _, fields = node.children
        pipe = self.pipeline(inner, "parenthesized pipeline")
        if not fields.children:
            return Pipeline(pipe.decls, pipe.assign, pipe.cmds, span=Span(node.start, node.end))
        names = tuple(fields.children[0].text[1:].split("."))
        return Chain(pipe, names, span=Span(node.start, node.end))

    def _simple(self, node: ParseNode) -> Operand:
        match: Match[str] = node.match
        span = Span(node.start, node.end)
        if match["field"] is not None:
            return Field(tuple(node.text[1:].split(".")), span=span)
        if match["variable"] is not None:
            name, *names = node.text.split(".")
            if name not in self.variables:
                place = Span(node.start, node.start + len(name))
                self.report("GT103", f'undefined variable "{name}"', place, _undeclared(name))
            return Variable(name, tuple(names), span=span)
        if match["word"] is not None:
            return self._word(node, span)
        operand = self._literal(match, span)
        if match["after"]:
            place = Span(node.end - len(match["after"]), node.end)
            self.report("GT101", f"unexpected . after term {_as_go(operand)}", place, "only values have fields")
        return operand

    def _word(self, node: ParseNode, span: Span) -> Operand:
        word, *names = node.text.split(".")
        place = Span(node.start, node.start + len(word))
        if word in _KEYWORDS:
            self.report("GT101", f"unexpected <{word}> in operand", place, _keyword_help(word))
        if word in _CONSTANTS or word == "nil":
            if names:
                self.report("GT101", f'unexpected . after term "{word}"', Span(place.end, node.end), None)
            return Bool(_CONSTANTS[word], span=span) if word in _CONSTANTS else Nil(span=span)
        if word not in self.functions and word not in _KEYWORDS:
            self.report("GT104", f'function "{word}" not defined', place, _function_help(word))
        function = Identifier(word, span=place)
        return Chain(function, tuple(names), span=span) if names else function

    def _literal(self, match: Match[str], span: Span) -> Operand:
        try:
            if match["string"] is not None:
                return String(match["string"], unquote(match["string"]), span=span)
            if match["number"] is not None:
                return Number(match["number"], number(match["number"]), span=span)
            if match["char"] is not None:
                return Number(match["char"], character(match["char"]), span=span)
        except LiteralError as error:
            self.report("GT107", str(error), span, _literal_help(match))
            return Nil(span=span)
        return Dot(span=span)


def _undeclared(name: str) -> str:
    return f"declare it before: `{{{{ {name} := … }}}}`; a variable ends with the block that it was declared in"


def _keyword_help(word: str) -> str:
    return f"`{word}` opens an action of its own: `{{{{ {word} … }}}}`"


def _function_help(word: str) -> str | None:
    others = {
        "equal": "eq",
        "equals": "eq",
        "is": "eq",
        "length": "len",
        "tojson": "json",
        "toJson": "json",
        "in": "eq",
    }
    if word in others:
        return f"Go's name for it is `{others[word]}`"
    return f"a field is written with a dot: `.{word}`" if word[:1].isupper() else None


def _literal_help(match: Match[str]) -> str | None:
    return "text stands in double quotes; single quotes hold one character" if match["char"] is not None else None


def _as_go(operand: Operand) -> str:
    match operand:
        case String(quoted):
            return _quote(quoted)
        case Number(text):
            return _quote(text)
        case Dot():
            return '"."'
        case _:
            return '"nil"'


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
