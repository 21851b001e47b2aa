"""The template in a tokenizer_config.json, and what the files of a tokenizer say about BOS. Knows transformers' files.

The JSON is edited as text: only the value of `chat_template` is replaced, so that numbers, escapes, the order of the
keys and the layout stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from transpiler.files import write_whole
from transpiler.packaging.errors import PackagingError

__all__ = ["CONFIG", "TOKENIZER", "adds_bos", "write_tokenizer_config"]

CONFIG = "tokenizer_config.json"
TOKENIZER = "tokenizer.json"

# Bytes. The largest tokenizer.json in use have some 35 MB.
_LARGEST = 256 << 20

_KEY = "chat_template"
_BLANK = " \t\n\r"
# Numbers are never computed: as text they have no limits.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True, slots=True)
class _Member:
    """`"name": value` in the text of an object; all places are offsets into it."""

    name: str
    start: int
    name_end: int
    value_start: int
    end: int
    value: object


def write_tokenizer_config(path: Path, templates: Mapping[str, str]) -> None:
    """Store `templates`, by name, as `chat_template` of the tokenizer_config.json at `path`; nothing else is changed.

    One template named "default" is stored as a string, else all as transformers' list of `{"name", "template"}`, in
    the order given. Where there is no file, one with nothing else is made. The file is the old or the new one at any
    moment.

    transformers (5.24) prefers a `chat_template.jinja` beside the file to what is in it.

    Raises:
        PackagingError: the file is no JSON object in UTF-8 or too large, or `templates` is empty or can't be encoded.
        OSError: it can't be read or written.
    """
    if not templates:
        raise PackagingError("there is no template to store", path)
    value: object = [{"name": name, "template": template} for name, template in templates.items()]
    if list(templates) == ["default"]:
        value = templates["default"]
    old = _read(path)
    text = json.dumps({_KEY: value}, ensure_ascii=False, indent=2) + "\n" if old is None else _merged(path, old, value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PackagingError("the template has half of a surrogate pair, which UTF-8 can't say", path) from error
    write_whole(path, text)


def adds_bos(folder: Path) -> bool | None:
    """Whether the tokenizer in `folder` puts BOS in front of what it encodes, as its own files say; None: they don't.

    `add_bos_token` of tokenizer_config.json decides. Else the `post_processor` of tokenizer.json: whether `bos_token`
    is among the special tokens that it puts in front of a single text (the rule of llama.cpp's converter).

    Raises:
        PackagingError: one of the two is no JSON object in UTF-8, or too large.
        OSError: one of them can't be read.
    """
    config = _members(folder / CONFIG)
    said = config.get("add_bos_token")
    if isinstance(said, bool):
        return said
    processor = _members(folder / TOKENIZER).get("post_processor")
    if not isinstance(processor, dict):
        return None
    leading = set(_leading_tokens(processor))
    bos = config.get("bos_token")
    if isinstance(bos, dict):
        bos = bos.get("content")
    if isinstance(bos, str):
        return bos in leading
    return None if leading else False


def _leading_tokens(processor: dict[str, object]) -> Iterator[str]:
    """The special tokens that a post-processor of `tokenizers` puts in front of a single text."""
    match processor:
        case {"type": "Sequence", "processors": list(parts)}:
            for part in parts:
                # A sequence inside a sequence is nothing that `tokenizers` writes.
                if isinstance(part, dict) and part.get("type") != "Sequence":
                    yield from _leading_tokens(part)
        case {"type": "TemplateProcessing", "single": list(pieces)}:
            for piece in pieces:
                match piece:
                    case {"SpecialToken": {"id": str(token)}}:
                        yield token
                    case _:
                        return
        case {"type": "BertProcessing" | "RobertaProcessing", "cls": [str(token), *_]}:
            yield token
        case _:
            return


def _read(path: Path) -> str | None:
    """The text of a file, None where there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(data) > _LARGEST:
        raise PackagingError(f"too large: more than {_LARGEST:,} bytes", path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackagingError(f"not UTF-8 at byte offset {error.start}", path) from error


def _members(path: Path) -> dict[str, object]:
    """The members of the object in a file, numbers as their text; none where there is no file."""
    text = _read(path)
    return {} if text is None else {member.name: member.value for member in _parsed(path, text)}


def _parsed(path: Path, text: str) -> tuple[_Member, ...]:
    """The members of the object that `text` is, a name that stands twice included."""
    try:
        return tuple(_walk(text))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise PackagingError(f"not a JSON object: {error.msg} at {where}", path) from error
    except RecursionError as error:
        raise PackagingError("not a JSON object: nested too deeply", path) from error


def _walk(text: str) -> Iterator[_Member]:
    """Yield the members of the object in `text`; raises JSONDecodeError and RecursionError."""
    at = _expected(text, _blank_end(text, 0), "{")
    at = _blank_end(text, at)
    more = not text.startswith("}", at)
    while more:
        start = at
        if not text.startswith('"', at):
            raise json.JSONDecodeError("expected a name in double quotes", text, at)
        name, name_end = _DECODER.raw_decode(text, at)
        at = _expected(text, _blank_end(text, name_end), ":")
        value_start = _blank_end(text, at)
        value, end = _DECODER.raw_decode(text, value_start)
        yield _Member(name, start, name_end, value_start, end, value)
        at = _blank_end(text, end)
        more = text.startswith(",", at)
        if more:
            at = _blank_end(text, at + 1)
    at = _blank_end(text, _expected(text, at, "}"))
    if at < len(text):
        raise json.JSONDecodeError("text behind the object", text, at)


def _blank_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _expected(text: str, at: int, mark: str) -> int:
    """The place behind `mark`."""
    if not text.startswith(mark, at):
        raise json.JSONDecodeError(f"expected {mark!r}", text, at)
    return at + 1


def _merged(path: Path, text: str, value: object) -> str:
    """`text` with `value` as its `chat_template`, in the file's own layout."""
    members = _parsed(path, text)
    if not members:
        return json.dumps({_KEY: value}, ensure_ascii=False, indent=2) + "\n"
    last = members[-1]
    # What stands in front of a member: a line end and the indentation, or in a file of one line a blank or nothing.
    if len(members) > 1:
        gap = text[members[-2].end : last.start].rpartition(",")[2]
    else:
        gap = text[text.index("{") + 1 : last.start] or " "
    colon = text[last.name_end : last.value_start]
    rendered = _rendered(value, gap, colon)
    places = [member for member in members if member.name == _KEY]
    if not places:
        return f'{text[: last.end]},{gap}"{_KEY}"{colon}{rendered}{text[last.end :]}'
    # Readers differ on which of two equal names counts.
    for member in reversed(places):
        text = text[: member.value_start] + rendered + text[member.end :]
    return text


def _rendered(value: object, gap: str, colon: str) -> str:
    """The JSON of `value`, laid out as a member of an object whose members have `gap` in front of them."""
    line_end, newline, indent = gap.rpartition("\n")
    if not newline:
        return json.dumps(value, ensure_ascii=False, separators=("," + gap, colon))
    # Inside of strings json.dumps has no line ends.
    laid_out = json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", colon))
    return laid_out.replace("\n", ("\r\n" if line_end.endswith("\r") else "\n") + indent)
