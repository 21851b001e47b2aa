"""Files of an Ollama store that nobody vouches for: read up to a limit, checked, and refused with one line."""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from transpiler.reading import LARGEST

DIGEST = re.compile(r"sha256[:-][0-9a-fA-F]{64}")
# In JSON a pair of surrogates, one alone (the group), or any other escape.
_HEX = "[0-9a-fA-F]"
_SURROGATES = re.compile(
    rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|(\\u[dD][89a-fA-F]{_HEX}{{2}})|\\.", re.DOTALL
)
_SHOWN = 200


class StoreError(Exception):
    """The store, or a model in it, can't be read; the message is one line, and enough on its own."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One entry of a manifest; `kind` is what is behind Ollama's prefix, else the media type; `size` in bytes."""

    kind: str
    digest: str
    size: int | None


def blob_path(store: Path, layer: Layer) -> Path:
    """The path of a blob that is there and has the size that its manifest gives; nothing is read.

    Raises StoreError for a blob that is missing, no file, or of another size.
    """
    if not layer.digest:
        raise StoreError(f"the manifest is broken: its {layer.kind} layer has no digest")
    path = store / "blobs" / layer.digest.replace(":", "-")
    size = _size(path, f"the {layer.kind} blob")
    if layer.size is not None and size != layer.size:
        raise StoreError(f"the {layer.kind} blob has {size:,} bytes instead of {layer.size:,}: {shown(path)}")
    return path


def _blob(store: Path, layer: Layer) -> bytes:
    """The content of a blob, at most 4 MiB, which is what its digest says."""
    path = blob_path(store, layer)
    data = read_bytes(path, f"the {layer.kind} blob", LARGEST)
    if hashlib.sha256(data).hexdigest() != layer.digest[-64:].lower():
        raise StoreError(f"the {layer.kind} blob is not what its digest says: {shown(path)}")
    return data


def text_blob(store: Path, layer: Layer) -> str:
    """The text of a blob, line ends kept; raises StoreError as `blob_path`, and where it is forged or no text."""
    return _decoded(_blob(store, layer), f"the {layer.kind} blob")


def json_blob(store: Path, layer: Layer, kind: type, default: Any) -> Any:
    """The JSON in a blob, which has to be of a `kind`; null is the default. Raises StoreError as `text_blob`."""
    where = f"the {layer.kind} blob"
    return field({"content": parse_json(_blob(store, layer), where)}, "content", kind, default, where)


def field(fields: dict[str, Any], key: str, kind: type, default: Any, where: str) -> Any:
    """A field of a JSON object, or the default where it is absent or null."""
    value = fields.get(key)
    if value is None:
        return default
    if type(value) is not kind:
        names = {str: "string", int: "whole number", list: "list", dict: "JSON object"}
        raise StoreError(f"{where} is broken: its `{key}` is not a {names[kind]}")
    return value


def _size(path: Path, what: str) -> int:
    """The size of a file in bytes. Links are followed wherever they lead, as Ollama does."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise StoreError(f"{what} is missing: {shown(path)}") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{what} can't be read: {reason(error)}: {shown(path)}") from error
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{what} is not a file: {shown(path)}")
    return status.st_size


def read_bytes(path: Path, what: str, largest: int) -> bytes:
    """The content of a file of at most `largest` bytes."""
    _size(path, what)
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise StoreError(f"{what} can't be read: {reason(error)}: {shown(path)}") from error
    if len(data) > largest:
        raise StoreError(f"{what} is too large, more than {largest:,} bytes: {shown(path)}")
    return data


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{data[error.start]:02X}"
        raise StoreError(f"{what} is not a text: invalid UTF-8 at byte offset {error.start}: {byte}") from None


def parse_json(data: bytes, what: str) -> Any:
    r"""The first JSON value of a text, read as by Go: not further than that, and a lone `\ud83d` is U+FFFD."""
    text = _SURROGATES.sub(lambda found: "\\ufffd" if found[1] else found[0], _decoded(data, what))
    decoder = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
    try:
        return decoder.raw_decode(text.lstrip(" \t\r\n"))[0]
    except json.JSONDecodeError as error:
        fault = f"{error.msg} at line {error.lineno} column {error.colno}"
    except ValueError:
        fault = "a number is out of range"
    except RecursionError:
        fault = "it is nested too deeply"
    raise StoreError(f"{what} is no valid JSON: {fault}")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def reason(error: OSError | ValueError) -> str:
    """Why the system won't open a path; a ValueError is for one with NUL in it."""
    return (isinstance(error, OSError) and error.strerror) or "not a path"


def shown(text: str | Path) -> str:
    """A text from outside, fit for one line of a message."""
    text = str(text)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
