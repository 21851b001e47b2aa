"""The corpus of real templates, which lies outside the repository: each one, on each scenario, renders as in Ollama.

Scenarios are Ollama's own values. They are taken as Ollama's server would serve them: a template that can think gets
think = true where the request says nothing, and a plain think = true has the level "medium". The corpus's own
recordings keep the values as they stand, so without Go they can be used only where serving changes nothing.

Where ../shared isn't there, the tests are skipped; in CI that is a failure.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from corpus import CORPUS, corpus_rows

from transpiler import Options, TemplateError, transpile
from transpiler.verify.chats import Chat, enumerated, from_values
from transpiler.verify.compare import Difference, compare, differences
from transpiler.verify.oracle import Oracle
from transpiler.verify.render import ReferenceTemplate
from transpiler.verify.rendering import Rendering

KINDS = ("messages", "legacy", "fim")

Json = Mapping[str, Any]


def sample(count: int) -> list[Json]:
    """That many templates, spread evenly over the corpus in the order of their ids, which are hashes."""
    known = sorted(corpus_rows(), key=lambda row: row["id"])
    return [known[n * len(known) // count] for n in range(count)] if known else []


@cache
def scenarios() -> tuple[Json, ...]:
    return tuple(json.loads((CORPUS / "scenarios.json").read_text(encoding="utf-8")))


@cache
def recordings() -> Mapping[str, Mapping[str, Json]]:
    """id → scenario → {"out"} or {"error"}: what Ollama 0.33/0.34 renders for the values as they stand."""
    with gzip.open(CORPUS / "renderings.jsonl.gz", "rt", encoding="utf-8") as file:
        return {row["id"]: row["ollama"] for row in map(json.loads, file)}


def test_corpus_is_here() -> None:
    if not CORPUS.is_dir():
        message = "../shared/corpus is not here: nothing of the corpus is tested"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    assert len(corpus_rows()) > 200


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "default"])
@pytest.mark.parametrize(
    "row", [row for row in corpus_rows() if row["kind"] in KINDS], ids=lambda row: f"{row['kind']}-{row['id']}"
)
def test_renders_as_ollama_serves_it(row: Json, exact: bool, oracle_if_any: Oracle | None) -> None:
    text: str = row["template"]
    try:
        result = transpile(text, name=row["name"], options=Options(exact=exact))
    except TemplateError as error:
        # An error of the conversion is right only where Ollama fails on every chat.
        if any(not one.refused for one in expected(row, text, oracle_if_any).values()):
            pytest.fail(f"Ollama renders this template, but: {error}")
        return
    go = text if exact else result.repaired
    wanted = expected(row, go, oracle_if_any)
    if not wanted:
        pytest.skip("needs Go: the corpus has no recording of a repaired template")
    chats = {scenario["name"]: from_values(scenario) for scenario in scenarios() if scenario["name"] in wanted}
    fill = [chat for chat in chats.values() if "prompt" in chat.request]
    found = disagreements([chat for chat in chats.values() if chat not in fill], wanted, result.jinja)
    if names_suffix(go, oracle_if_any):
        assert result.fim is not None, "the template has a fill-in-the-middle form, the result has not"
        found += disagreements(fill, wanted, result.fim)
    assert not found, "\n".join([f"{len(found)} differences", *map(str, found[:3])])


def test_the_tags_are_those_that_ollama_infers(oracle: Oracle) -> None:
    for row in corpus_rows():
        text = row["template"]
        tags = oracle.tags(text)
        result = transpile(text, options=Options(exact=True))
        assert (result.thinking_tags, result.tool_call_tag) == (tuple(tags.thinking), tags.tool_call), row["id"]


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "default"])
@pytest.mark.parametrize("row", sample(40), ids=lambda row: row["id"])
def test_renders_every_short_chat_as_ollama(row: Json, exact: bool, oracle: Oracle) -> None:
    """All chats of up to three messages, on a fixed sample of the corpus."""
    result = transpile(row["template"], name=row["name"], options=Options(exact=exact))
    if not exact and result.repaired == row["template"]:
        return  # the exact form is the same template
    found = compare(row["template"] if exact else result.repaired, result.jinja, enumerated(), oracle)
    assert not found, "\n".join([f"{len(found)} differences", *map(str, found[:3])])


def disagreements(chats: Sequence[Chat], wanted: Mapping[str, Rendering], jinja: str) -> list[Difference]:
    return differences(chats, [wanted[chat.name] for chat in chats], ReferenceTemplate(jinja))


def expected(row: Json, go: str, oracle: Oracle | None) -> dict[str, Rendering]:
    """What Ollama renders for each scenario; without the oracle only the scenarios of which a recording tells it."""
    if oracle is not None:
        renderings = oracle.render_values(go, scenarios(), served=True)
        return {scenario["name"]: one for scenario, one in zip(scenarios(), renderings, strict=True)}
    if go != row["template"]:
        return {}
    recorded = recordings()[row["id"]]
    return {
        scenario["name"]: Rendering(recorded[scenario["name"]].get("out"), recorded[scenario["name"]].get("error"))
        for scenario in scenarios()
        if served_as_it_stands(scenario, go)
    }


def served_as_it_stands(scenario: Json, go: str) -> bool:
    """Whether the server surely leaves a scenario's think fields alone: a template that doesn't name .Thinking has no
    thinking tags, one that doesn't name .ThinkLevel can't see the level."""
    if not scenario["is_think_set"]:
        return "Thinking" not in go
    return not scenario["think"] or bool(scenario["think_level"]) or "ThinkLevel" not in go


def names_suffix(go: str, oracle: Oracle | None) -> bool:
    """Whether Ollama's server would let the template fill in the middle."""
    return "suffix" in oracle.tags(go).identifiers if oracle is not None else ".Suffix" in go
