"""Texts in and out of files: inputs read up to a limit, results written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from transpiler.reading import LARGEST

__all__ = ["STDIN", "is_ours", "read_input", "replacing", "write_whole"]

STDIN = "-"

# What the emitted templates begin with, and how a file that may be replaced is known.
_OURS = b"{#- Converted from"


def read_input(path: str) -> tuple[bytes, str]:
    """The bytes of a file, or of the standard input for `-`, and the name that messages give it.

    Of what is too large only as much is read as shows that.

    Raises:
        OSError: it can't be read.
    """
    if path == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "the standard input is closed")
        return sys.stdin.buffer.read(LARGEST + 1), "<stdin>"
    with Path(path).open("rb") as file:
        # A file's name may be no text either.
        return file.read(LARGEST + 1), os.fsencode(path).decode("utf-8", "replace")


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
    data = text.encode("utf-8")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place when all has gone well, and is removed when it has not.

    Links are followed, and an existing file keeps its permissions.

    Raises:
        OSError: it can't be written.
    """
    path = path.resolve()
    if path.parent.exists() and not path.parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
