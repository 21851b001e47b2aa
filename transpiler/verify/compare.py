"""Ollama's renderings of a Go template against a Jinja template's, chat by chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from transpiler.verify.chats import Chat, to_jinja_context, to_ollama
from transpiler.verify.engines.base import FIXED_DAY
from transpiler.verify.oracle import Oracle
from transpiler.verify.render import ReferenceTemplate
from transpiler.verify.rendering import Rendering

__all__ = ["Difference", "agree", "compare", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A chat on which the two disagree."""

    chat: Chat
    expected: Rendering
    actual: Rendering

    def __str__(self) -> str:
        return f"{self.chat.name}: {explain(self.expected, self.actual)}"


def agree(expected: Rendering, actual: Rendering) -> bool:
    """Equal texts, or two refusals, whatever their words."""
    return expected.text == actual.text


def explain(expected: Rendering, actual: Rendering) -> str:
    """Where two renderings part, for people: the words of a refusal, or both texts from a little before that place."""
    if expected.text is None:
        return f"Ollama refuses ({expected.error}), the output prints {_excerpt(actual.text or '', 0)}"
    if actual.text is None:
        return f"the output refuses ({actual.error}), Ollama prints {_excerpt(expected.text, 0)}"
    pairs = zip(expected.text, actual.text, strict=False)
    shorter = min(len(expected.text), len(actual.text))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    return f"at character {at}\n  Ollama: {_excerpt(expected.text, at)}\n  output: {_excerpt(actual.text, at)}"


def differences(chats: Sequence[Chat], expected: Sequence[Rendering], template: ReferenceTemplate) -> list[Difference]:
    """The chats on which the Jinja template disagrees with what is expected.

    A chat that Ollama's server refuses before it runs any template says nothing about the template and is passed over.
    """
    found = []
    for chat, wanted in zip(chats, expected, strict=True):
        if wanted.phase == "request":
            continue
        actual = template.render(to_jinja_context(chat))
        if not agree(wanted, actual):
            found.append(Difference(chat, wanted, actual))
    return found


def compare(
    template: str, jinja: str, chats: Sequence[Chat], oracle: Oracle, *, today: date = FIXED_DAY
) -> list[Difference]:
    """Ask Ollama for its renderings of a Go template and hold a Jinja template against them.

    `today` has to be the day that the oracle was made with.

    Raises:
        TemplateRefused: Ollama does not take the Go template.
        OracleError: no answer.
    """
    expected = oracle.render_many(template, [to_ollama(chat) for chat in chats])
    return differences(chats, expected, ReferenceTemplate(jinja, today))


def _excerpt(text: str, at: int, before: int = 30, after: int = 60) -> str:
    start, end = max(0, at - before), at + after
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"
