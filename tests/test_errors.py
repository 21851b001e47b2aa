"""`errors/GTnnn_what.gotmpl` gives the diagnostics of the `.txt` beside it, and every code has such a file.

`pytest --update` rewrites the expected texts: read what it changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from transpiler.examples import EXAMPLES
from transpiler.explain import REGISTRY, findings
from transpiler.rendering import render

HERE = Path(__file__).parent / "errors"
INPUTS = sorted(HERE.glob("*.gotmpl"))
# Its input is too large to keep; test_cli makes one.
MADE_ELSEWHERE = {"GT901"}


def reported(path: Path) -> str:
    """The diagnostics of a file, one a line."""
    return render(findings(path.read_bytes(), path.name), "concise")


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_diagnostics(path: Path, update: bool) -> None:
    found = reported(path)
    expected = path.with_suffix(".txt")
    if update:
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
    assert f"[{path.name[:5]}]" in found


def test_every_code_has_a_file() -> None:
    assert {path.name[:5] for path in INPUTS} | MADE_ELSEWHERE == set(REGISTRY)


def test_every_expected_text_has_a_file() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {path.stem for path in INPUTS}


@pytest.mark.parametrize("code", sorted(REGISTRY.keys() - {"GT901", "GT903"}))
def test_the_example_that_explain_shows_gives_its_code(code: str) -> None:
    assert code in {diagnostic.code for diagnostic in findings(EXAMPLES[code].encode(), "example")}
