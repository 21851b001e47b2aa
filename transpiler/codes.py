"""What a diagnostic code stands for; each room has a table of its own codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """The title of a code, and the explanation that `gotmpl2jinja explain` prints."""

    title: str
    explanation: str
