"""The chat template in a GGUF file: what a file says, and a copy of it with another template.

A copy is the bytes of the source with one value of the metadata replaced, and the gap in front of the tensors made to
fit: tensors are placed relative to the first one, so nothing else has to change.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from transpiler.files import replacing
from transpiler.packaging.errors import PackagingError
from transpiler.packaging.gguf_layout import GgufHead, gguf_library

__all__ = ["GgufFacts", "read_gguf", "write_gguf"]

# Bytes that are copied at once.
_CHUNK = 8 << 20

# Where in the header the number of metadata pairs stands.
_PAIR_COUNT = 16


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """What a GGUF file says that matters to a chat template; None: it doesn't say.

    `chat_templates` are those that have a name (`tokenizer.chat_template.NAME`), `chat_template` the one without;
    `add_bos` is whether the tokenizer puts BOS in front of what it encodes.
    """

    chat_template: str | None
    chat_templates: Mapping[str, str]
    add_bos: bool | None
    bos_token: str | None
    architecture: str | None
    name: str | None


def read_gguf(path: Path) -> GgufFacts:
    """What the metadata of a GGUF file says; the tensors are not looked at, and need not be there.

    Raises:
        PackagingError: it is no GGUF file, truncated or corrupt; or the package `gguf` is missing.
        OSError: it can't be read.
    """
    keys = gguf_library().Keys
    with _opened(path) as file:
        head = GgufHead(file, path)
    named = {}
    prefix = f"{keys.Tokenizer.CHAT_TEMPLATE}."
    for key in head.pairs:
        if key.startswith(prefix.encode()):
            full = key.decode("utf-8", "replace")
            template = head.text(full)
            if template is not None:
                named[full.removeprefix(prefix)] = template
    add_bos = head.scalar(keys.Tokenizer.ADD_BOS)
    bos = head.scalar(keys.Tokenizer.BOS_ID)
    return GgufFacts(
        chat_template=head.text(keys.Tokenizer.CHAT_TEMPLATE),
        chat_templates=MappingProxyType(named),
        add_bos=add_bos if isinstance(add_bos, bool) else None,
        bos_token=head.text_at(keys.Tokenizer.LIST, bos) if isinstance(bos, int) else None,
        architecture=head.text(keys.General.ARCHITECTURE),
        name=head.text(keys.General.NAME),
    )


def write_gguf(
    source: Path, target: Path, chat_template: str, *, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write a copy of the GGUF file `source` to `target`, with `chat_template` as its `tokenizer.chat_template`.

    All other metadata, their order, and the tensors are the same bytes, whatever the version (2 or 3) and the byte
    order; templates that have a name are kept as well. `source` is only read. `target` is what it was before, or none,
    until the copy is complete; its directory is made. Memory: 8 MiB, and a few times the metadata.

    `progress` is called with the bytes written and the bytes of the whole copy; what it raises ends the copying.

    Raises:
        PackagingError: `source` is no GGUF file, truncated or corrupt; `target` is the same file or no regular one;
            the template can't be encoded; or the package `gguf` is missing.
        OSError: `source` can't be read or `target` can't be written; nothing is left behind.
    """
    try:
        template = chat_template.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PackagingError("the template has half of a surrogate pair, which UTF-8 can't say", target) from error
    if target.exists() and not target.is_file():
        raise PackagingError("not a regular file", target)
    # A link to a file is that file; a second name of it is as well.
    if target.resolve() == source.resolve() or (target.exists() and source.exists() and target.samefile(source)):
        raise PackagingError("is the file that is read; write the copy to another one", target)
    with _opened(source) as file:
        head = GgufHead(file, source)
        start, copied_from = _start_with(head, template)
        with replacing(target) as copy:
            _copy(head, file, copied_from, start, copy, progress)


def _start_with(head: GgufHead, template: bytes) -> tuple[bytes, int]:
    """What the copy has in front of its tensors, and the offset of the first byte of the source that follows."""
    gguf = gguf_library()
    area = head.tensor_area()
    key = gguf.Keys.Tokenizer.CHAT_TEMPLATE.encode()

    def packed(text: bytes) -> bytes:
        return struct.pack(head.order + "Q", len(text)) + text

    pair = packed(key) + struct.pack(head.order + "I", gguf.GGUFValueType.STRING) + packed(template)
    old = head.pairs.get(key)
    count = struct.pack(head.order + "Q", len(head.pairs) + (old is None))
    begin, end = (head.metadata_end, head.metadata_end) if old is None else (old.start, old.end)
    header = head.part(0, _PAIR_COUNT) + count
    start = header + head.part(len(header), begin) + pair + head.part(end, area.described_end)
    if area.data_start > head.size:
        # No tensors, and no gap where they would be.
        return start, head.size
    return start + bytes(-len(start) % area.alignment), area.data_start


def _copy(
    head: GgufHead,
    source: BufferedReader,
    offset: int,
    start: bytes,
    target: BinaryIO,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Write `start`, and all of `source` from `offset` on."""
    target.write(start)
    left = head.size - offset
    total = len(start) + left
    buffer = memoryview(bytearray(min(_CHUNK, left)))
    source.seek(offset)
    while True:
        if progress is not None:
            progress(total - left, total)
        if not left:
            return
        count = source.readinto(buffer[: min(len(buffer), left)])
        if not count:
            raise head.wrong("the GGUF file became shorter while it was copied")
        target.write(buffer[:count])
        left -= count


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    # To open a pipe would wait for someone to write to it.
    if path.exists() and not path.is_file():
        raise PackagingError("not a regular file", path)
    with path.open("rb") as file:
        yield file
