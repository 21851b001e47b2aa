"""Every emitted template gives one text in all engines, for every chat of ``engines/contexts.json``.

An engine that is missing here is skipped by name; with REQUIRE_ENGINES=1 it is a failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus_rows
from needed import open_engine

from transpiler import Options, transpile
from transpiler.verify.chats import Chat, to_ollama
from transpiler.verify.engines import ENGINES, REFERENCE, Engine, EngineError
from transpiler.verify.engines.child_engine import pin_clock
from transpiler.verify.engines.line_process import LineProcess, NoReply
from transpiler.verify.oracle import Oracle

HERE = Path(__file__).parent
TEMPLATES = sorted((HERE.parent / "jinja_out").glob("*.jinja"))
CONTEXTS: dict[str, dict[str, object]] = json.loads((HERE / "engines" / "contexts.json").read_text(encoding="utf-8"))
CORPUS = corpus_rows()[::3]
OTHERS = [name for name in ENGINES if name != REFERENCE]

# google/minja has no `dictsort(case_sensitive=…)`, the one portable way to Go's order of keys.
UNSORTED = {"openvino-minja": "case_sensitive"}


def outcome(engine: Engine, template: str, context: dict[str, object]) -> str | None:
    """Return the text, or None where the engine fails: the words of a failure are each engine's own."""
    try:
        return engine.render(template, context)
    except EngineError:
        return None


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    opened = open_engine(request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Iterator[Engine]:
    opened = open_engine(request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def reference() -> Engine:
    return open_engine(REFERENCE)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_one_text_in_every_engine(path: Path, other: Engine, reference: Engine) -> None:
    one_text(path.read_text(encoding="utf-8"), other, reference)


def one_text(template: str, other: Engine, reference: Engine) -> None:
    """See that both engines render one text for each chat."""
    if UNSORTED.get(other.name, "\0") in template:
        pytest.skip(f"{other.name} has no dictsort({UNSORTED[other.name]}=…)")
    different = []
    for name, context in CONTEXTS.items():
        expected = outcome(reference, template, context)
        try:
            got: str | None = other.render(template, context)
            failure = ""
        except EngineError as error:
            got, failure = None, str(error)
        if got != expected:
            different.append(f"{name}:\n  {REFERENCE}: {expected!r}\n  {other.name}: {got!r} {failure}")
    assert not different, "\n".join(different)


@cache
def converted(number: int) -> tuple[str, str]:
    """A template of the corpus, and its Jinja form."""
    source: str = CORPUS[number]["template"]
    return source, transpile(source, options=Options(exact=True)).jinja


class TestCorpus:
    """A third of the real templates: Ollama's text in every engine."""

    @pytest.mark.parametrize("number", range(len(CORPUS)), ids=lambda number: CORPUS[number]["id"])
    def test_the_reference_renders_ollamas_text(self, number: int, reference: Engine, oracle: Oracle) -> None:
        source, jinja = converted(number)
        chats = [chat for chat in map(as_chat, CONTEXTS, CONTEXTS.values()) if chat is not None]
        wanted = oracle.render_many(source, [to_ollama(chat) for chat in chats])
        got = [outcome(reference, jinja, CONTEXTS[chat.name]) for chat in chats]
        assert len(chats) >= 8
        assert got == [rendering.text for rendering in wanted]

    @pytest.mark.parametrize("number", range(len(CORPUS)), ids=lambda number: CORPUS[number]["id"])
    def test_one_text_in_every_engine(self, number: int, other: Engine, reference: Engine) -> None:
        one_text(converted(number)[1], other, reference)


def as_chat(name: str, context: Mapping[str, Any]) -> Chat | None:
    """The chat of a context, where Ollama's endpoint can be asked for it."""
    calls = [call["function"] for message in context["messages"] for call in message.get("tool_calls") or ()]
    # Ollama's endpoint reads JSON text and drops the index that Ollama's own clients send.
    if not context.get("add_generation_prompt") or any(
        isinstance(call["arguments"], str) or "index" in call for call in calls
    ):
        return None
    request = {key: context[key] for key in ("messages", "tools") if key in context}
    if "enable_thinking" in context:
        request["think"] = context.get("reasoning_effort", context["enable_thinking"])
    return Chat(name, request)


class TestOneEngine:
    """What each driver promises, whatever its engine is."""

    def test_renders_the_variables_it_is_given(self, engine: Engine) -> None:
        template = "{%- for m in messages -%}{{- m['role'] -}}{{- ':' -}}{{- m['content'] -}}{%- endfor -%}"
        context: dict[str, object] = {"messages": [{"role": "é", "content": "a\n<&>😀"}, {"role": "u", "content": ""}]}
        assert engine.render(template, context) == "é:a\n<&>😀u:"

    def test_what_is_absent_is_undefined(self, engine: Engine) -> None:
        names = ["tools", "enable_thinking", "reasoning_effort", "date_string", "nothing"]
        template = (
            "".join(f"{{%- if {name} is defined -%}}{{{{- '{name} ' -}}}}{{%- endif -%}}" for name in names)
            + "{%- if add_generation_prompt -%}{{- 'prompt' -}}{%- endif -%}{{- '.' -}}"
        )
        assert engine.render(template, {"messages": []}) == "."

    def test_what_is_present_is_defined(self, engine: Engine) -> None:
        template = (
            "{%- if enable_thinking is defined and not enable_thinking -%}{{- 'off' -}}{%- endif -%}"
            "{%- if add_generation_prompt -%}{{- ' prompt' -}}{%- endif -%}"
        )
        context: dict[str, object] = {"messages": [], "enable_thinking": False, "add_generation_prompt": True}
        assert engine.render(template, context) == "off prompt"

    def test_an_empty_text_is_no_failure(self, engine: Engine) -> None:
        assert engine.render("{%- if messages -%}{%- endif -%}", {"messages": []}) == ""

    def test_the_date_stands_still(self, engine: Engine) -> None:
        assert engine.render("{{- strftime_now('%Y-%m-%d') -}}", {"messages": []}) == "2025-01-02"

    def test_raise_exception_carries_its_message(self, engine: Engine) -> None:
        # Not on the chats that llama.cpp's server tries when it starts.
        template = "{%- if messages[0]['role'] == 'x' -%}{{- raise_exception('no such role') -}}{%- endif -%}"
        with pytest.raises(EngineError, match="no such role") as failure:
            engine.render(template, {"messages": [{"role": "x", "content": ""}]})
        assert failure.value.engine == engine.name
        assert engine.render(template, {"messages": [{"role": "y", "content": ""}]}) == ""

    def test_bad_syntax_is_an_engine_error_and_not_the_end(self, engine: Engine) -> None:
        with pytest.raises(EngineError):
            engine.render("{%- if -%}", {"messages": []})
        assert engine.render("{{- 'still here' -}}", {"messages": []}) == "still here"

    def test_opens_again_after_close(self, engine: Engine) -> None:
        engine.close()
        assert engine.render("{{- 'again' -}}", {"messages": []}) == "again"

    def test_threads_get_their_own_answers(self, engine: Engine) -> None:
        def ask(number: int) -> str:
            return engine.render("{{- number -}}", {"messages": [], "number": number})

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(ask, range(40))) == [str(number) for number in range(40)]

    def test_its_name_is_its_key(self, engine: Engine) -> None:
        assert type(ENGINES[engine.name]()) is type(engine)


def test_a_missing_engine_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setattr("transpiler.verify.engines.node_engines.node_folder", lambda: tmp_path)
    for name, make in ENGINES.items():
        engine = make()
        reason = engine.available()
        assert reason is not None
        assert "pip install" in reason or "transpiler.verify.engines.install" in reason, name
        with pytest.raises(EngineError, match=r"install"):
            engine.render("x", {})


def test_a_pinned_clock_knows_the_usual_formats_only() -> None:
    make = ENGINES["jinja2"]
    text = pin_clock("{{- strftime_now('%d %B %Y') -}}", date(2024, 2, 29))
    assert make().render(text, {}) == "29 February 2024"
    with pytest.raises(EngineError, match="no fixed date"):
        make().render(pin_clock("{{- strftime_now('%c') -}}", date(2024, 2, 29)), {})
    assert pin_clock("{{- 'x' -}}", date(2024, 2, 29)) == "{{- 'x' -}}"


class TestLineProcess:
    """A child that misbehaves is replaced once, and then given up."""

    def test_a_hanging_child_is_given_up(self) -> None:
        process = LineProcess(["sleep", "60"], timeout=0.2)
        with pytest.raises(NoReply, match=r"within 0\.2 seconds"):
            process.ask({})

    def test_a_dying_child_is_given_up(self) -> None:
        with pytest.raises(NoReply):
            LineProcess(["false"], timeout=5).ask({})

    def test_a_child_that_died_is_replaced(self, tmp_path: Path) -> None:
        script = tmp_path / "once.sh"
        script.write_text("read line; echo '{\"out\": \"'$$'\"}'\n", encoding="utf-8")
        process = LineProcess(["sh", str(script)], timeout=5)
        first, second = process.ask({}), process.ask({})
        assert first != second
        process.close()

    def test_a_child_is_renewed(self, tmp_path: Path) -> None:
        script = tmp_path / "many.sh"
        script.write_text("while read line; do echo '{\"out\": \"'$$'\"}'; done\n", encoding="utf-8")
        process = LineProcess(["sh", str(script)], timeout=5, renew_after=2)
        answers = [process.ask({})["out"] for _ in range(4)]
        assert answers[0] == answers[1] != answers[2] == answers[3]
        process.close()

    def test_words_that_are_no_json_are_no_reply(self) -> None:
        with pytest.raises(NoReply, match="not a JSON line"):
            LineProcess(["sh", "-c", "read line; echo hello"], timeout=5).ask({})
