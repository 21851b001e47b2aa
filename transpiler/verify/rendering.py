"""What a template makes of one chat: a text, or a refusal. Knows no engine and no oracle."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rendering"]


@dataclass(frozen=True, slots=True)
class Rendering:
    """A text, or None and the words of the error.

    `phase` says where Ollama gave up: "request" (its server refuses the chat before any template is run) or "execute"
    (the template failed on it). It is empty for a text and for a refusal by a Jinja engine.
    """

    text: str | None
    error: str | None = None
    phase: str = ""

    @property
    def refused(self) -> bool:
        """Whether there is no text."""
        return self.text is None
