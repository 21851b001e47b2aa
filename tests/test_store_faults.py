"""What is broken or forged in a store is a StoreError of one line, and never leads out of the store."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from store_layout import PREFIX, add_manifest, add_model, blob_file, empty_store, manifest_file, refused

from transpiler.ollama.store import Store, StoreError

TEMPLATE = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}"
GGUF = b"GGUF\x03\x00\x00\x00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return empty_store(tmp_path)


def test_a_missing_blob(folder: Path) -> None:
    layers: list[tuple[str, Any]] = [
        ("model", GGUF),
        ("template", TEMPLATE),
        ("adapter", b"a"),
        ("params", {}),
        ("messages", []),
    ]
    manifest = add_model(folder, "broken:latest", [*layers, ("license", "MIT"), ("system", "x")])
    for layer in [*manifest["layers"], manifest["config"]]:
        kind = layer["mediaType"].removeprefix(PREFIX) if layer is not manifest["config"] else "config"
        file = blob_file(folder, layer["digest"])
        file.rename(folder / "away")
        assert refused(folder) == f"broken:latest: the {kind} blob is missing: {file}"
        file.mkdir()
        assert refused(folder) == f"broken:latest: the {kind} blob is not a file: {file}"
        file.rmdir()
        (folder / "away").rename(file)
    assert Store(folder).read("broken").template == TEMPLATE


@pytest.mark.parametrize("kind", ["model", "template", "adapter"])
@pytest.mark.parametrize("length", [0, 7, 9])
def test_a_blob_of_another_size(folder: Path, kind: str, length: int) -> None:
    manifest = add_model(folder, "broken:latest", [(kind, b"12345678")])
    file = blob_file(folder, manifest["layers"][0]["digest"])
    file.write_bytes(b"123456789"[:length])
    assert refused(folder) == f"broken:latest: the {kind} blob has {length} bytes instead of 8: {file}"


@pytest.mark.parametrize("kind", ["template", "system", "params", "messages", "license"])
def test_a_text_that_was_tampered_with(folder: Path, kind: str) -> None:
    manifest = add_model(folder, "broken:latest", [(kind, b"[]")])
    file = blob_file(folder, manifest["layers"][0]["digest"])
    file.write_bytes(b"{}")
    assert refused(folder) == f"broken:latest: the {kind} blob is not what its digest says: {file}"


def test_large_files_are_not_read(folder: Path) -> None:
    manifest = add_model(folder, "large:latest", [("model", GGUF)])
    blob_file(folder, manifest["layers"][0]["digest"]).write_bytes(b"x" * len(GGUF))
    assert Store(folder).read("large").model_path is not None


def test_a_text_that_is_too_large(folder: Path) -> None:
    largest = 4 << 20
    add_model(folder, "large:latest", [("template", "x" * largest)])
    assert len(Store(folder).read("large").template or "") == largest
    add_model(folder, "broken:latest", [("template", "x" * (largest + 1))])
    assert "the template blob is too large, more than 4,194,304 bytes: " in refused(folder)


@pytest.mark.parametrize("kind", ["template", "system", "license", "params", "messages"])
def test_a_blob_that_is_no_utf8(folder: Path, kind: str) -> None:
    add_model(folder, "broken:latest", [(kind, b'["abc\xff"]')])
    expected = f"broken:latest: the {kind} blob is not a text: invalid UTF-8 at byte offset 5: 0xFF"
    assert refused(folder) == expected


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (b"", "the manifest is no valid JSON: Expecting value at line 1 column 1"),
        (b"{\xff", "the manifest is not a text: invalid UTF-8 at byte offset 1: 0xFF"),
        (b'{"schemaVersion": 2', "the manifest is no valid JSON: Expecting ',' delimiter at line 1 column 20"),
        (b"[" * 100_000, "the manifest is no valid JSON: it is nested too deeply"),
        (b'{"schemaVersion": ' + b"9" * 5000 + b"}", "the manifest is no valid JSON: a number is out of range"),
        (b'{"schemaVersion": 1e999}', "the manifest is no valid JSON: a number is out of range"),
        (b'{"schemaVersion": NaN}', "the manifest is no valid JSON: a number is out of range"),
        ([], "not a manifest: the JSON in its place is something else"),
        (None, "not a manifest: the JSON in its place is something else"),
        ({"models": []}, "not a manifest: the JSON in its place is something else"),
        ({"schemaVersion": 1, "fsLayers": []}, "a foreign manifest: its schema version is 1, not 2"),
        ({"schemaVersion": "2"}, "the manifest is broken: its `schemaVersion` is not a whole number"),
        ({"schemaVersion": True}, "the manifest is broken: its `schemaVersion` is not a whole number"),
        ({"schemaVersion": 2}, "not a manifest: it lists no layers"),
        ({"schemaVersion": 2, "mediaType": "x\ny"}, "a foreign manifest: its media type is x\\ny"),
        (
            {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []},
            "a foreign manifest: its media type is application/vnd.oci.image.index.v1+json",
        ),
        ({"schemaVersion": 2, "layers": {}}, "the manifest is broken: its `layers` is not a list"),
        ({"schemaVersion": 2, "layers": [1]}, "the manifest is broken: a layer is no JSON object"),
        ({"schemaVersion": 2, "layers": [], "config": 1}, "the manifest is broken: its `config` is not a JSON object"),
        ({"schemaVersion": 2, "layers": [{"digest": 1}]}, "the manifest is broken: its `digest` is not a string"),
        ({"schemaVersion": 2, "layers": [{"size": 1.5}]}, "the manifest is broken: its `size` is not a whole number"),
        (
            {"schemaVersion": 2, "layers": [{"mediaType": PREFIX + "template", "digest": ""}]},
            "the manifest is broken: its template layer has no digest",
        ),
    ],
)
def test_a_manifest_that_is_none(folder: Path, manifest: Any, message: str) -> None:
    add_manifest(folder, "broken:latest", manifest)
    assert refused(folder) == f"broken:latest: {message}"


def test_a_manifest_that_is_no_file(folder: Path) -> None:
    file = manifest_file(folder, "registry.ollama.ai/library/broken:latest")
    file.mkdir(parents=True)
    assert "the manifest is not a file" in refused(folder)
    file.rmdir()
    file.symlink_to("nowhere")
    assert [str(name) for name in Store(folder).models()] == ["broken:latest"]
    assert "the manifest is missing" in refused(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    file = add_manifest(folder, "broken:latest", {})
    file.unlink()
    os.mkfifo(file)
    assert "the manifest is not a file" in refused(folder)


@pytest.mark.parametrize(
    "digest",
    [
        *("../../secret", "/etc/passwd", "sha256:../../secret", "sha256-" + "../" * 21 + "x", "sha256:" + "0" * 63),
        *("sha256:" + "0" * 64 + "\n", "sha256:" + "g" * 64, "md5:" + "0" * 32, "sha256/" + "0" * 64, "x" * 10_000),
    ],
)
@pytest.mark.parametrize("kind", ["template", "model", "unknown"])
def test_a_digest_that_leads_elsewhere(folder: Path, digest: str, kind: str) -> None:
    (folder.parent / "secret").write_text("secret", encoding="utf-8")
    manifest = add_model(folder, "broken:latest", [(kind, "x")])
    manifest["layers"][0]["digest"] = digest
    add_manifest(folder, "broken:latest", manifest)
    assert refused(folder).endswith("` is not a sha256 digest")


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("messages", b"{}", "the messages blob is broken: its `content` is not a list"),
        ("messages", b"[1]", "the messages are broken: one is no JSON object"),
        ("messages", b'[{"role": 1}]', "a message is broken: its `role` is not a string"),
        ("messages", b'[{"content": ["x"]}]', "a message is broken: its `content` is not a string"),
        ("params", b"[]", "the params blob is broken: its `content` is not a JSON object"),
        ("params", b"temperature 1", "the params blob is no valid JSON: Expecting value at line 1 column 1"),
        ("params", b'{"seed": -Infinity}', "the params blob is no valid JSON: a number is out of range"),
        (
            "params",
            b'{"stop": "\\ud8"}',
            "the params blob is no valid JSON: Invalid \\uXXXX escape at line 1 column 12",
        ),
    ],
)
def test_json_of_the_wrong_kind(folder: Path, kind: str, content: bytes, message: str) -> None:
    add_model(folder, "broken:latest", [(kind, content)])
    assert refused(folder) == f"broken:latest: {message}"


@pytest.mark.parametrize("config", [{"renderer": 1}, {"parser": []}, {"model_format": {}}, {"capabilities": "tools"}])
def test_a_config_of_the_wrong_kind(folder: Path, config: dict[str, Any]) -> None:
    add_model(folder, "broken:latest", [], config)
    assert f"the config is broken: its `{next(iter(config))}` is not a " in refused(folder)


def test_capabilities_that_are_no_strings(folder: Path) -> None:
    add_model(folder, "broken:latest", [], {"capabilities": ["tools", 1]})
    assert refused(folder) == "broken:latest: the config is broken: its `capabilities` are not all strings"


def test_whatever_is_in_the_files_the_error_is_one_of_the_store(folder: Path) -> None:
    """Bytes of a manifest and of its blobs changed, dropped and doubled, with digests made to fit."""
    chance = random.Random(1)
    layers: list[tuple[str, Any]] = [("template", TEMPLATE), ("params", {"stop": ["x"]}), ("messages", [{"role": "u"}])]
    base = add_manifest(folder, "base:latest", add_model(folder, "base:latest", layers)).read_bytes()
    contents = [b'{"stop":["x"],"seed":1}', b'[{"role":"user","content":"\\ud83d"}]', b'{"renderer":"x"}']
    for _ in range(500):
        add_manifest(folder, "fuzzed:latest", _damaged(base, chance))
        kinds = (chance.choice(("template", "params", "messages", "license", "system")) for _ in range(2))
        damaged = [(kind, _damaged(chance.choice(contents), chance)) for kind in kinds]
        add_model(folder, "blobs:latest", damaged)
        for name in ("fuzzed", "blobs"):
            try:
                Store(folder).read(name)
            except StoreError as error:
                assert str(error).isprintable()


def _damaged(data: bytes, chance: random.Random) -> bytes:
    at, length = chance.randrange(len(data)), chance.randrange(1, 9)
    piece = chance.choice(
        (b"", b"null", b"[", b"{}", b"\\ud800", b"\xff", b"\0", b"1e999", b'"', data[at : at + length])
    )
    return data[:at] + piece + data[at + chance.choice((0, length)) :]
