"""Text with a name, and places in it. Knows nothing of Go, Jinja or files.

A place is one integer, the offset of a character; lines and columns are worked out when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """The characters `start` up to but not including `end` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Position:
    """A line and a column, both counted from 1; columns are characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name that messages give it.

    `origin` is set for a template that stands inside another text, a Modelfile say: `(outer, offset)`, where the
    template's character `i` is the outer text's character `offset + i`. Messages then point into the outer text.
    Where characters of the outer text were left out, `gaps` says so: `(i, n)` for each place, in order; before the
    template's character `i` lie `n` characters, of this place and of all before it, that the template has not got.
    """

    text: str
    name: str = "<template>"
    origin: tuple[Source, int] | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    _line_starts: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def position(self, offset: int) -> Position:
        """The line and column of a character of this text (the end of the text counts as one)."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of line `number`, counted from 1, without its line end."""
        starts = self._starts()
        begin = starts[number - 1]
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[begin:end].rstrip("\r\n")

    def outermost(self, span: Span) -> tuple[Source, Span]:
        """The text that a user has in hand, and where in it `span` stands."""
        if self.origin is None:
            return self, span
        outer, offset = self.origin
        start = offset + self._shifted(span.start)
        # The end lies behind the last character: what was left out after that doesn't belong to the place.
        end = offset + self._shifted(span.end - 1) + 1 if span.end > span.start else start
        return outer.outermost(Span(start, end))

    def _shifted(self, at: int) -> int:
        before = bisect_right(self.gaps, at, key=lambda gap: gap[0])
        return at + self.gaps[before - 1][1] if before else at

    def _starts(self) -> list[int]:
        starts = self._line_starts
        if not starts:
            starts.append(0)
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
        return starts
