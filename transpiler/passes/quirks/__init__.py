"""Differences between what a template says and what its author meant: found, reported, repaired."""

from __future__ import annotations

from collections.abc import Mapping

from transpiler.codes import CodeInfo
from transpiler.diagnostics import Diagnostic
from transpiler.gotmpl.ast import Template
from transpiler.passes.edits import Repair
from transpiler.passes.quirks.shadowed import shadowed
from transpiler.passes.quirks.struct_dumps import struct_dumps
from transpiler.passes.scopes import Scopes
from transpiler.passes.shapes import Shapes
from transpiler.source import Source

CODES: Mapping[str, CodeInfo] = {
    "GT401": CodeInfo(
        "a variable that shadows another and is never read",
        "`{{ $x := … }}` inside a block makes a new variable that ends with the block. Where an outer `$x` exists and "
        "the new one is never read, `{{ $x = … }}` was meant: the outer one keeps its old value for ever. It is "
        "converted as `=`; with --exact it stays as it is.",
    ),
    "GT402": CodeInfo(
        "a struct that is printed as Go's dump of it",
        "Since v0.14 Ollama prints `{{ .Function }}` as a Go struct dump, `{get_weather … {object <nil> …}}`; before, "
        "it was JSON, and authors of templates expect that. It is converted with `json`; with --exact it stays a dump.",
    ),
}


def find_quirks(
    source: Source, template: Template, scopes: Scopes, shapes: Shapes
) -> tuple[tuple[Diagnostic, Repair], ...]:
    """All quirks of a template, each with its repair."""
    return (*shadowed(source, scopes), *struct_dumps(source, template, shapes))
