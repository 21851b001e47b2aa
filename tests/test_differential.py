"""Every template of go_templates, on every chat: the emitted Jinja renders what Ollama renders, byte for byte.

`exact` is held against the template as it stands, `default` against the Go template after its repairs. The expected
texts are recordings of Ollama (see `recordings`); where Go is installed the recordings are held against Ollama too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from recordings import (
    FOLDER,
    Recording,
    StaleRecording,
    chats_for,
    digest,
    load,
    path_of,
    record,
)

from transpiler import Options, transpile
from transpiler.verify.chats import Chat, enumerated, named, sampled, to_jinja_context, to_ollama
from transpiler.verify.compare import explain
from transpiler.verify.oracle import Oracle
from transpiler.verify.render import ReferenceTemplate
from transpiler.verify.rendering import Rendering

ROOT = Path(__file__).parents[1]
GO = sorted((ROOT / "go_templates").glob("*.gotmpl"))
EXCEPTIONS = json.loads(
    (Path(__file__).parent / "scenarios" / "transcript_exceptions.json").read_text(encoding="utf-8")
)

modes = pytest.mark.parametrize("exact", [True, False], ids=["exact", "default"])


@pytest.fixture(scope="module", params=GO, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Path:
    """A Go template; the tests of one come one after the other."""
    path: Path = request.param
    return path


class Output:
    """An emitted template that remembers what it rendered."""

    def __init__(self, jinja: str) -> None:
        self._template = ReferenceTemplate(jinja)
        self._unseen = {name for name in ("tools", "enable_thinking", "reasoning_effort") if name not in jinja}
        self._known: dict[str, Rendering] = {}

    def render(self, context: dict[str, Any]) -> Rendering:
        # A template can't depend on a variable that it doesn't name.
        seen = {name: value for name, value in context.items() if name not in self._unseen}
        key = json.dumps(seen)
        if key not in self._known:
            self._known[key] = self._template.render(seen)
        return self._known[key]


@lru_cache(4)
def output_of(jinja: str) -> Output:
    """One output for one text: most templates have nothing to repair, so that both modes print the same."""
    return Output(jinja)


class Case:
    """One template in one mode: its output, the Go text that stands for it, and that text's recording."""

    def __init__(self, source: Path, exact: bool) -> None:
        with source.open(encoding="utf-8", newline="") as file:
            original = file.read()
        result = transpile(original, name=source.name, options=Options(exact=exact))
        self.go = original if exact else result.repaired
        self.recording = path_of(source.stem, repaired=self.go != original)
        self.legacy = result.mode == "legacy"
        self._chat = result.jinja
        self._fim = result.fim

    def render(self, chat: Chat) -> Rendering:
        """What the output makes of a chat."""
        if "prompt" not in chat.request:
            return output_of(self._chat).render(to_jinja_context(chat))
        if self._fim is None:
            return Rendering(None, "no template for fill-in-the-middle was emitted")
        return output_of(self._fim).render(to_jinja_context(chat))

    def transcript(self, chat: Chat, k: int) -> str | None:
        """The first k messages without a generation prompt; None where the output refuses them."""
        context = to_jinja_context(chat)
        context |= {"messages": context["messages"][:k], "add_generation_prompt": False}
        return output_of(self._chat).render(context).text

    def ask(self, oracle: Oracle, chats: Sequence[Chat]) -> list[Rendering]:
        """What Ollama makes of chats."""
        return oracle.render_many(self.go, [to_ollama(chat) for chat in chats])


@lru_cache(4)
def case_of(source: Path, exact: bool) -> Case:
    return Case(source, exact)


Loaded = tuple[Recording, tuple[Chat, ...]]


@pytest.fixture
def recording_of(update: bool, oracle_or_reason: Oracle | str) -> Callable[[Case], Loaded]:
    """Reads the recording of a case and the chats that it is about; with `--update` it is recorded anew before."""

    def load_or_fail(case: Case) -> Loaded:
        if update:
            record_anew(case, oracle_or_reason)
        try:
            return load(case.recording, case.go)
        except StaleRecording as error:
            pytest.fail(str(error))

    return load_or_fail


