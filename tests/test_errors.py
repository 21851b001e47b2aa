"""`errors/GTnnn_what.gotmpl` gives the diagnostics of the `.txt` beside it, and every code has such a file.

Every code also has a neighbour that doesn't give it, `errors/fine/GTnnn_what.gotmpl`.

`pytest --update` rewrites the expected texts: read what it changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from transpiler.diagnostics import Severity
from transpiler.examples import EXAMPLES
from transpiler.explain import REGISTRY, findings
from transpiler.ollama.modelfile import looks_like_modelfile
from transpiler.rendering import render
from transpiler.verify.oracle import Oracle, TemplateRefused

HERE = Path(__file__).parent / "errors"
INPUTS = sorted(HERE.glob("*.gotmpl"))
FINE = sorted((HERE / "fine").glob("*.gotmpl"))
# An input that is too large to keep, and one that is wrong only with an option: test_cli has them.
MADE_ELSEWHERE = {"GT901", "GT911"}


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


@pytest.mark.parametrize("path", FINE, ids=lambda path: path.stem)
def test_what_is_fine_has_no_error_and_not_that_code(path: Path) -> None:
    found = findings(path.read_bytes(), path.name)
    assert path.name[:5] not in {diagnostic.code for diagnostic in found}
    assert Severity.ERROR not in {diagnostic.severity for diagnostic in found}


def test_every_code_has_a_file_that_is_fine() -> None:
    # What takes an option to be wrong can't be fine without it.
    assert [path.name[:5] for path in FINE] == sorted(REGISTRY.keys() - {"GT911"})


@pytest.mark.parametrize("path", [*INPUTS, *FINE], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ollama_refuses_what_has_a_code_for_that_and_takes_the_rest(path: Path, oracle: Oracle) -> None:
    """GT1xx are for what Ollama does not read, and GT206 is one that it finds when it reads a template."""
    data = path.read_bytes()
    if b"\0" in data or path.name.startswith("GT903_latin1"):
        return
    text = data.decode()
    refused = any(d.code.startswith("GT1") or d.code == "GT206" for d in findings(data, path.name))
    try:
        _ = oracle.modelfile(text) if looks_like_modelfile(text) else oracle.parse(text)
    except TemplateRefused:
        assert refused
    else:
        assert not refused


def test_every_expected_text_has_a_file() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {path.stem for path in INPUTS}


@pytest.mark.parametrize("code", sorted(REGISTRY.keys() - {"GT901", "GT903", "GT911"}))
def test_the_example_that_explain_shows_gives_its_code(code: str) -> None:
    assert code in {diagnostic.code for diagnostic in findings(EXAMPLES[code].encode(), "example")}
