"""The grammar of Modelfiles: from the text to commands, each with its value and the places of both.

Accepts and refuses what `parser.ParseFile` of Ollama 0.34 does, and gives the same values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.ollama.printable import unprintable
from transpiler.source import Source, Span

KEYWORDS = (
    "from",
    "template",
    "system",
    "message",
    "parameter",
    "adapter",
    "license",
    "renderer",
    "parser",
    "requires",
    "draft",
)
ROLES = ("system", "user", "assistant")

_BLANKS = " \t\r\n"
_NEWLINE = re.compile(r"[\r\n]")
_LETTERS = re.compile(r"[A-Za-z]*")
_PARAMETER = re.compile(r"[A-Za-z0-9_]*")
_WORD = re.compile(r"[^ \t\r\n]+")


@dataclass(frozen=True, slots=True)
class Command:
    """`PARAMETER stop "</s>"`: keyword `parameter`, qualifier `stop`, value `</s>`.

    The qualifier is the name of a PARAMETER or the role of a MESSAGE, else empty. The value is a text of its own that
    knows where it stands in the Modelfile. `dropped` are the characters that Ollama left out of it.
    """

    keyword: str
    qualifier: str
    value: Source
    span: Span
    dropped: tuple[int, ...] = ()


def commands(source: Source) -> Iterator[Command]:
    """The commands of a Modelfile, in order.

    Raises TemplateError at the first place that Ollama refuses (GT151, GT152, GT153, GT155), as Ollama stops there.
    """
    text = source.text
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in _BLANKS:
            at += 1
        if at == end:
            return
        if text[at] == "#":
            at = _line_end(text, at)
            continue
        keyword, word_end = _keyword(source, at)
        qualifier, value_start = _qualifier(source, keyword, word_end + 1)
        value_end = _value_end(source, value_start)
        value, dropped = _value(source, value_start, value_end)
        yield Command(keyword, qualifier, value, Span(at, value_end), dropped)
        at = value_end


def _keyword(source: Source, at: int) -> tuple[str, int]:
    """A command's first word, and where it ends: at a space or a tab."""
    text = source.text
    # Any sign may begin a word; one that isn't printable is passed over.
    match = _LETTERS.match(text, at + 1)
    end = match.end() if match else at + 1
    word = text[at + len(unprintable(text, at, at + 1)) : end]
    if end == len(text):
        raise _refused("GT155", source, Span(at, end), f"the Modelfile ends after {_shown(word)}")
    if text[end] in " \t" and word.lower() in KEYWORDS:
        return word.lower(), end
    if text[end] in "\r\n" and word.lower() in KEYWORDS:
        raise _refused("GT151", source, Span(at, end), f"{word} without a value", f"`{word} …`, on one line")
    found = _WORD.match(text, at)
    span = Span(at, found.end() if found else end)
    raise _refused("GT151", source, span, f"{_shown(text[span.start : span.end])} is no command", _advice(word))


def _qualifier(source: Source, keyword: str, at: int) -> tuple[str, int]:
    """The name of a PARAMETER or the role of a MESSAGE, and where the value begins."""
    if keyword not in ("parameter", "message"):
        return "", at
    text = source.text
    match = (_PARAMETER if keyword == "parameter" else _LETTERS).match(text, at)
    end = match.end() if match else at
    what = "the name of a parameter" if keyword == "parameter" else "the role of a message"
    if end == len(text):
        raise _refused("GT155", source, Span(at, end), f"the Modelfile ends in {what}")
    if text[end] not in " \t":
        span = Span(at, end + 1)
        if text[end] in "\r\n":
            raise _refused("GT155", source, span, f"{what} without a value", "name and value stand on one line")
        raise _refused("GT155", source, span, f"{_shown(text[end])} in {what}")
    word = text[at:end]
    if keyword == "message" and word not in ROLES:
        message = f"{_shown(word)} is no role of a message" if word else "a message has no role"
        help = "system, user or assistant, in lower case, one space behind MESSAGE"
        raise _refused("GT152", source, Span(at, max(end, at + 1)), message, help)
    return word, end + 1


def _value_end(source: Source, start: int) -> int:
    """Where the value that begins at `start` ends: at the first line end that isn't inside quotes."""
    text = source.text
    line_start, line_end = start, _line_end(text, start)
    first = _kept(text, line_start, line_end).strip(_BLANKS)
    if not first.startswith('"'):
        return line_end
    quotes = '"""' if first.startswith('"""') else '"'
    closed = len(first) >= 2 * len(quotes) and first.endswith(quotes)
    while not closed:
        if line_end == len(text):
            opening = Span(text.index('"', start), text.index('"', start) + 1)
            help = f"close it with `{quotes}` at the end of a line, nothing behind it"
            raise _refused("GT153", source, opening, "a value in quotes that isn't closed", help)
        line_start, line_end = line_end + 1, _line_end(text, line_end + 1)
        closed = _kept(text, line_start, line_end).rstrip(_BLANKS).endswith(quotes)
    return line_end


def _value(source: Source, start: int, end: int) -> tuple[Source, tuple[int, ...]]:
    """The value between two places: without what isn't printable, without space around it, without its quotes."""
    text = source.text
    dropped = unprintable(text, start, end)
    left_out = frozenset(dropped)
    kept = range(start, end) if not dropped else [at for at in range(start, end) if at not in left_out]
    value = _kept(text, start, end)
    first = len(value) - len(value.lstrip(_BLANKS))
    last = len(value.rstrip(_BLANKS))
    if value.startswith('"""', first):
        first, last = first + 3, last - 3
    elif value.startswith('"', first):
        first, last = first + 1, last - 1
    if first >= last:
        return Source("", source.name, (source, kept[first] if first < len(kept) else end)), ()
    origin = kept[first]
    inside = tuple(at for at in dropped if origin < at <= kept[last - 1])
    gaps = tuple((at - origin - n, n + 1) for n, at in enumerate(inside))
    return Source(value[first:last], source.name, (source, origin), gaps), inside


def _kept(text: str, start: int, end: int) -> str:
    dropped = unprintable(text, start, end)
    if not dropped:
        return text[start:end]
    left_out = frozenset(dropped)
    return "".join(text[at] for at in range(start, end) if at not in left_out)


def _line_end(text: str, at: int) -> int:
    match = _NEWLINE.search(text, at)
    return match.start() if match else len(text)


def _advice(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), KEYWORDS, 1)
    if near:
        return f"perhaps {near[0].upper()}"
    return 'a value of several lines stands in `"""`; its end is the end of a line'


def _shown(word: str) -> str:
    return f"`{word if len(word) <= 30 else word[:30] + '…'}`"


def _refused(code: str, source: Source, span: Span, message: str, help: str | None = None) -> TemplateError:
    return TemplateError((Diagnostic(code, Severity.ERROR, message, source, span, help=help),))
