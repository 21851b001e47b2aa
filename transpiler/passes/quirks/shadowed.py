"""GT401: `$x := …` in a block, where `$x = …` was meant.

`{{ $x := false }}{{ range … }}{{ $x := true }}{{ end }}` makes a second `$x` that dies unread at the block's end; the
first one keeps its value for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from transpiler.diagnostics import Diagnostic, Label, Severity
from transpiler.passes.edits import Edit, Repair
from transpiler.passes.scopes import Scopes
from transpiler.source import Source, Span

CODE = "GT401"


def shadowed(source: Source, scopes: Scopes) -> Iterator[tuple[Diagnostic, Repair]]:
    """Every variable that shadows one of an outer block and that nothing reads or writes again, with its repair."""
    for binding in scopes.bindings:
        outer = binding.shadows
        if outer is None or not binding.is_action or binding.reads or binding.writes or len(binding.pipe.decls) != 1:
            continue
        if outer.block is binding.block or binding.name == "$_" or not outer.is_action:
            continue
        operator = source.text.index(":=", binding.span.end)
        word = f"{{{{ {binding.block_name} }}}}"
        yield (
            Diagnostic(
                CODE,
                Severity.WARNING,
                f"`{binding.name} :=` declares a new variable that nothing reads",
                source,
                Span(binding.span.start, operator + 2),
                label=f"lives only until this {word} ends",
                labels=(Label(outer.span, "first declared here"),),
                help="converted as `=`; pass --exact to keep what Ollama does today",
            ),
            Repair(Edit(Span(operator, operator + 2), "="), binding.pipe, replace(binding.pipe, assign=True)),
        )