@modes
def test_output_renders_as_recorded(
    source: Path, exact: bool, recording_of: Callable[[Case], Loaded], oracle_if_any: Oracle | None
) -> None:
    case = case_of(source, exact)
    recording, chats = recording_of(case)
    wrong = [chat for chat in chats if digest(case.render(chat)) != recording.digests[chat.name]]
    if wrong:
        shown = describe(case, wrong[:3], recording, oracle_if_any)
        pytest.fail(f"{len(wrong)} of {len(chats)} chats differ\n{shown}")


@modes
def test_recording_is_what_ollama_renders(
    source: Path, exact: bool, recording_of: Callable[[Case], Loaded], oracle: Oracle
) -> None:
    case = case_of(source, exact)
    recording, _ = recording_of(case)
    chats = chats_for(oracle.tags(case.go).identifiers)
    said = {chat.name: one for chat, one in zip(chats, case.ask(oracle, chats), strict=True)}
    assert {name: digest(one) for name, one in said.items()} == recording.digests
    assert {name: said[name].text for name in recording.shown} == {n: r.text for n, r in recording.shown.items()}


def test_no_recording_without_a_template(update: bool) -> None:
    wanted = {case.recording for source in GO for case in (case_of(source, True), case_of(source, False))}
    orphans = [path for path in FOLDER.glob("*") if path not in wanted]
    if update:
        for path in orphans:
            path.unlink()
        orphans = []
    assert not orphans


def test_transcript_grows_into_the_prompt(source: Path) -> None:
    """For every chat and every k: the first k messages, without generation prompt, are where the whole chat begins.

    Left out is what Ollama itself does not allow: a cut between two messages that it merges into one, one before a
    system message, which changes `.System` from the start, and one before a call that takes the id of an earlier one,
    after which results are then named; and k = 0, as a template may have an arm for no messages. A template that runs
    once a turn prints a system message only with what it belongs to, and forgets what the turn does not keep: there
    only chats are looked at in which users and assistants take turns and all say something.
    """
    broken = transcript_breaks(case_of(source, False))
    broken = [chat for chat in broken if not features(chat) & EXCEPTIONS.get(source.stem, {}).keys()]
    assert not broken, f"{len(broken)} chats, first {[chat.name for chat in broken[:5]]}"


def test_transcript_leaves_no_message_out(source: Path) -> None:
    """What the prompt prints of the contents of users, assistants and tools, the transcript prints as often."""
    case = case_of(source, False)
    for chat in transcript_chats(case):
        messages = chat.request["messages"]
        whole, told = case.render(chat).text, case.transcript(chat, len(messages))
        if whole is not None and told is not None:
            told_roles = {"user", "assistant", "tool"}
            texts = [message.get("content") for message in messages if message["role"] in told_roles]
            for text in {text for text in texts if isinstance(text, str) and text.strip()}:
                assert told.count(text) == whole.count(text), f"{chat.name}: {text!r}"


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_transcript_exceptions_are_needed(name: str) -> None:
    """An exception names a feature of chats for which the Go template itself looks ahead, and says how."""
    broken = transcript_breaks(case_of(ROOT / "go_templates" / f"{name}.gotmpl", False))
    for feature, reason in EXCEPTIONS[name].items():
        assert reason
        others = EXCEPTIONS[name].keys() - {feature}
        assert any(feature in features(chat) and not features(chat) & others for chat in broken), feature


@cache
def record_anew(case: Case, oracle: Oracle | str) -> None:
    """Only Ollama can say what is to be expected: without it nothing is recorded."""
    if isinstance(oracle, str):
        pytest.fail(f"a recording can only be made from Ollama: {oracle}")
    chats = chats_for(oracle.tags(case.go).identifiers)
    record(case.recording, case.go, chats, case.ask(oracle, chats))


