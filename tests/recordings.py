"""Ollama's renderings, kept in files so that a machine without Go tests against the truth.

One file for each Go text: `recorded/<template>.txt`, and `recorded/<template>.repaired.txt` where the library repairs
the template. A file holds the whole text of a few chats, for people, and a digest of the text of every chat. It is
keyed by the Go text, the chats and Ollama's version: where one of them has changed the recording is stale, and a stale
one fails. Nothing here renders anything: `record` is given what the oracle said.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import transpiler.verify.oracle
from transpiler.verify.chats import Chat, completions, enumerated, named, sampled, to_ollama
from transpiler.verify.rendering import Rendering

FOLDER = Path(__file__).with_name("recorded")
UPDATE = "with Go installed, `pytest --update` records it anew"

# The chats whose whole text is kept.
SHOWN = (
    "conversation",
    "tools offered",
    "parallel calls",
    "prefill after thinking",
    "think off with history",
    "special characters",
    "middle",
)

_HEAD = "# What Ollama {version} renders, recorded from Ollama itself by `pytest --update`. Never to be edited."
_REFUSED = "!"
_SAME = "="


class StaleRecording(Exception):
    """A recording is missing, or was made for another Go text, for other chats, or with another Ollama."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What Ollama renders for one Go text: the text of the shown chats, the digest of every chat."""

    shown: Mapping[str, Rendering]
    digests: Mapping[str, str]


def chats_for(identifiers: frozenset[str]) -> tuple[Chat, ...]:
    """Every chat that a template is compared on, given its identifiers (`Tags.identifiers`): Ollama's server takes a
    fill-in-the-middle request only for a template that names the suffix."""
    return conversations() + (completions() if "suffix" in identifiers else ())


def conversations() -> tuple[Chat, ...]:
    """All chats but the fill-in-the-middle requests."""
    return named() + enumerated() + sampled()


def digest(rendering: Rendering) -> str:
    """Eight characters that stand for a text, or the mark of a refusal."""
    if rendering.text is None:
        return _REFUSED
    text = hashlib.sha256(rendering.text.encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(text[:6]).decode()


def path_of(name: str, *, repaired: bool) -> Path:
    """The file of a template's recording."""
    return FOLDER / f"{name}{'.repaired' if repaired else ''}.txt"


def record(path: Path, go: str, chats: Sequence[Chat], renderings: Sequence[Rendering]) -> None:
    """Write a recording of what the oracle rendered.

    Raises:
        ValueError: Ollama's server refuses one of the chats before any template runs, so that it shows nothing.
    """
    lines = [_HEAD.format(version=_version()), *_keys(go, chats)]
    said = {chat.name: rendering for chat, rendering in zip(chats, renderings, strict=True)}
    for name, rendering in said.items():
        if rendering.phase == "request":
            raise ValueError(f"Ollama's server refuses the chat {name!r}: {rendering.error}")
    for name in SHOWN:
        if name in said:
            lines += ["", f"== {name}", *_shown_lines(said[name])]
    lines += ["", "== digests, in the order of the chats"]
    for _, group in groupby(chats, key=_line_of):
        row = [digest(said[chat.name]) for chat in group]
        lines.append(" ".join(_SAME if i and one == row[i - 1] else one for i, one in enumerate(row)))
    path.parent.mkdir(exist_ok=True)
    whole = path.with_name(f"{path.name}.{os.getpid()}")  # tests run side by side: never half a file
    whole.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="", errors="surrogateescape")
    whole.replace(path)


def load(path: Path, go: str) -> tuple[Recording, tuple[Chat, ...]]:
    """Read the recording of a Go text and the chats that it is about.

    Raises:
        StaleRecording: see there.
    """
    if not path.is_file():
        raise StaleRecording(f"{path.name} is missing; {UPDATE}")
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        head, *sections = file.read().split("\n\n== ")
    for chats in (conversations(), conversations() + completions()):
        if head.split("\n") == [_HEAD.format(version=_version()), *_keys(go, chats)]:
            break
    else:
        raise StaleRecording(f"{path.name} was made for another Go text, other chats or another Ollama; {UPDATE}")
    shown = {}
    for section in sections[:-1]:
        name, *lines = section.split("\n")
        shown[name] = _shown(lines)
    rows = sections[-1].rstrip("\n").split("\n")[1:]
    digests = {}
    for row, (_, group) in zip(rows, groupby(chats, key=_line_of), strict=True):
        before = ""
        for one, chat in zip(row.split(" "), group, strict=True):
            before = digests[chat.name] = before if one == _SAME else one
    return Recording(shown, digests), chats


def _keys(go: str, chats: Sequence[Chat]) -> list[str]:
    return [f"# sha256 of the Go text: {_sha(go)}", f"# sha256 of the chats: {_chats_key(tuple(chats))}"]


@cache
def _chats_key(chats: tuple[Chat, ...]) -> str:
    return _sha(json.dumps([[chat.name, to_ollama(chat)] for chat in chats]))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@cache
def _version() -> str:
    module = Path(transpiler.verify.oracle.__file__).with_name("go.mod").read_text(encoding="utf-8")
    found = re.search(r"^require github\.com/ollama/ollama (\S+)$", module, re.MULTILINE)
    assert found is not None
    return found[1]


def _line_of(chat: Chat) -> str:
    """Chats of one sequence of messages share a line."""
    return chat.name.partition("+")[0]


def _shown_lines(rendering: Rendering) -> list[str]:
    if rendering.text is None:
        return [f"{_REFUSED} {rendering.error}"]
    return [f"|{line}" for line in rendering.text.split("\n")]


def _shown(lines: Sequence[str]) -> Rendering:
    if lines[0].startswith(_REFUSED):
        return Rendering(None, lines[0].removeprefix(_REFUSED).strip(), "execute")
    return Rendering("\n".join(line.removeprefix("|") for line in lines))
