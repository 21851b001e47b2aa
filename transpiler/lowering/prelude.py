"""The macros that an emitted template may need, each written by hand in `prelude.jinja`.

Only those that are used, and those that they use, get into the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CALL = re.compile(r"(\w+)\(")
_HEAD = "{%- macro "
# What `.CONTROLS` in the prelude stands for: the file itself has no characters that can't be seen.
_CONTROLS = ".".join(
    f"replace('{chr(code)}', '\\\\u{code:04x}')" for code in range(1, 32) if chr(code) not in "\b\t\n\f\r"
)


@dataclass(frozen=True, slots=True)
class PreludeMacro:
    """One macro: its name, its text with the comment before it, and the macros that it calls."""

    name: str
    text: str
    needs: frozenset[str]


@cache
def prelude() -> Mapping[str, PreludeMacro]:
    """All macros by name, in the order in which they are written out."""
    text = Path(__file__).with_name("prelude.jinja").read_text("utf-8").replace("CONTROLS", _CONTROLS)
    chunks = text.strip("\n").split("\n\n")
    texts: dict[str, str] = {}
    for chunk in chunks:
        start = chunk.index(_HEAD) + len(_HEAD)
        texts[chunk[start : chunk.index("(", start)]] = chunk
    return {
        name: PreludeMacro(name, text, frozenset(_CALL.findall(text)) & texts.keys() - {name})
        for name, text in texts.items()
    }


def with_needs(used: Iterable[str]) -> tuple[PreludeMacro, ...]:
    """The macros named in `used` and all that they call, in the prelude's order."""
    macros = prelude()
    wanted: set[str] = set()
    todo = [name for name in used if name in macros]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += macros[name].needs
    return tuple(m for m in macros.values() if m.name in wanted)