def describe(case: Case, chats: Sequence[Chat], recording: Recording, oracle: Oracle | None) -> str:
    """The differences of some chats: a recorded text, or Ollama's answer, or at least what the output is."""
    said = dict(recording.shown)
    if oracle is not None:
        said |= dict(zip((chat.name for chat in chats), case.ask(oracle, chats), strict=True))
    lines = []
    for chat in chats:
        actual = case.render(chat)
        if chat.name in said:
            lines.append(f"{chat.name}: {explain(said[chat.name], actual)}")
        else:
            lines.append(f"{chat.name}: Ollama's text isn't here (no Go), the output is {actual}")
    return "\n".join(lines)


def transcript_breaks(case: Case) -> list[Chat]:
    """The chats of which some beginning, rendered as a transcript, is not where the next longer one begins.

    The prompt of a chat that ends with the assistant is one to be continued: it may stop short of the transcript, which
    also prints what ends the message.
    """
    broken = []
    for chat in transcript_chats(case):
        messages = chat.request["messages"]
        cuts = [k for k in range(1, len(messages) + 1) if may_cut(messages, k)]
        told = [case.transcript(chat, k) for k in cuts if not (case.legacy and messages[k - 1]["role"] == "system")]
        whole = case.render(chat).text
        if whole is not None and told and told[-1] is not None and messages[-1]["role"] == "assistant":
            whole = max(whole, told[-1], key=len) if told[-1].startswith(whole) else whole
        texts = [text for text in (*told, whole) if text is not None]
        if any(not longer.startswith(shorter) for shorter, longer in pairwise(texts)):
            broken.append(chat)
    return broken


def transcript_chats(case: Case) -> tuple[Chat, ...]:
    """The conversations of which a template prints every message."""
    triples = enumerated(3)[len(enumerated(2)) :]
    # Tools in triples and more long chats would double the time and show nothing more of where messages end.
    chats = named() + enumerated(2) + tuple(chat for chat in triples if "tools" not in chat.request) + sampled(60)
    if not case.legacy:
        return chats
    kept = tuple(chat for chat in chats if takes_turns(chat.request["messages"]))
    assert len(kept) > 20
    return kept


def takes_turns(messages: Sequence[dict[str, object]]) -> bool:
    """Whether user and assistant speak in turn, and each says something; one system message may come first."""
    roles = [message["role"] for message in messages]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    alternate = all(a != b for a, b in pairwise(spoken)) and set(spoken) <= {"user", "assistant"}
    return alternate and all(isinstance(message.get("content"), str) and message["content"] for message in messages)


def features(chat: Chat) -> set[str]:
    """What a template may look ahead for; the keys of the exceptions."""
    messages = chat.request["messages"]
    roles = [str(message["role"]).lower() for message in messages]
    last_user = max((i for i, role in enumerate(roles) if role == "user"), default=-1)
    # Of neighbours that Ollama merges, the first one's thinking is kept.
    last_merged = max((i for i, role in enumerate(roles) if i == 0 or roles[i - 1] != role), default=0)
    found = {
        "tools": "tools" in chat.request,
        "a system message": "system" in roles,
        "documents": any(role.startswith("document") for role in roles),
        "several users": roles.count("user") > 1,
        "thinking at the end": "reasoning_content" in messages[last_merged],
        "thinking before a user": any("reasoning_content" in message for message in messages[: max(last_user, 0)]),
    }
    return {feature for feature, there in found.items() if there}


def may_cut(messages: Sequence[dict[str, Any]], k: int) -> bool:
    """Whether Ollama sees the first k messages as a beginning of all of them."""
    roles = [message["role"].lower() for message in messages]
    merged = 0 < k < len(roles) and roles[k] == roles[k - 1] != "tool"
    answered = {message["tool_call_id"] for message in messages[:k] if "tool_call_id" in message}
    called = {call["id"] for message in messages[k:] for call in message.get("tool_calls") or ()}
    return not merged and "system" not in roles[k:] and not answered & called
