"""The forms of a chat, and the reference engine that renders them."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from transpiler.verify.chats import (
    Chat,
    completions,
    enumerated,
    from_values,
    named,
    sampled,
    to_jinja_context,
    to_ollama,
)
from transpiler.verify.compare import agree, explain
from transpiler.verify.render import ReferenceTemplate
from transpiler.verify.rendering import Rendering

JINJA = sorted((Path(__file__).parents[1] / "jinja_out").glob("*.jinja"))

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"b": "é", "a": [1, None]}}}
ASKED = {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [CALL]}
TEXT = '{"b": "é", "a": [1, null]}'


def context_of(**request: object) -> dict[str, object]:
    return to_jinja_context(Chat("a chat", {"messages": [], **request}))


def test_the_enumeration_is_every_sequence_of_seven_kinds() -> None:
    assert len(enumerated()) == (1 + 7) * 2 * 6 + 49 * 2 * 3 + 343 * 3
    assert enumerated(1) == enumerated()[: len(enumerated(1))]


def test_names_are_unique() -> None:
    names = [chat.name for chat in (*named(), *enumerated(), *sampled(), *completions())]
    assert len(set(names)) == len(names)


def test_ollama_gets_arguments_as_text_and_reasoning() -> None:
    request = to_ollama(Chat("a chat", {"messages": [ASKED]}))
    call = {**CALL, "function": {"name": "f", "arguments": TEXT}}
    assert request["messages"] == [{"role": "assistant", "content": "", "tool_calls": [call], "reasoning": "hm"}]


def test_jinja_gets_arguments_as_a_mapping() -> None:
    text = {**ASKED, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": TEXT}}]}
    assert context_of(messages=[ASKED])["messages"] == context_of(messages=[text])["messages"] == [ASKED]


@pytest.mark.parametrize("arguments", ["not JSON", "[1]"])
def test_text_that_is_no_object_stays_text(arguments: str) -> None:
    message = {**ASKED, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": arguments}}]}
    assert context_of(messages=[message])["messages"] == [message]


def test_variables_of_a_jinja_template() -> None:
    assert context_of() == context_of(tools=[], think=None) == {"messages": [], "add_generation_prompt": True}
    assert context_of(think=False)["enable_thinking"] is False
    assert context_of(think=True)["enable_thinking"] is True
    assert "reasoning_effort" not in context_of(think=True)
    assert {"enable_thinking": True, "reasoning_effort": "low"}.items() <= context_of(think="low").items()
    assert context_of(add_generation_prompt=False)["add_generation_prompt"] is False
    assert to_jinja_context(Chat("fim", {"prompt": "a", "suffix": "b"})) == {"prompt": "a", "suffix": "b"}


def test_values_become_a_chat() -> None:
    values = {
        "name": "s",
        "messages": [{"role": "tool", "content": "1", "thinking": "t", "tool_name": "f", "tool_call_id": "c"}],
        "tools": None,
        "think": True,
        "think_level": "high",
        "is_think_set": True,
    }
    message = {"role": "tool", "content": "1", "reasoning_content": "t", "name": "f", "tool_call_id": "c"}
    assert from_values(values) == Chat("s", {"messages": [message], "think": "high"})
    assert "think" not in from_values({**values, "is_think_set": False}).request


def test_reference_engine_refuses_instead_of_raising() -> None:
    for jinja in ("{% if %}", "{{ raise_exception('no') }}", "{{ none + 1 }}", "{{ 1 // 0 }}", "{{ x.y.z }}"):
        assert ReferenceTemplate(jinja).render({}).refused, jinja


def test_reference_engine_fixes_the_date() -> None:
    template = "{{ strftime_now('%Y-%m-%d') }}"
    assert ReferenceTemplate(template).render({}).text == "2025-01-02"
    assert ReferenceTemplate(template, datetime.date(2030, 3, 1)).render({}).text == "2030-03-01"


@pytest.mark.parametrize("path", JINJA, ids=lambda path: path.name)
def test_reference_engine_is_the_one_of_transformers(path: Path) -> None:
    engines = pytest.importorskip("transpiler.verify.engines")
    engine = engines.ENGINES["transformers"]()
    if engine.available() is not None:
        pytest.skip(engine.available())
    jinja = path.read_text(encoding="utf-8")
    ours = ReferenceTemplate(jinja)
    for chat in named():
        context = to_jinja_context(chat)
        try:
            theirs = engine.render(jinja, context)
        except engines.EngineError:
            theirs = None
        assert ours.render(context).text == theirs, chat.name


def test_two_refusals_agree_whatever_their_words() -> None:
    assert agree(Rendering(None, "a"), Rendering(None, "b"))
    assert not agree(Rendering(""), Rendering(None, "b"))
    assert not agree(Rendering("a"), Rendering("a\n"))


def test_a_difference_is_shown_where_it_is() -> None:
    assert explain(Rendering("abc"), Rendering("abd")) == "at character 2\n  Ollama: 'abc'\n  output: 'abd'"
    assert explain(Rendering("a"), Rendering("ab")).startswith("at character 1\n")
    assert "Ollama refuses (no)" in explain(Rendering(None, "no"), Rendering("a"))
    assert "the output refuses (no)" in explain(Rendering("a"), Rendering(None, "no"))
