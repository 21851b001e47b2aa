"""Texts in and out of files: bytes to a source, with a diagnostic for what is no text; results whole or not at all."""

from __future__ import annotations

import codecs
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from transpiler.codes import CodeInfo
from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.source import Source, Span

__all__ = ["CODES", "LARGEST", "STDIN", "decode", "is_ours", "read_source", "write_whole"]

CODES: Mapping[str, CodeInfo] = {
    "GT903": CodeInfo("an empty input", "There is nothing to convert: the input has no characters, or only blanks."),
    "GT904": CodeInfo(
        "a binary input",
        "The input contains NUL characters: it is no text. The template of a GGUF file is inside of it, not the file.",
    ),
    "GT905": CodeInfo(
        "an input that is not UTF-8",
        "Templates are read as UTF-8, or as UTF-16 where they begin with its byte order mark. The message names the "
        "first byte that is wrong, counted from 0.",
    ),
}

LARGEST = 4 << 20
"""The most bytes that are read of an input."""

STDIN = "-"

# What the emitted templates begin with, and how a file that may be replaced is known.
_OURS = b"{#- Converted from"


def read_source(path: str) -> Source:
    """Read a file, or the standard input for `-`.

    Raises:
        OSError: it can't be read.
        TemplateError: it is too large (GT901), empty (GT903), binary (GT904) or not UTF-8 (GT905).
    """
    if path == STDIN:
        return decode(sys.stdin.buffer.read(LARGEST + 1), "<stdin>")
    with Path(path).open("rb") as file:
        # A file's name may be no text either.
        return decode(file.read(LARGEST + 1), os.fsencode(path).decode("utf-8", "replace"))


def decode(data: bytes, name: str) -> Source:
    """The text of an input, without a byte order mark.

    Raises:
        TemplateError: as `read_source` does.
    """
    if len(data) > LARGEST:
        raise _refused("GT901", name, f"the input is too large: over {LARGEST:,} bytes")
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    if encoding == "utf-8" and b"\0" in data:
        raise _refused("GT904", name, f"the input is binary: byte {data.index(0):,} is NUL")
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = Source(data[: error.start].decode(encoding, "replace").removeprefix("\ufeff") + "\ufffd", name)
        place = Span(len(before.text) - 1, len(before.text))
        message = f"the input is not {encoding.upper()}: byte {error.start:,} is 0x{data[error.start]:02x}"
        raise TemplateError((Diagnostic("GT905", Severity.ERROR, message, before, place),)) from error
    if "\0" in text:
        raise _refused("GT904", name, f"the input is binary: character {text.index(chr(0)):,} is NUL")
    if not text.strip():
        raise _refused("GT903", name, "the input is empty")
    return Source(text, name)


def is_ours(path: Path) -> bool:
    """Whether `path` may be replaced: it is no file yet, a device, or a template that was converted before."""
    if not path.is_file():
        return not path.is_dir()
    with path.open("rb") as file:
        return file.read(len(_OURS)) == _OURS


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is either the old one or the new one at any moment: beside it, then renamed.

    Links are followed, an existing file keeps its permissions, and devices and pipes are written to.

    Raises:
        OSError: it can't be written; nothing is left behind.
    """
    path = path.resolve()
    data = text.encode("utf-8")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _refused(code: str, name: str, message: str) -> TemplateError:
    return TemplateError((Diagnostic(code, Severity.ERROR, message, Source("", name)),))
