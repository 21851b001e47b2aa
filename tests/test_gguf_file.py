"""A template goes into a copy of a GGUF, and nothing else in it changes; what is no GGUF is refused."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from needed import library, open_engine

from transpiler.packaging import gguf_file
from transpiler.packaging.errors import PackagingError
from transpiler.packaging.gguf_file import read_gguf, write_gguf
from transpiler.verify.engines.tiny_gguf import write_tiny_gguf

TEMPLATE = "{%- for m in messages -%}\n<｜{{ m['role'] }}｜>{{ m['content'] }} \"\\\n{%- endfor -%}"


def make_gguf(
    path: Path, *, template: str | None = "old", alignment: int | None = None, big: bool = False, tensors: bool = True
) -> Path:
    """A GGUF file by the hand of the `gguf` library, with something of every type."""
    gguf = library("gguf")
    numpy = library("numpy")
    kinds = gguf.GGUFValueType
    order = gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(path, "llama", endianess=order)
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    writer.add_name("tiny ｜ model")
    writer.add_token_list(["<unk>", "<s>", "</s>", "｜"])
    writer.add_bos_token_id(1)
    if template is not None:
        writer.add_chat_template([{"name": "default", "template": template}, {"name": "tool_use", "template": "tools"}])
    writer.add_add_bos_token(True)
    for number, kind in enumerate((kinds.UINT8, kinds.INT8, kinds.UINT16, kinds.INT16, kinds.INT32, kinds.UINT64)):
        writer.add_key_value(f"test.{kind.name}", number, kind)
    writer.add_key_value("test.INT64", -(2**63), kinds.INT64)
    writer.add_key_value("test.FLOAT32", 1e-5, kinds.FLOAT32)
    writer.add_key_value("test.FLOAT64", 0.1, kinds.FLOAT64)
    writer.add_key_value("test.floats", [0.5, 1.5], kinds.ARRAY)
    writer.add_key_value("test.empty", "", kinds.STRING)
    writer.add_key_value("test.nested", [[1, 2], [3], [4, 5, 6]], kinds.ARRAY)
    writer.add_key_value("test.strings", [["a"], ["b", "｜"]], kinds.ARRAY)
    if tensors:
        random = numpy.random.default_rng(1)
        writer.add_tensor("floats", random.normal(size=(5, 3)).astype(numpy.float32))
        writer.add_tensor("halves", random.normal(size=(7,)).astype(numpy.float16))
        for kind in (gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q6_K, gguf.GGMLQuantizationType.MXFP4):
            block, size = gguf.GGML_QUANT_SIZES[kind]
            rows = random.integers(0, 256, size=(3, 256 // block * size), dtype=numpy.uint8)
            writer.add_tensor(kind.name, rows, raw_dtype=kind)
        writer.add_tensor("wide", random.integers(0, 9, size=(2, 2, 2, 2), dtype=numpy.int64))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def contents(path: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """What the `gguf` library finds: the metadata but the number of pairs, and the tensors, all as bytes."""
    reader = library("gguf").GGUFReader(path)
    fields = [
        (name, field.types, [part.tobytes() for part in field.parts])
        for name, field in reader.fields.items()
        if name != "GGUF.kv_count"
    ]
    tensors = [
        (t.name, t.tensor_type, t.shape.tolist(), t.field.parts[-1].tobytes(), t.data.tobytes()) for t in reader.tensors
    ]
    return fields, tensors


@pytest.mark.parametrize("tensors", [True, False])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("alignment", [None, 8, 64, 4096])
@pytest.mark.parametrize("old", ["old", None, "long " * 5000])
def test_a_copy_of_a_gguf_file_differs_in_its_template_alone(
    tmp_path: Path, old: str | None, alignment: int | None, big: bool, tensors: bool
) -> None:
    source = make_gguf(tmp_path / "in.gguf", template=old, alignment=alignment, big=big, tensors=tensors)
    before = source.read_bytes()
    copy, again, back = (tmp_path / f"{name}.gguf" for name in ("copy", "again", "back"))
    write_gguf(source, copy, TEMPLATE)
    assert source.read_bytes() == before
    assert read_gguf(copy).chat_template == TEMPLATE

    fields, all_tensors = contents(source)
    new_fields, new_tensors = contents(copy)
    key = "tokenizer.chat_template"
    assert new_tensors == all_tensors
    assert [f for f in new_fields if f[0] != key] == [f for f in fields if f[0] != key]
    names = [f[0] for f in fields]
    assert [f[0] for f in new_fields] == (names if key in names else [*names, key])

    write_gguf(copy, again, TEMPLATE)
    assert again.read_bytes() == copy.read_bytes()
    if old is not None:
        write_gguf(copy, back, old)
        assert back.read_bytes() == before


# Answers with the prompt of llama.cpp's server; leaves without cleaning up, since destroying a server may hang.
LLAMACPP = """
import json, os, sys, urllib.request, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx, parameters.port = sys.argv[1], 256, 0
parameters.use_jinja, parameters.warmup, parameters.n_parallel, parameters.cpuparams.n_threads = True, False, 1, 1
server = xllamacpp.Server(parameters)
body = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
address = server.listening_address + "/apply-template"
request = urllib.request.Request(address, body, {"content-type": "application/json"})
sys.stdout.buffer.write(json.load(urllib.request.urlopen(request))["prompt"].encode())
sys.stdout.buffer.flush()
os._exit(0)
"""


def test_llamacpp_renders_the_template_of_a_copy(tmp_path: Path) -> None:
    open_engine("llama.cpp")
    source, target = tmp_path / "in.gguf", tmp_path / "out.gguf"
    write_tiny_gguf(source)
    write_gguf(source, target, "{% for m in messages %}<｜{{ m['role'] }}｜>{{ m['content'] }}{% endfor %}")
    done = subprocess.run([sys.executable, "-c", LLAMACPP, str(target)], capture_output=True, timeout=60, check=True)
    assert done.stdout.decode() == "<｜user｜>hi"


def test_a_gguf_file_of_version_2_stays_one(tmp_path: Path) -> None:
    source = make_gguf(tmp_path / "in.gguf")
    data = bytearray(source.read_bytes())
    data[4:8] = struct.pack("<I", 2)
    source.write_bytes(data)
    write_gguf(source, tmp_path / "out.gguf", TEMPLATE)
    assert (tmp_path / "out.gguf").read_bytes()[:8] == data[:8]
    assert contents(tmp_path / "out.gguf")[1] == contents(source)[1]
    assert read_gguf(tmp_path / "out.gguf").chat_template == TEMPLATE


@pytest.mark.parametrize("big", [False, True])
def test_a_gguf_file_says_what_matters_to_a_template(tmp_path: Path, big: bool) -> None:
    facts = read_gguf(make_gguf(tmp_path / "in.gguf", big=big))
    assert facts.chat_template == "old"
    assert facts.chat_templates == {"tool_use": "tools"}
    assert (facts.add_bos, facts.bos_token) == (True, "<s>")
    assert (facts.architecture, facts.name) == ("llama", "tiny ｜ model")


def test_a_gguf_file_may_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "in.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 0))
    facts = read_gguf(path)
    assert (facts.chat_template, facts.add_bos, facts.bos_token, facts.architecture) == (None,) * 4
    assert facts.chat_templates == {}
    write_gguf(path, tmp_path / "out.gguf", "")
    assert read_gguf(tmp_path / "out.gguf").chat_template == ""


def string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def pair(key: bytes, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


def gguf_of(*pairs: bytes, count: int | None = None, tensors: int = 0, rest: bytes = b"") -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", 3, tensors, len(pairs) if count is None else count) + b"".join(pairs) + rest


def nested(depth: int) -> bytes:
    return struct.pack("<IQ", 9, 1) * depth + struct.pack("<IQ", 0, 0)


def tensor(dimensions: tuple[int, ...], kind: int, offset: int) -> bytes:
    shape = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
    return string(b"t") + shape + struct.pack("<IQ", kind, offset)


HUGE = 2**64 - 1
CORRUPT = {
    "empty": (b"", "not a GGUF file"),
    "other": (b"{}" * 50, "not a GGUF file"),
    "magic": (b"GGUF", "truncated or corrupt"),
    "version 1": (struct.pack("<4sIII", b"GGUF", 1, 0, 0) + bytes(40), "GGUF version 1; only 2 to 3"),
    "version 4": (struct.pack("<4sIQQ", b"GGUF", 4, 0, 0), "GGUF version 4"),
    "version 0": (struct.pack("<4sIQQ", b"GGUF", 0, 0, 0), "GGUF version 0"),
    "pairs": (gguf_of(count=HUGE), "more metadata than it has room for"),
    "key": (gguf_of(struct.pack("<Q", HUGE) + bytes(99)), "ends inside of its metadata"),
    "string": (gguf_of(pair(b"k", 8, struct.pack("<Q", 2**63) + bytes(99))), "ends inside of its metadata"),
    "numbers": (gguf_of(pair(b"k", 9, struct.pack("<IQ", 12, HUGE))), "ends inside of its metadata"),
    "strings": (gguf_of(pair(b"k", 9, struct.pack("<IQ", 8, HUGE) + bytes(99))), "ends inside of its metadata"),
    "arrays": (gguf_of(pair(b"k", 9, struct.pack("<IQ", 9, HUGE) + bytes(99))), "arrays in arrays"),
    "few arrays": (gguf_of(pair(b"k", 9, struct.pack("<IQ", 9, 99) + bytes(99))), "ends inside of its metadata"),
    "type": (gguf_of(pair(b"k", 13, bytes(99))), "no type 13"),
    "type of array": (gguf_of(pair(b"k", 9, struct.pack("<IQ", 99, 0))), "no type 99"),
    "depth": (gguf_of(pair(b"k", 9, nested(5000))), "nested more than 8 deep"),
    "twice": (gguf_of(pair(b"k", 0, b"1"), pair(b"k", 0, b"2")), "'k' stands there twice"),
}
CORRUPT_TENSORS = {
    "tensors": (gguf_of(tensors=HUGE), "more tensors than it has room for"),
    "dimensions": (gguf_of(tensors=1, rest=string(b"t") + struct.pack("<I", 2**32 - 1) + bytes(99)), "dimensions"),
    "shape": (gguf_of(tensors=1, rest=tensor((HUGE,) * 4, 0, 0)), "truncated GGUF file"),
    "offset": (gguf_of(tensors=1, rest=tensor((1,), 0, HUGE)), "truncated GGUF file"),
    "unknown type": (gguf_of(tensors=1, rest=tensor((1,), 9999, HUGE)), "truncated GGUF file"),
    "data": (gguf_of(tensors=1, rest=tensor((32,), 0, 0) + bytes(99)), "truncated GGUF file"),
    "alignment 0": (gguf_of(pair(b"general.alignment", 4, struct.pack("<I", 0))), "general.alignment"),
    "alignment 48": (gguf_of(pair(b"general.alignment", 4, struct.pack("<I", 48))), "general.alignment"),
    "alignment 2 GiB": (gguf_of(pair(b"general.alignment", 4, struct.pack("<I", 1 << 31))), "general.alignment"),
    "alignment as text": (gguf_of(pair(b"general.alignment", 8, string(b"32"))), "general.alignment"),
}


@pytest.mark.parametrize("case", [*CORRUPT, *CORRUPT_TENSORS])
def test_a_corrupt_gguf_file_is_refused_in_one_line_and_little_memory(tmp_path: Path, case: str) -> None:
    library("gguf")
    data, problem = (CORRUPT | CORRUPT_TENSORS)[case]
    source = tmp_path / "in.gguf"
    source.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(PackagingError) as caught:
            write_gguf(source, tmp_path / "out.gguf", TEMPLATE)
        if case in CORRUPT:
            with pytest.raises(PackagingError):
                read_gguf(source)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{source}: ")
    assert problem in str(caught.value)
    assert list(tmp_path.iterdir()) == [source]


def test_metadata_without_an_end_are_not_read_to_the_end_of_a_large_file(tmp_path: Path) -> None:
    library("gguf")
    source = tmp_path / "in.gguf"
    source.write_bytes(gguf_of(pair(b"k", 8, struct.pack("<Q", 1 << 39))))
    os.truncate(source, 1 << 40)
    with pytest.raises(PackagingError, match="bytes of metadata"):
        read_gguf(source)


def test_texts_in_a_gguf_file_have_to_be_utf8_where_they_are_asked_for(tmp_path: Path) -> None:
    library("gguf")
    source = tmp_path / "in.gguf"
    source.write_bytes(gguf_of(pair(b"tokenizer.chat_template", 8, string(b"\xff")), pair(b"\xff", 8, string(b"\xff"))))
    with pytest.raises(PackagingError, match=r"tokenizer\.chat_template is not UTF-8"):
        read_gguf(source)
    write_gguf(source, tmp_path / "out.gguf", TEMPLATE)
    assert read_gguf(tmp_path / "out.gguf").chat_template == TEMPLATE


def test_values_of_an_unexpected_type_say_nothing(tmp_path: Path) -> None:
    library("gguf")
    source = tmp_path / "in.gguf"
    tokens = pair(b"tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 1) + string(b"x"))
    for bos in (
        pair(b"tokenizer.ggml.bos_token_id", 4, struct.pack("<I", 1)),
        pair(b"tokenizer.ggml.bos_token_id", 5, struct.pack("<i", -1)),
        pair(b"tokenizer.ggml.bos_token_id", 8, string(b"0")),
    ):
        add = pair(b"tokenizer.ggml.add_bos_token", 4, struct.pack("<I", 1))
        source.write_bytes(gguf_of(tokens, bos, add, pair(b"tokenizer.chat_template", 0, b"1")))
        facts = read_gguf(source)
        assert (facts.bos_token, facts.add_bos, facts.chat_template) == (None, None, None)
        write_gguf(source, tmp_path / "out.gguf", TEMPLATE)
        assert read_gguf(tmp_path / "out.gguf").chat_template == TEMPLATE


def test_a_gguf_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = make_gguf(tmp_path / "whole.gguf").read_bytes()
    source, target = tmp_path / "in.gguf", tmp_path / "out.gguf"
    # The padding behind the last tensor may be missing: 128 bytes are a multiple of the alignment.
    assert len(whole) % 32 == 0
    for length in range(0, len(whole) - 32, 7):
        source.write_bytes(whole[:length])
        with pytest.raises(PackagingError):
            write_gguf(source, target, TEMPLATE)
        with contextlib.suppress(PackagingError):
            read_gguf(source)
        assert not target.exists()


def test_a_gguf_file_with_wrong_bytes_is_copied_or_refused(tmp_path: Path) -> None:
    whole = make_gguf(tmp_path / "whole.gguf").read_bytes()
    source, target = tmp_path / "in.gguf", tmp_path / "out.gguf"
    chance = random.Random(7)
    head = len(whole) - 1500
    outcomes = {"copied": 0, "refused": 0}
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            data[chance.randrange(head)] = chance.choice((0, 1, 8, 9, 0x7F, 0xFF, chance.randrange(256)))
        source.write_bytes(data)
        try:
            read_gguf(source)
            write_gguf(source, target, TEMPLATE)
            assert read_gguf(target).chat_template == TEMPLATE
            outcomes["copied"] += 1
        except PackagingError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100
    assert not list(tmp_path.glob(".*"))


def test_progress_counts_the_bytes_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_file, "_CHUNK", 100)
    source, target = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf"
    calls: list[tuple[int, int]] = []
    write_gguf(source, target, TEMPLATE, progress=lambda done, total: calls.append((done, total)))
    size = target.stat().st_size
    assert {total for _, total in calls} == {size}
    assert calls == sorted(set(calls))
    assert calls[-1] == (size, size)
    assert len(calls) > 10
    assert contents(target)[1] == contents(source)[1]


class Stopped(BaseException):
    """What no handler expects."""


@pytest.mark.parametrize("existing", [True, False])
def test_a_copy_that_is_stopped_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existing: bool) -> None:
    monkeypatch.setattr(gguf_file, "_CHUNK", 100)
    source, target = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf"
    if existing:
        target.write_bytes(b"before")

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise Stopped

    before = source.read_bytes()
    with pytest.raises(Stopped):
        write_gguf(source, target, TEMPLATE, progress=stop)
    assert source.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == ([source, target] if existing else [source])
    assert not existing or target.read_bytes() == b"before"


def test_a_copy_that_is_killed_leaves_no_target(tmp_path: Path) -> None:
    source, target = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf"
    before = source.read_bytes()
    script = (
        "import sys, time; from pathlib import Path; from transpiler.packaging import gguf_file\n"
        "def wait(done, total):\n"
        "    if done > total // 2: print('half', flush=True); time.sleep(60)\n"
        "gguf_file._CHUNK = 100\n"
        "gguf_file.write_gguf(Path(sys.argv[1]), Path(sys.argv[2]), 'new', progress=wait)\n"
    )
    root = Path(gguf_file.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", script, str(source), str(target)], stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert not target.exists()
    assert source.read_bytes() == before


def test_a_source_that_shrinks_while_it_is_copied_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_file, "_CHUNK", 100)
    source, target = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf"
    with source.open("ab") as file:
        file.write(bytes(1 << 20))
    with pytest.raises(PackagingError, match="became shorter"):
        write_gguf(source, target, TEMPLATE, progress=lambda done, total: os.truncate(source, 4096))
    assert list(tmp_path.iterdir()) == [source]


def test_the_source_is_never_the_target(tmp_path: Path) -> None:
    source = make_gguf(tmp_path / "in.gguf")
    before = source.read_bytes()
    link, name, folder = tmp_path / "link.gguf", tmp_path / "name.gguf", tmp_path / "folder"
    link.symlink_to(source)
    name.hardlink_to(source)
    folder.symlink_to(tmp_path)
    for target in (source, link, name, folder / "in.gguf", tmp_path / "folder" / ".." / tmp_path.name / "in.gguf"):
        with pytest.raises(PackagingError, match="is the file that is read"):
            write_gguf(source, target, TEMPLATE)
        with pytest.raises(PackagingError, match="is the file that is read"):
            write_gguf(target, source, TEMPLATE)
    assert source.read_bytes() == before


def test_links_are_followed_and_permissions_kept(tmp_path: Path) -> None:
    source, target, link = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf", tmp_path / "link.gguf"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    write_gguf(source, link, TEMPLATE)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert read_gguf(target).chat_template == TEMPLATE


def test_only_regular_files_are_read_and_written(tmp_path: Path) -> None:
    source, pipe = make_gguf(tmp_path / "in.gguf"), tmp_path / "pipe"
    os.mkfifo(pipe)
    for other in (tmp_path, pipe):
        with pytest.raises(PackagingError, match="not a regular file"):
            read_gguf(other)
        with pytest.raises(PackagingError, match="not a regular file"):
            write_gguf(other, tmp_path / "out.gguf", TEMPLATE)
        with pytest.raises(PackagingError, match="not a regular file"):
            write_gguf(source, other, TEMPLATE)
    with pytest.raises(FileNotFoundError):
        write_gguf(tmp_path / "none.gguf", tmp_path / "out.gguf", TEMPLATE)


def test_memory_does_not_grow_with_the_tensors(tmp_path: Path) -> None:
    source, target = make_gguf(tmp_path / "in.gguf"), tmp_path / "out.gguf"
    os.truncate(source, 100 << 20)
    write_gguf(source, target, "warm")
    tracemalloc.start()
    try:
        write_gguf(source, target, TEMPLATE)
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


def test_without_the_package_gguf_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.gguf"
    source.write_bytes(gguf_of())
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(PackagingError, match=r"pip install 'gotmpl2jinja\[gguf\]'"):
        read_gguf(source)
    with pytest.raises(PackagingError, match=r"pip install 'gotmpl2jinja\[gguf\]'"):
        write_gguf(source, tmp_path / "out.gguf", TEMPLATE)
