"""Where everything in front of the tensors of a GGUF file stands. Knows the format; changes nothing.

The names, numbers and sizes come from the `gguf` package. Its reader is not used: it trusts the lengths that a file
states, makes an array of every string of a vocabulary, and flattens nested arrays; its writer has no empty strings and
arrays. Here all bytes keep their place, and a length is held against the size of the file before anything is read.
"""

from __future__ import annotations

import importlib
import os
import struct
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from transpiler.packaging.errors import PackagingError

__all__ = ["GgufHead", "Pair", "TensorArea", "gguf_library"]

# Bytes. A vocabulary of a quarter of a million tokens has some 20 MB.
_LARGEST_HEAD = 128 << 20
_STEP = 1 << 20

_HEADER = 24
# ggml's bound (GGUF_MAX_ALIGNMENT), and its GGML_MAX_DIMS.
_LARGEST_ALIGNMENT = 1 << 20
_DIMENSIONS = 4
# Arrays in arrays are in the format, though neither ggml nor Ollama reads them.
_DEEPEST = 8
_MOST_ARRAYS = 1 << 20
# Bytes that a key with its value and the description of a tensor have at least.
_SMALLEST_PAIR = 13
_SMALLEST_TENSOR = 24

_SCALARS = {
    "UINT8": "B",
    "INT8": "b",
    "UINT16": "H",
    "INT16": "h",
    "UINT32": "I",
    "INT32": "i",
    "UINT64": "Q",
    "INT64": "q",
    "FLOAT32": "f",
    "FLOAT64": "d",
    "BOOL": "?",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value: the offsets of the first byte (of the key's length), of the value behind its type, and of
    the byte behind it; `kind` is the number of a GGUFValueType."""

    start: int
    kind: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class TensorArea:
    """Offsets: behind the descriptions of the tensors, and of the first byte of the first tensor; in bytes."""

    described_end: int
    data_start: int
    alignment: int


def gguf_library() -> Any:
    """The package `gguf`, imported only now: it is optional, and brings numpy.

    Raises PackagingError where it is missing.
    """
    try:
        return importlib.import_module("gguf")
    except ImportError as error:
        raise PackagingError("GGUF files need a package: pip install 'gotmpl2jinja[gguf]'") from error


class GgufHead:
    """Header and metadata of a GGUF file of version 2 or 3, of either byte order.

    `pairs` has the metadata by key, in the order of the file; `size` is that of the whole file, in bytes.
    """

    def __init__(self, file: BufferedReader, path: Path) -> None:
        """Read the metadata of `file`, which is at its start; `path` is what errors call it.

        Raises:
            PackagingError: it is no GGUF file, truncated, corrupt, or of a version that nobody reads any more or yet.
            OSError: it can't be read.
        """
        self._gguf = gguf_library()
        self._file = file
        self._path = path
        self._data = bytearray()
        self.size = os.fstat(file.fileno()).st_size
        self.order = self._byte_order()
        self._u32 = struct.Struct(self.order + "I")
        self._u64 = struct.Struct(self.order + "Q")
        kinds = self._gguf.GGUFValueType
        self._string, self._array = int(kinds.STRING), int(kinds.ARRAY)
        self._scalars = {int(kinds[name]): struct.Struct(self.order + code) for name, code in _SCALARS.items()}
        self.tensor_count = self._number(self._u64, 8)
        self._nested_arrays = 0
        self.pairs: dict[bytes, Pair] = {}
        self.metadata_end = self._read_pairs(self._number(self._u64, 16))

    def wrong(self, problem: str) -> PackagingError:
        """The error about this file."""
        return PackagingError(problem, self._path)

    def part(self, start: int, end: int) -> bytes:
        """The bytes in [start, end) of what has been read."""
        return bytes(self._data[start:end])

    def text(self, key: str) -> str | None:
        """The string that is the value of `key`; None where there is none. Raises PackagingError if it isn't UTF-8."""
        pair = self.pairs.get(key.encode())
        return self._decoded(pair.value, key) if pair is not None and pair.kind == self._string else None

    def scalar(self, key: str) -> int | float | bool | None:
        """The number or truth value of `key`; None where there is none."""
        pair = self.pairs.get(key.encode())
        return None if pair is None or pair.kind not in self._scalars else self._scalar(pair)

    def text_at(self, key: str, index: int) -> str | None:
        """Element `index` of the array of strings that is the value of `key`; None where there is none."""
        pair = self.pairs.get(key.encode())
        if pair is None or pair.kind != self._array or self._number(self._u32, pair.value) != self._string:
            return None
        if not 0 <= index < self._number(self._u64, pair.value + 4):
            return None
        return self._decoded(self._strings_end(pair.value + 12, index), key)

    def tensor_area(self) -> TensorArea:
        """Read the descriptions of the tensors, and see that the bytes of all of them are there.

        Raises:
            PackagingError: they are not, or the descriptions are corrupt.
            OSError: the file can't be read.
        """
        if self.tensor_count > (self.size - self.metadata_end) // _SMALLEST_TENSOR:
            raise self.wrong("truncated or corrupt GGUF file: it states more tensors than it has room for")
        alignment = self._alignment()
        at, last = self.metadata_end, 0
        for _ in range(self.tensor_count):
            at, end = self._tensor(at)
            last = max(last, end)
        data_start = -(-at // alignment) * alignment
        if self.tensor_count and data_start + last > self.size:
            raise self.wrong(f"truncated GGUF file: {self.size:,} bytes, its tensors need {data_start + last:,}")
        return TensorArea(at, data_start, alignment)

    def _byte_order(self) -> str:
        """`<` or `>` for `struct`: of a file in the other order the version has its low bytes empty."""
        if self.size < 4 or self._number(struct.Struct("<I"), 0) != self._gguf.GGUF_MAGIC:
            raise self.wrong("not a GGUF file")
        self._reach(_HEADER)
        order = "<" if self._number(struct.Struct("<I"), 4) & 0xFFFF else ">"
        version = self._number(struct.Struct(order + "I"), 4)
        if not 2 <= version <= self._gguf.GGUF_VERSION:
            raise self.wrong(f"GGUF version {version}; only 2 to {self._gguf.GGUF_VERSION} can be read")
        return order

    def _alignment(self) -> int:
        key = self._gguf.Keys.General.ALIGNMENT
        pair = self.pairs.get(key.encode())
        if pair is None:
            return int(self._gguf.GGUF_DEFAULT_ALIGNMENT)
        found = self._scalar(pair) if pair.kind == self._gguf.GGUFValueType.UINT32 else 0
        if not isinstance(found, int) or not 0 < found <= _LARGEST_ALIGNMENT or found & (found - 1):
            raise self.wrong(f"corrupt GGUF file: {key} is no power of two up to {_LARGEST_ALIGNMENT:,}")
        return found

    def _read_pairs(self, count: int) -> int:
        """Find all pairs; the offset behind them."""
        if count > (self.size - _HEADER) // _SMALLEST_PAIR:
            raise self.wrong("truncated or corrupt GGUF file: it states more metadata than it has room for")
        at = _HEADER
        for _ in range(count):
            start, at = at, self._strings_end(at, 1)
            key = self.part(start + 8, at)
            kind = self._number(self._u32, at)
            end = self._value_end(kind, at + 4)
            if key in self.pairs:
                raise self.wrong(f"corrupt GGUF file: {key[:100].decode('utf-8', 'replace')!r} stands there twice")
            self.pairs[key] = Pair(start, kind, at + 4, end)
            at = end
        return at

    def _value_end(self, kind: int, at: int, depth: int = 0) -> int:
        """The offset behind the value at `at`."""
        if kind == self._string:
            return self._strings_end(at, 1)
        if kind != self._array:
            return self._scalars_end(kind, at, 1)
        if depth == _DEEPEST:
            raise self.wrong(f"corrupt GGUF file: arrays are nested more than {_DEEPEST} deep")
        kind, count, at = self._number(self._u32, at), self._number(self._u64, at + 4), at + 12
        if kind == self._string:
            return self._strings_end(at, count)
        if kind != self._array:
            return self._scalars_end(kind, at, count)
        self._nested_arrays += count
        if self._nested_arrays > _MOST_ARRAYS:
            raise self.wrong(f"corrupt GGUF file: more than {_MOST_ARRAYS:,} arrays in arrays")
        for _ in range(count):
            at = self._value_end(kind, at, depth + 1)
        return at

    def _scalars_end(self, kind: int, at: int, count: int) -> int:
        if kind not in self._scalars:
            raise self.wrong(f"corrupt GGUF file: there is no type {kind} of metadata")
        end = at + count * self._scalars[kind].size
        self._reach(end)
        return end

    def _strings_end(self, at: int, count: int) -> int:
        """The offset behind `count` strings: each is a length in bytes, and so many bytes."""
        data, length_at = self._data, self._u64.unpack_from
        for _ in range(count):
            if at + 8 > len(data):
                self._reach(at + 8)
            at += 8 + length_at(data, at)[0]
        self._reach(at)
        return at

    def _tensor(self, at: int) -> tuple[int, int]:
        """The offset behind the description at `at`, and where that tensor ends, counted from the first one."""
        at = self._strings_end(at, 1)
        count = self._number(self._u32, at)
        if count > _DIMENSIONS:
            raise self.wrong(f"corrupt GGUF file: a tensor of {count} dimensions")
        elements = 1
        for place in range(at + 4, at + 4 + 8 * count, 8):
            elements *= self._number(self._u64, place)
        at += 4 + 8 * count
        # Of a type that is newer than the package the size isn't known.
        block, size = self._gguf.GGML_QUANT_SIZES.get(self._number(self._u32, at), (1, 0))
        return at + 12, self._number(self._u64, at + 4) + elements // block * size

    def _scalar(self, pair: Pair) -> int | float | bool:
        value: int | float | bool = self._scalars[pair.kind].unpack_from(self._data, pair.value)[0]
        return value

    def _decoded(self, at: int, key: str) -> str:
        try:
            return self.part(at + 8, self._strings_end(at, 1)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.wrong(f"{key} is not UTF-8") from error

    def _number(self, form: struct.Struct, at: int) -> int:
        self._reach(at + form.size)
        number: int = form.unpack_from(self._data, at)[0]
        return number

    def _reach(self, end: int) -> None:
        """Have the file read up to the offset `end`."""
        missing = end - len(self._data)
        if missing <= 0:
            return
        if end > self.size:
            raise self.wrong("truncated or corrupt GGUF file: it ends inside of its metadata")
        if end > _LARGEST_HEAD:
            raise self.wrong(f"corrupt GGUF file: more than {_LARGEST_HEAD:,} bytes of metadata")
        self._data += self._file.read(max(missing, _STEP))
        if end > len(self._data):
            raise self.wrong("the GGUF file became shorter while it was read")
