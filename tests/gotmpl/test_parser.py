"""The parser gives Go's trees and Go's verdicts.

`cases.jsonl` holds sources with the tree or the error that Go's own parser gave for them, in the oracle's words;
`pytest --update` asks it again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gotmpl.dump import dump
from transpiler.diagnostics import TemplateError
from transpiler.gotmpl.parser import parse
from transpiler.ollama.functions import FUNCTIONS
from transpiler.source import Source
from transpiler.verify.oracle import Oracle, TemplateRefused

CASES = Path(__file__).parent / "cases.jsonl"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "templates.jsonl"


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


def ours(text: str) -> dict[str, Any] | None:
    """Our trees in the oracle's form, or None where we refuse the text."""
    try:
        return without_empty(dump(parse(Source(text), FUNCTIONS)))
    except TemplateError:
        return None


def without_empty(trees: dict[str, Any]) -> dict[str, Any]:
    """Go keeps or drops the tree of an empty template by what else is defined."""
    return {name: tree for name, tree in trees.items() if tree != ["list"]}


def of_go(oracle: Oracle, text: str) -> dict[str, Any]:
    try:
        return {"source": text, "tree": oracle.parse(text, tree=True).tree}
    except TemplateRefused as error:
        return {"source": text, "error": str(error)}


def test_there_are_many_cases() -> None:
    refused = sum("error" in case for case in cases())
    assert len(cases()) >= 300
    assert refused >= 100
    assert len(cases()) - refused >= 100


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["source"][:40])
def test_tree_or_verdict_is_gos(case: dict[str, Any]) -> None:
    tree = ours(case["source"])
    if "error" in case:
        assert tree is None or "undefined template" in case["error"]
    else:
        assert tree == without_empty(case["tree"]) or (tree is None and is_undefined_template(case["source"]))


def is_undefined_template(text: str) -> bool:
    """Whether all that is wrong is `{{ template }}` of a name that isn't defined: Go says so when it runs."""
    try:
        parse(Source(text), FUNCTIONS)
    except TemplateError as error:
        return {d.code for d in error.diagnostics} == {"GT201"}
    return False


def test_cases_are_what_go_says_now(oracle: Oracle, update: bool) -> None:
    now = [of_go(oracle, case["source"]) for case in cases()]
    if update:
        CASES.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in now), "utf-8")
    assert now == cases()


def test_corpus_gives_gos_trees(oracle: Oracle) -> None:
    if not CORPUS.is_file() and not os.environ.get("CI"):
        pytest.skip("../shared/corpus is not here")
    for line in CORPUS.read_text("utf-8").splitlines():
        row = json.loads(line)
        expected = of_go(oracle, row["template"])
        assert ours(row["template"]) == without_empty(expected["tree"]), row["name"]


_PIECES = st.sampled_from([
    "{{", "}}", "{{- ", " -}}", "{", "}", "(", ")", "|", ".", ".A", "$", "$x", ":=", "=", ",", " ", "\n",
    "if ", "else", "end",
    "range ", "with ", "define ", "block ", "template ", "break", "continue", '"', "'", "`", "\\", "/*", "*/", "nil",
    "true", "1", "0x", "eq ", "é", "\x00", "\ud7ff",
])  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(_PIECES, max_size=30).map("".join) | st.text(max_size=30))
def test_every_text_gives_a_tree_or_diagnostics(text: str) -> None:
    try:
        parse(Source(text), FUNCTIONS)
    except TemplateError as error:
        assert error.diagnostics
        assert all(d.span is not None and 0 <= d.span.start <= len(text) for d in error.diagnostics)


@pytest.mark.parametrize(
    "text",
    ["(" * 1_000_000, "{{" * 200_000, "{" * 500_000, "{{end}}" * 50_000, "{{ " + "(" * 500_000, "{{if .A}}" * 5_000,
     "{{ if .A }}{{ else if .B }}" * 3_000, '{{ "' + "a" * 1_000_000, "{{/*" + "*" * 1_000_000, "{{ " + "|" * 100_000,
     '{{ "' * 500_000 + "}}", '{{ print "}}" ' + "(" * 5_000, "{{ print" + ' "a"' * 20_000 + " }}"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_large_nonsense_is_refused_soon(text: str) -> None:
    try:
        parse(Source(text), FUNCTIONS)
    except TemplateError as error:
        assert len(error.diagnostics) <= 100
    else:
        assert "{{" not in text
