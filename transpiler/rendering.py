"""Draws diagnostics for people and for programs. The only module that knows about gutters, carets and colours."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from transpiler.diagnostics import Diagnostic, Severity
from transpiler.source import Source, Span

__all__ = ["FORMATS", "render"]

_TAB = 4
_WIDTH = 100  # columns of source text that are shown of a long line
_CUT = "…"

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BLUE = "\x1b[1;34m"
_COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(diagnostics: Iterable[Diagnostic], format: str = "full", *, colour: bool = False) -> str:  # noqa: A002
    """Return `diagnostics` as text, in one of `FORMATS`; empty where there are none. Only `full` has colours."""
    if format == "full":
        return "\n".join(_full(diagnostic, _Paint(colour)) for diagnostic in diagnostics)
    return "".join(FORMATS[format](diagnostic) for diagnostic in diagnostics)


@dataclass(frozen=True, slots=True)
class _Paint:
    """Puts a colour around a text, or doesn't."""

    colour: bool

    def __call__(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self.colour and text else text


@dataclass(frozen=True, slots=True)
class _Place:
    """A span of the outermost text, with what is written under it."""

    span: Span
    mark: str
    text: str


def _full(diagnostic: Diagnostic, paint: _Paint) -> str:
    """The picture: message, place, the lines with carets, help."""
    colour = _COLOURS[diagnostic.severity]
    title = paint(f"{diagnostic.severity.value}[{diagnostic.code}]", colour)
    out = [f"{title}{paint(f': {_plain(diagnostic.message)}', _BOLD)}"]
    if diagnostic.span is None:
        out.append(f"{paint('-->', _BLUE)} {_place(diagnostic)}")
    else:
        out += _excerpt(diagnostic, paint)
    if diagnostic.help is not None:
        out.append(f"{paint('help', _BOLD)}: {_plain(diagnostic.help)}")
    return "".join(line + "\n" for line in out)


def _excerpt(diagnostic: Diagnostic, paint: _Paint) -> Iterator[str]:
    assert diagnostic.span is not None
    colour = _COLOURS[diagnostic.severity]
    source, span = diagnostic.source.outermost(diagnostic.span)
    places = [_Place(span, "^", diagnostic.label)]
    places += (_Place(diagnostic.source.outermost(label.span)[1], "-", label.text) for label in diagnostic.labels)
    lines: dict[int, list[_Place]] = {}
    for place in sorted(places, key=lambda p: p.span):
        lines.setdefault(source.position(place.span.start).line, []).append(place)
    gutter = len(str(max(lines)))
    bar = paint("|", _BLUE)
    yield f"{' ' * gutter}{paint('-->', _BLUE)} {_place(diagnostic)}"
    yield f"{' ' * gutter} {bar}"
    previous = None
    for number, on_line in lines.items():
        if previous is not None and number > previous + 1:
            yield paint("...", _BLUE)
        previous = number
        shown = _shown(source, number, on_line)
        yield f"{paint(f'{number:>{gutter}}', _BLUE)} {bar} {shown.text}".rstrip()
        for place in on_line:
            at, width = shown.columns(place.span)
            marks = f"{place.mark * width} {_plain(place.text)}".rstrip()
            yield f"{' ' * gutter} {bar} {' ' * at}{paint(marks, colour if place.mark == '^' else _BLUE)}"
    if diagnostic.help is not None:
        yield f"{' ' * gutter} {bar}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """The part of a line that is shown: `text`, and where each of its characters begins (`at`, one more for the end).

    `first` is the offset in the source of the first character that is shown.
    """

    text: str
    at: tuple[int, ...]
    first: int

    def columns(self, span: Span) -> tuple[int, int]:
        """Where `span` begins and how wide it is; what is outside of the shown part counts as its edge."""
        last = len(self.at) - 1
        start, end = (self.at[min(max(offset - self.first, 0), last)] for offset in (span.start, span.end))
        return start, max(end - start, 1)


def _shown(source: Source, number: int, places: list[_Place]) -> _Shown:
    """Cut the line around its main place, then write it out with its characters' widths."""
    line = source.line(number)
    focus = min(places, key=lambda place: place.mark == "-").span
    begin = focus.start - source.position(focus.start).column + 1
    low, high = 0, len(line)
    if high > _WIDTH:
        middle = focus.start - begin + min(focus.end - focus.start, _WIDTH // 2) // 2
        low = max(0, min(middle - _WIDTH // 2, high - _WIDTH))
        high = low + _WIDTH
    text = _CUT if low else ""
    column = len(text)
    at = []
    for character in line[low:high]:
        at.append(column)
        written = " " * (_TAB - column % _TAB) if character == "\t" else _plain(character)
        text += written
        column += sum(map(_width, written))
    at.append(column)
    return _Shown(text + (_CUT if high < len(line) else ""), tuple(at), begin + low)


def _width(character: str) -> int:
    """The columns that a terminal gives a character."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _plain(text: str) -> str:
    """A text without control characters: a template must not move the cursor of who looks at its mistakes."""
    if text.isprintable():
        return text
    return "".join(
        chr(0x2400 + ord(c)) if c < " " else "\ufffd" if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c
        for c in text
    )


def _place(diagnostic: Diagnostic) -> str:
    """`name:line:column`, or the name alone."""
    if diagnostic.span is None:
        return _plain(_outer_name(diagnostic.source))
    source, span = diagnostic.source.outermost(diagnostic.span)
    position = source.position(span.start)
    return f"{_plain(source.name)}:{position.line}:{position.column}"


def _outer_name(source: Source) -> str:
    return source.outermost(Span(0, 0))[0].name


def _concise(diagnostic: Diagnostic) -> str:
    """One line: `mimo.gotmpl:78:5: warning[GT401] message`."""
    head = f"{_place(diagnostic)}: {diagnostic.severity.value}[{diagnostic.code}]"
    return f"{head} {_plain(diagnostic.message)}\n"


def _spot(source: Source, span: Span) -> dict[str, object]:
    outer, span = source.outermost(span)
    start, end = outer.position(span.start), outer.position(span.end)
    return {"line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column}


def _json(diagnostic: Diagnostic) -> str:
    """One JSON object on a line; lines and columns count from 1, ends are exclusive."""
    source = diagnostic.source
    found: dict[str, object] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": _outer_name(source),
    }
    if diagnostic.span is not None:
        found |= _spot(source, diagnostic.span)
    found["label"] = diagnostic.label
    found["labels"] = [{**_spot(source, label.span), "text": label.text} for label in diagnostic.labels]
    found["help"] = diagnostic.help
    import json  # only this form needs it

    return json.dumps(found, ensure_ascii=False) + "\n"


def _github(diagnostic: Diagnostic) -> str:
    """A workflow command of GitHub Actions, which shows the message beside the line."""
    properties = {"file": _outer_name(diagnostic.source)}
    if diagnostic.span is not None:
        spot = _spot(diagnostic.source, diagnostic.span)
        properties |= {"line": str(spot["line"]), "col": str(spot["column"]), "endLine": str(spot["end_line"])}
    properties["title"] = diagnostic.code
    listed = ",".join(f"{key}={_escaped(value, ',:')}" for key, value in properties.items())
    message = diagnostic.message if diagnostic.help is None else f"{diagnostic.message}\nhelp: {diagnostic.help}"
    return f"::{_GITHUB[diagnostic.severity]} {listed}::{_escaped(message)}\n"


def _escaped(text: str, also: str = "") -> str:
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: Mapping[str, Callable[[Diagnostic], str]] = {
    "full": lambda diagnostic: _full(diagnostic, _Paint(False)),
    "concise": _concise,
    "json": _json,
    "github": _github,
}
"""The formats by name, each a function that draws one diagnostic."""
