"""go_templates/NAME.gotmpl → jinja_out/NAME.jinja (and NAME.fim.jinja): what users get, kept under their eyes.

A golden shows what changes; that it is right is `test_differential`'s to say. Adding a Go template adds a test.
`pytest --update` rewrites the goldens.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from transpiler import transpile

ROOT = Path(__file__).parents[1]
GO = sorted((ROOT / "go_templates").glob("*.gotmpl"))
OUT = ROOT / "jinja_out"


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


@pytest.mark.parametrize("source", GO, ids=lambda path: path.stem)
def test_golden(source: Path, update: bool) -> None:
    result = transpile(read(source), name=source.name)
    outputs = {OUT / f"{source.stem}.jinja": result.jinja, OUT / f"{source.stem}.fim.jinja": result.fim}
    for golden, text in outputs.items():
        if update:
            if text is None:
                golden.unlink(missing_ok=True)
            else:
                golden.parent.mkdir(exist_ok=True)
                golden.write_text(text, encoding="utf-8", newline="")
        if text is None:
            assert not golden.exists(), f"{golden.name} is there, but the template has no such form"
        else:
            assert golden.exists(), f"{golden.name} is missing; `pytest --update` writes it"
            assert text == read(golden)


def test_no_golden_without_a_go_template(update: bool) -> None:
    known = {path.stem for path in GO}
    orphans = [path for path in OUT.glob("*") if path.name.removesuffix(".jinja").removesuffix(".fim") not in known]
    if update:
        for path in orphans:
            path.unlink()
        orphans = []
    assert not orphans
