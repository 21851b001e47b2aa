"""What the codes of diagnostics mean: the tables of all rooms in one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType

from transpiler import reading
from transpiler.api import transpile_source
from transpiler.codes import CodeInfo
from transpiler.diagnostics import Diagnostic, TemplateError
from transpiler.examples import EXAMPLES
from transpiler.gotmpl import codes as gotmpl
from transpiler.inputs import read_template
from transpiler.lowering import codes as lowering
from transpiler.ollama import codes as ollama
from transpiler.ollama.modelfile import unconverted
from transpiler.passes import quirks
from transpiler.rendering import render

__all__ = ["REGISTRY", "explain", "findings", "listing", "near"]

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
    """The explanation of a code: what it means, in lines of at most 100 columns, and what is said of an example.

    Raises:
        KeyError: there is no such code.
    """
    info = REGISTRY[code]
    text = f"{code}: {info.title}\n\n{textwrap.fill(info.explanation, 100, break_on_hyphens=False)}\n"
    if code in EXAMPLES:
        found = (diagnostic for diagnostic in findings(EXAMPLES[code].encode(), "example") if diagnostic.code == code)
        text += f"\nFor example:\n\n{textwrap.indent(render(islice(found, 1)), '    ')}"
    return text


def findings(data: bytes, name: str) -> tuple[Diagnostic, ...]:
    """Everything that converting an input would say."""
    notes: tuple[Diagnostic, ...] = ()
    try:
        read = read_template(data, name)
        notes = read.notes
        if read.modelfile is not None:
            notes = (*notes, *unconverted(read.modelfile, "adapter", "license", "requires", "message"))
        return (*notes, *transpile_source(read.template).diagnostics)
    except TemplateError as error:
        return (*notes, *error.diagnostics)


def near(code: str) -> tuple[str, ...]:
    """Codes that may have been meant by one that doesn't exist: those that look like it."""
    return tuple(get_close_matches(code.upper(), REGISTRY, 3, 0.75))


def listing() -> str:
    """All codes with their titles, by kind."""
    out: list[str] = []
    for kind, title in _KINDS.items():
        out.append(f"{kind}xx  {title}")
        out += (f"  {code}  {info.title}" for code, info in REGISTRY.items() if code.startswith(kind))
    return "\n".join(out) + "\n"
