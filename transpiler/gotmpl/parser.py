"""The parser: piece by piece by the grammar, blocks folded with a stack, all errors of a file at once.

Trees and verdicts are those of Go's `text/template/parse`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.gotmpl.ast import (
    Action,
    Block,
    Break,
    Comment,
    Continue,
    Define,
    If,
    Pipeline,
    Range,
    Statement,
    Template,
    TemplateCall,
    Text,
    With,
)
from transpiler.gotmpl.expressions import Expressions
from transpiler.gotmpl.grammar import MOST_PARENTHESES, piece
from transpiler.gotmpl.literals import LiteralError, unquote
from transpiler.gotmpl.variables import Variables
from transpiler.source import Source, Span

if TYPE_CHECKING:
    from parsimonious.nodes import Node as ParseNode

    from transpiler.gotmpl.syntax_errors import Problem

LARGEST = 4 << 20
MOST_BLOCKS = 90
MOST_LOOPS = 20
MOST_ARMS = 150
MOST_ERRORS = 100
# Parentheses and strings in one action.
MOST_TOKENS = 10_000
_SPACE = " \t\r\n"
_GO_SPACE = " \t\r\n\v\f\x85\xa0"
_NEXT_ACTION = re.compile(r"\}\}|(?=\{\{)")
_NESTING = re.compile(r"[()]|\}\}|\"(?:\\[^\n]|[^\"\\\n])*\"|'(?:\\[^\n]|[^'\\\n])*'|`[^`]*`")
_DECLARED = re.compile(r"(\$\w+)[ \t\r\n]*(?::=|,)")
_OPENING = re.compile(r"\{\{(?:-[ \t\r\n])?[ \t\r\n]*(if|range|with|define|block|else|end)\b")


def parse(source: Source, functions: Collection[str]) -> Template:
    """The tree of a template in which `functions` may be called.

    Raises TemplateError with all errors of the text (the first hundred).
    """
    size = len(source.text.encode("utf-8", "surrogatepass"))
    if size > LARGEST:
        message = f"the template is too large: {size:,} bytes of at most {LARGEST:,}"
        raise TemplateError((Diagnostic("GT901", Severity.ERROR, message, source, Span(0, 0)),))
    return _Parser(source, functions).template()


@dataclass(slots=True)
class _Frame:
    """A block that is open: what opened it, its arms so far, and how many variables were declared outside."""

    word: str
    start: int
    pipe: Pipeline | None = None
    name: str = ""
    chained: bool = False
    body: list[Statement] = field(default_factory=list)
    orelse: list[Statement] | None = None
    mark: int = 0
    outside: Variables | None = None

    def append(self, stmt: Statement) -> None:
        (self.body if self.orelse is None else self.orelse).append(stmt)


class _TooMany(Exception):
    """Nothing more needs to be read."""


class _Parser:
    def __init__(self, source: Source, functions: Collection[str]) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []
        self.expressions = Expressions(functions, self.report)
        self.frames = [_Frame("template", 0)]
        self.defines: dict[str, Define] = {}
        self.calls: list[TemplateCall] = []
        # The text ends in an action that could not be read: what is open there says nothing.
        self.unfinished = False

    def report(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.errors.append(Diagnostic(code, Severity.ERROR, message, self.source, span, help=help))
        if len(self.errors) >= MOST_ERRORS:
            raise _TooMany

    # -- pieces --------------------------------------------------------------------------------------------------

    def template(self) -> Template:
        with suppress(_TooMany):
            self.read()
        if self.errors:
            raise TemplateError(tuple(sorted(self.errors, key=lambda e: e.span or Span(0, 0))))
        end = len(self.source.text)
        return Template(tuple(self.frames[0].body), tuple(self.defines.values()), span=Span(0, end))

    def read(self) -> None:
        trim = False
        pending: ParseNode | None = None
        for node in self.pieces():
            kind = node.expr_name
            if kind == "text":
                pending = node
                continue
            if kind == "comment":
                left, right = node.match["left"], node.match["right"]
            else:
                opening, _, closing = node.children
                left, right = opening.match["trim"], closing.match["trim"]
            if pending is not None:
                self.text(pending, trim_left=trim, trim_right=bool(left))
                pending = None
            trim = bool(right)
            if kind == "comment":
                self.frames[-1].append(Comment(node.match["text"], span=Span(node.start, node.end)))
            else:
                self.statement(node)
        if pending is not None:
            self.text(pending, trim_left=trim, trim_right=False)
        self.finish()

    def pieces(self) -> Iterator[ParseNode]:
        """The parse trees of the text's pieces; where the grammar knows none, an error, and on with the next."""
        from parsimonious.exceptions import ParseError

        text, rule = self.source.text, piece()
        at, end = 0, len(text)
        while at < end:
            node = None
            deep = self.too_deep(at)
            if not deep:
                node = rule.match_core(text, at, defaultdict(dict), ParseError(text, -1, None))
            if node is not None:
                yield node.children[0]
                at = node.end
                continue
            self.explain(at, deep=deep)
            self.stand_in(at)
            following = _NEXT_ACTION.search(text, at + 2)
            self.unfinished = following is None
            at = following.end() if following is not None else end

    def too_deep(self, at: int) -> bool:
        """Whether an action is none, or has so many parentheses or strings, that the grammar is better not asked."""
        text = self.source.text
        if not text.startswith("{{", at):
            return False
        end = text.find("}}", at)
        if end < 0:
            return True  # nothing closes it: there is nothing for the grammar to read
        if text.count("(", at, end) <= MOST_PARENTHESES and not any(q in text[at:end] for q in "\"'`"):
            return False
        depth = 0
        for token in islice(_NESTING.finditer(text, at), MOST_TOKENS):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if depth > MOST_PARENTHESES:
                return True
            if token[0] == "}}":
                return False
        return True

    def explain(self, at: int, *, deep: bool) -> None:
        problem = self.problem(at)
        if problem is None and deep:
            message = f"more than {MOST_TOKENS:,} parentheses and strings in one action"
            self.report("GT902", message, Span(at, at + 2))
        elif problem is None:
            self.report("GT101", "unexpected action", Span(at, at + 2))
        else:
            self.report(problem.code, problem.message, problem.span, problem.help)

    def problem(self, at: int) -> Problem | None:
        # What is wrong with an action is asked of few templates: its module is loaded then.
        from transpiler.gotmpl.syntax_errors import explain

        return explain(self.source.text, at)

    def stand_in(self, at: int) -> None:
        """For an action that couldn't be read: open or close what it opens or closes, so that the rest is judged."""
        text = self.source.text
        closing = text.find("}}", at, at + 1_000)
        for name in _DECLARED.findall(text, at, closing if closing >= 0 else at + 1_000):
            self.expressions.variables.declare(name)
        opening = _OPENING.match(text, at)
        if opening is None:
            return
        word = opening[1]
        if word == "end" and len(self.frames) > 1:
            self.end(Span(at, at + 2))
        elif word not in ("end", "else"):
            self.push(_Frame(word, at, mark=self.expressions.variables.mark()))

    def text(self, node: ParseNode, *, trim_left: bool, trim_right: bool) -> None:
        text, start, end = node.text, node.start, node.end
        if trim_left:
            start = end - len(text.lstrip(_SPACE))
        if trim_right:
            end -= len(text) - len(text.rstrip(_SPACE))
        if start < end:
            self.frames[-1].append(Text(self.source.text[start:end], span=Span(start, end)))

    # -- statements ----------------------------------------------------------------------------------------------

    def statement(self, action: ParseNode) -> None:
        span = Span(action.start, action.end)
        node = action.children[1].children[0]
        word = node.expr_name
        match word:
            case "pipeline":
                if not self.misplaced(action, node):
                    self.frames[-1].append(Action(self.expressions.pipeline(node, "command"), span=span))
            case "if" | "with":
                self.open(word, span, node.children[2], None)
            case "range":
                pair = node.children[2].children
                self.open(word, span, node.children[3], pair[0] if pair else None)
            case "else":
                self.otherwise(node, span)
            case "end":
                self.end(span)
            case "break" | "continue":
                if not any(frame.word == "range" and frame.orelse is None for frame in self.enclosing()):
                    self.report("GT110", f"{{{{{word}}}}} outside {{{{range}}}}", span)
                self.frames[-1].append(Break(span=span) if word == "break" else Continue(span=span))
            case "template":
                argument = node.children[3].children
                pipe = self.expressions.pipeline(argument[0].children[1], "template clause") if argument else None
                call = TemplateCall(self.name(node.children[2]), pipe, span=span)
                self.calls.append(call)
                self.frames[-1].append(call)
            case "define":
                self.define(node, span)
            case _:
                pipe = self.expressions.pipeline(node.children[4], "block clause")
                self.define_in(_Frame("block", span.start, pipe, self.name(node.children[2])))

    def misplaced(self, action: ParseNode, node: ParseNode) -> bool:
        """Report a keyword that is followed by something else, as in `{{ end if }}`."""
        text = self.source.text[node.start : node.end]
        if not re.match(r"(?:end|else|if|range|with|define|block|template|break|continue)\b(?!\.)", text):
            return False
        problem = self.problem(action.start)
        if problem is None:
            return False
        self.report(problem.code, problem.message, problem.span, problem.help)
        self.stand_in(action.start)
        return True

    def enclosing(self) -> Iterator[_Frame]:
        """The open blocks, from the inside, up to the template or definition that they belong to."""
        for frame in reversed(self.frames):
            if frame.word in ("define", "block", "template"):
                return
            yield frame

    def name(self, node: ParseNode) -> str:
        try:
            return unquote(node.text)
        except LiteralError as error:
            self.report("GT107", str(error), Span(node.start, node.end))
            return ""

    def open(self, word: str, span: Span, node: ParseNode, pair: ParseNode | None, *, chained: bool = False) -> None:
        mark = self.expressions.variables.mark()
        pipe = self.expressions.pipeline(node, word, pair)
        self.push(_Frame(word, span.start, pipe, chained=chained, mark=mark))

    def define_in(self, frame: _Frame) -> None:
        """A definition: it knows none of the variables around it."""
        frame.outside = self.expressions.variables
        self.expressions.variables = Variables()
        self.push(frame)

    def push(self, frame: _Frame) -> None:
        self.frames.append(frame)
        deep = sum(not f.chained for f in self.frames) - 1
        loops = sum(f.word == "range" for f in self.frames)
        if len(self.frames) > MOST_ARMS or deep > MOST_BLOCKS:
            limit = f"{MOST_BLOCKS} blocks in each other" if deep > MOST_BLOCKS else f"{MOST_ARMS} arms of ifs"
            self.report("GT902", f"more than {limit}", Span(frame.start, frame.start + 2))
            raise _TooMany
        if loops > MOST_LOOPS:
            self.report("GT902", f"more than {MOST_LOOPS} loops in each other", Span(frame.start, frame.start + 2))
            raise _TooMany

    def otherwise(self, node: ParseNode, span: Span) -> None:
        frame = self.frames[-1]
        if frame.word not in ("if", "range", "with"):
            where = f" in {frame.word} clause" if frame.word in ("define", "block") else ""
            self.report("GT106", f"unexpected {{{{else}}}}{where}", span, "there is no if, range or with to belong to")
            return
        if frame.orelse is not None:
            self.report("GT106", "expected end; found {{else}}", span, "a block has one `{{ else }}`")
            return
        frame.orelse = []
        if not node.children[1].children:
            return
        _, word, _, pipeline = node.children[1].children[0].children
        if word.text != frame.word:
            help = f"`else {word.text}` belongs to {word.text}; write `{{{{ else }}}}{{{{ {word.text} … }}}}`"
            self.report("GT101", f"unexpected <{word.text}> in input", Span(word.start, word.end), help)
            return
        self.open(word.text, span, pipeline, None, chained=True)

    def end(self, span: Span) -> None:
        if len(self.frames) == 1:
            self.report("GT106", "unexpected {{end}}", span, "there is no block to end")
            return
        chained = True
        while chained:
            frame = self.frames.pop()
            chained = frame.chained
            if frame.outside is not None:
                self.expressions.variables = frame.outside
            else:
                self.expressions.variables.forget_since(frame.mark)
            self.close(frame, Span(frame.start, span.end))

    def close(self, frame: _Frame, span: Span) -> None:
        body: Block = tuple(frame.body)
        orelse: Block | None = tuple(frame.orelse) if frame.orelse is not None else None
        outer = self.frames[-1]
        if frame.pipe is None and frame.word not in ("define",):
            return  # a stand-in
        match frame.word:
            case "if" if frame.pipe is not None:
                outer.append(If(frame.pipe, body, orelse, span=span))
            case "range" if frame.pipe is not None:
                outer.append(Range(frame.pipe, body, orelse, span=span))
            case "with" if frame.pipe is not None:
                outer.append(With(frame.pipe, body, orelse, span=span))
            case _:
                self.add(Define(frame.name, body, span=span))
                if frame.word == "block":
                    outer.append(TemplateCall(frame.name, frame.pipe, span=span))

    def define(self, node: ParseNode, span: Span) -> None:
        if len(self.frames) > 1:
            help = "a definition stands on the top level"
            self.report("GT101", "unexpected <define> in command", span, help)
        self.define_in(_Frame("define", span.start, name=self.name(node.children[2])))

    def add(self, define: Define) -> None:
        known = self.defines.get(define.name)
        if known is not None and not _is_blank(known.body):
            if not _is_blank(define.body):
                message = f'template: multiple definition of template "{define.name}"'
                self.report("GT111", message, define.span)
            return
        self.defines[define.name] = define

    def finish(self) -> None:
        """What can only be said at the end of the text."""
        if len(self.frames) > 1 and not self.unfinished:
            frame = self.frames[-1]
            start = Span(frame.start, frame.start + 2)
            self.report("GT106", "unexpected EOF", start, f"this {frame.word} has no `{{{{ end }}}}`")
        for call in self.calls:
            if call.name not in self.defines:
                self.report("GT201", f'template "{call.name}" not defined', call.span)


def _is_blank(block: Block) -> bool:
    """Whether a definition is empty but for space and comments: Go lets another one replace it."""
    return all(isinstance(s, Comment) or (isinstance(s, Text) and not s.text.strip(_GO_SPACE)) for s in block)
