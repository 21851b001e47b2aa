"""Changes to a Go template's text: repairs are edits of the source, so that Ollama can run the result too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from transpiler.source import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` where `span` is."""

    span: Span
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` after all edits; they may not overlap."""
    out: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: e.span):
        out += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    return "".join((*out, text[at:]))
