"""Lays out a store of models as Ollama does, well formed or with a fault in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from transpiler.ollama.store import Store, StoreError

PREFIX = "application/vnd.ollama.image."
CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"


def empty_store(folder: Path) -> Path:
    """A store without models below a folder, as Ollama makes it when it starts."""
    store = folder / "models"
    (store / "manifests").mkdir(parents=True)
    (store / "blobs").mkdir()
    return store


def refused(store: Path, name: str = "broken:latest") -> str:
    """What is said of a model that can't be read: one line that isn't long."""
    with pytest.raises(StoreError) as caught:
        Store(store).read(name)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 1000
    return message


def blob_file(store: Path, digest: str) -> Path:
    """Where a blob is: `sha256:HEX` of a manifest is `sha256-HEX` as a file, since Windows has no `:` in names."""
    return store / "blobs" / digest.replace(":", "-")


def add_blob(store: Path, content: str | bytes | Sequence[Any] | Mapping[str, Any], media_type: str) -> dict[str, Any]:
    """Write a blob and return its layer; what is no text is written as JSON with a line end, as Go's encoder does."""
    if isinstance(content, str):
        data = content.encode("utf-8")
    elif isinstance(content, bytes):
        data = content
    else:
        data = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode("utf-8") + b"\n"
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    file = blob_file(store, digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return {"mediaType": media_type, "digest": digest, "size": len(data)}


def manifest_file(store: Path, name: str) -> Path:
    """Where the manifest of a full name `HOST/NAMESPACE/NAME:TAG` is."""
    model, _, tag = name.rpartition(":")
    return store / "manifests" / model / tag


def full_name(name: str) -> str:
    """A name with the host and the namespace that Ollama adds to `name:tag` and `namespace/name:tag`."""
    return ("registry.ollama.ai/library/", "registry.ollama.ai/", "")[name.count("/")] + name


def add_manifest(store: Path, name: str, manifest: Any) -> Path:
    """Write a manifest, which may be anything that JSON can say or bytes as they are; returns its path."""
    file = manifest_file(store, full_name(name))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode() + b"\n")
    return file


def add_model(
    store: Path,
    name: str,
    layers: Sequence[tuple[str, str | bytes | Sequence[Any] | Mapping[str, Any]]] = (),
    config: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Add a model of the given layers, pairs of kind (`template`, `model`, ...) and content; returns its manifest."""
    listed = [add_blob(store, content, PREFIX + kind) for kind, content in layers]
    settings = {"model_format": "gguf", "model_family": "llama", "architecture": "amd64", "os": "linux"}
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": add_blob(store, {**settings, **(config or {})}, CONFIG_TYPE),
        "layers": listed,
    }
    add_manifest(store, name, manifest)
    return manifest
