"""What the codes of diagnostics mean: the tables of all rooms in one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from types import MappingProxyType

from transpiler import reading
from transpiler.codes import CodeInfo
from transpiler.gotmpl import codes as gotmpl
from transpiler.lowering import codes as lowering
from transpiler.ollama import codes as ollama
from transpiler.passes import quirks

__all__ = ["REGISTRY", "explain", "listing"]

_TABLES = (gotmpl.CODES, ollama.CODES, lowering.CODES, quirks.CODES, reading.CODES)

REGISTRY: Mapping[str, CodeInfo] = MappingProxyType(
    dict(sorted(((code, info) for table in _TABLES for code, info in table.items()), key=lambda entry: entry[0]))
)
"""Every code, in order."""

_KINDS = {
    "GT1": "Ollama does not read the text",
    "GT2": "Ollama fails when it runs the template",
    "GT3": "Jinja can't say it",
    "GT4": "it isn't what its author meant",
    "GT9": "limits, and inputs that are no text",
}


def explain(code: str) -> str:
    """The explanation of a code: a title, and paragraphs of at most 100 columns.

    Raises:
        KeyError: there is no such code.
    """
    info = REGISTRY[code]
    return f"{code}: {info.title}\n\n{textwrap.fill(info.explanation, 100, break_on_hyphens=False)}\n"


def listing() -> str:
    """All codes with their titles, by kind."""
    out: list[str] = []
    for kind, title in _KINDS.items():
        out.append(f"{kind}xx  {title}")
        out += (f"  {code}  {info.title}" for code, info in REGISTRY.items() if code.startswith(kind))
    return "\n".join(out) + "\n"
