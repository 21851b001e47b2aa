"""The rules of Ollama and Go, one small case each, in tables that a reader can look a rule up in.

A file of `semantics` holds one subject. A case is a template and the chats it is rendered for (`chats.json` has them by
name); the texts are what Ollama rendered, recorded by `pytest --update`. `!` in place of a text: Ollama refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from transpiler import Options, TemplateError, transpile
from transpiler.verify.chats import Chat, to_jinja_context, to_ollama
from transpiler.verify.oracle import Oracle
from transpiler.verify.render import ReferenceTemplate
from transpiler.verify.rendering import Rendering

FOLDER = Path(__file__).with_name("semantics")
FILES = sorted(FOLDER.glob("*.txt"))
_REFUSED = "!"


@dataclass(frozen=True, slots=True)
class Case:
    """One template and what Ollama renders for chats, by their names; None where it refuses."""

    file: str
    title: str
    template: str
    expected: dict[str, str | None]

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"


@cache
def chats() -> dict[str, Chat]:
    """The chats by name."""
    named = json.loads((FOLDER / "chats.json").read_text(encoding="utf-8"))
    return {name: Chat(name, request) for name, request in named.items()}


def read(path: Path) -> tuple[str, list[Case]]:
    """The head of a file and its cases."""
    head, *entries = re.split(r"^=== ", path.read_bytes().decode("utf-8"), flags=re.MULTILINE)
    return head, [_case(path.stem, entry) for entry in entries]


def _case(file: str, entry: str) -> Case:
    opening, *texts = re.split(r"^--- ", entry, flags=re.MULTILINE)
    title, _, template = opening.partition("\n")
    expected = {}
    for text in texts:
        chat, _, rendered = text.partition("\n")
        expected[chat] = None if rendered == f"{_REFUSED}\n" else rendered[:-1]
    return Case(file, title, template[:-1], expected)


def written(head: str, cases: list[Case]) -> str:
    """A file with these cases."""

    def lines() -> Iterator[str]:
        yield head
        for case in cases:
            yield f"=== {case.title}\n{case.template}\n"
            for chat, text in case.expected.items():
                yield f"--- {chat}\n{_REFUSED if text is None else text}\n"

    return "".join(lines())


def asked(case: Case, oracle: Oracle) -> dict[str, str | None]:
    """What Ollama renders for the chats of a case."""
    requests = [to_ollama(chats()[name]) for name in case.expected]
    renderings = oracle.render_many(case.template, requests)
    assert all(rendering.phase != "request" for rendering in renderings), case
    return {name: rendering.text for name, rendering in zip(case.expected, renderings, strict=True)}


CASES = [case for path in FILES for case in read(path)[1]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_from_ollama(path: Path, update: bool, oracle: Oracle) -> None:
    head, cases = read(path)
    now = [Case(case.file, case.title, case.template, asked(case, oracle)) for case in cases]
    if update:
        path.write_bytes(written(head, now).encode("utf-8"))
    assert update or now == cases


@pytest.mark.parametrize("case", CASES, ids=str)
def test_renders_what_ollama_renders(case: Case) -> None:
    try:
        jinja = ReferenceTemplate(transpile(case.template, options=Options(exact=True)).jinja)
    except TemplateError as error:
        # A template that stops in every chat is refused when it is converted.
        assert all(diagnostic.code.startswith("GT2") for diagnostic in error.diagnostics), error
        assert set(case.expected.values()) == {None}
        return
    for name, expected in case.expected.items():
        actual: Rendering = jinja.render(to_jinja_context(chats()[name]))
        assert actual.text == expected, f"for {name!r}: {actual.error}"


def test_tables_are_as_they_are_written() -> None:
    for path in FILES:
        assert written(*read(path)) == path.read_bytes().decode("utf-8"), path


def test_every_chat_is_used() -> None:
    assert {name for case in CASES for name in case.expected} == set(chats())
