"""Smaller templates and chats that still show a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_TAG = re.compile(r"(\{\{.*?\}\})", re.DOTALL)
_TOKEN = re.compile(r"\{\{-?|-?\}\}|\(|\)|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\s+|[^\s(){}\"`]+|.", re.DOTALL)


def smaller_text(text: str, shows: Callable[[str], bool]) -> str:
    """The template with every tag, text and word removed that the fault does not need."""
    for split in (_tags, _TOKEN.findall, _tags):
        text = _without_runs(split(text), shows)
        text = _without_pairs(_tags(text), shows)
    return text


def _tags(text: str) -> list[str]:
    return [part for part in _TAG.split(text) if part]


def _without_runs(parts: list[str], shows: Callable[[str], bool]) -> str:
    """The parts without the runs that aren't needed, long runs first."""
    size = len(parts) // 2
    while size > 0:
        at = 0
        while at + size <= len(parts):
            rest = parts[:at] + parts[at + size :]
            if shows("".join(rest)):
                parts = rest
            else:
                at += 1
        size = size // 2 if size > 12 else size - 1
    return "".join(parts)


def _without_pairs(parts: list[str], shows: Callable[[str], bool]) -> str:
    """The parts without the opening tags that aren't needed, each with an `end` of its own."""
    at = 0
    while at < len(parts):
        ends = (n for n in range(at + 1, len(parts)) if "end" in parts[n])
        tried = ([*parts[:at], *parts[at + 1 : n], *parts[n + 1 :]] for n in ends)
        rest = next((rest for rest in tried if shows("".join(rest))), None)
        if rest is None:
            at += 1
        else:
            parts = rest
    return "".join(parts)


def smaller_json(value: Any, shows: Callable[[Any], bool]) -> Any:
    """The JSON value with every item removed that the fault does not need."""
    changed = True
    while changed:
        changed = False
        for candidate in _without_one(value):
            if shows(candidate):
                value, changed = candidate, True
                break
    return value


def _without_one(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key, inner in value.items():
            for smaller in _without_one(inner):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        for n in range(len(value)):
            yield [*value[:n], *value[n + 1 :]]
        for n, inner in enumerate(value):
            for smaller in _without_one(inner):
                yield [*value[:n], smaller, *value[n + 1 :]]
