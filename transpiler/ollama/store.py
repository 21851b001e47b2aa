"""The models that an Ollama on this machine has: what its store says of each, read and never written.

A store is a folder with `manifests/HOST/NAMESPACE/NAME/TAG`, small JSON files that list a model's layers, and
`blobs/sha256-HEX`, one file a layer, named after its content. Ollama's source for all of this is `manifest`,
`types/model` and `server/images.go`.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transpiler.ollama.store_files import (
    DIGEST,
    Layer,
    StoreError,
    blob_path,
    field,
    json_blob,
    parse_json,
    read_bytes,
    reason,
    shown,
    text_blob,
)

__all__ = ["ModelName", "Store", "StoreError", "StoredModel", "open_store"]

_HOST = "registry.ollama.ai"
_NAMESPACE = "library"
_TAG = "latest"
# Letters, digits and a few marks, no dot first: what fits is a file's name and never `..`.
_NAME_PARTS = (
    re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,349}"),  # host
    re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}"),  # namespace
    re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),  # name
    re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),  # tag
)
# A model of many tensors has a layer for each, some 200 bytes.
_LARGEST_MANIFEST = 16 << 20
# Ollama writes the first, and doesn't look at it; registries may send the others.
_MANIFEST_TYPES = (
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "",
)
_LAYER_TYPE = "application/vnd.ollama.image."
# `prompt` is an old name.
_TEXTS = {"template": "template", "prompt": "template", "system": "system"}
_FOR_SERVICES = Path("/usr/share/ollama/.ollama/models")


@dataclass(frozen=True, slots=True)
class ModelName:
    """The full name of a model: `host/namespace/name:tag`, each part as it is spelled in the store."""

    host: str
    namespace: str
    name: str
    tag: str

    def __str__(self) -> str:
        """The shortest form: without the host and the namespace that are the default, always with the tag."""
        short = f"{self.name}:{self.tag}"
        if self.host.lower() != _HOST:
            return f"{self.host}/{self.namespace}/{short}"
        return short if self.namespace.lower() == _NAMESPACE else f"{self.namespace}/{short}"


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a model's manifest and its layers say.

    `template` and `system` are None without such a layer, and "" for an empty one; without a template Ollama uses the
    GGUF file's own, or the bare prompt. `messages` are pairs of role (lower case) and content. `parameters` is the JSON
    object, its numbers int or float. With a `renderer` no template is run. `model_path` is the GGUF file; it is None
    for other formats and for models that run elsewhere. `capabilities` are those that the config lists, seldom any:
    Ollama finds out most of them from the template.
    """

    name: ModelName
    template: str | None
    system: str | None
    messages: tuple[tuple[str, str], ...]
    parameters: Mapping[str, object]
    renderer: str | None
    parser: str | None
    model_path: Path | None
    adapters: tuple[Path, ...]
    licenses: tuple[str, ...]
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of models; `open_store` makes sure that it is there."""

    path: Path

    def models(self) -> tuple[ModelName, ...]:
        """Every tag in the store, sorted by its short form; also those whose manifest is broken.

        Raises:
            StoreError: a folder of manifests can't be read.
        """
        names = (ModelName(*parts) for parts in _manifests(self.path / "manifests", ()))
        return tuple(sorted(names, key=lambda name: (str(name), name.host, name.namespace)))

    def read(self, name: str) -> StoredModel:
        """The model of a name such as `llama3`, `llama3:8b`, `namespace/name:tag` or `host/namespace/name:tag`.

        As in Ollama, upper and lower case are the same in names. Texts are checked against their digests; of the GGUF
        file and of adapters, which are large, only that they are there and have the size that the manifest gives.

        Raises:
            StoreError: there is no such model, or its manifest or a blob that it needs is missing, broken or forged.
        """
        found = self._find(_parsed(name))
        try:
            return _model(self.path, found)
        except StoreError as error:
            raise StoreError(f"{found}: {error}") from None

    def _find(self, wanted: ModelName) -> ModelName:
        if os.path.lexists(_manifest_path(self.path, wanted)):
            return wanted
        models = self.models()
        for model in models:
            if _folded(model) == _folded(wanted):
                return model
        tags: dict[str, list[str]] = {}
        for model in models:
            tags.setdefault(_without_tag(model), []).append(str(model))
        alike = difflib.get_close_matches(_without_tag(wanted), tags, n=3)
        near = ", ".join([name for part in alike for name in tags[part]][:5])
        raise StoreError(f"no model {wanted} in {shown(self.path)}" + (f"; there is {near}" if near else ""))


def open_store(path: str | os.PathLike[str] | None = None) -> Store:
    """The store in a folder; by default in the one that Ollama would use.

    That is OLLAMA_MODELS if set, else `.ollama/models` in the home folder or, on Linux, where Ollama's service has it.

    Raises:
        StoreError: there is no such folder.
    """
    folder, origin = (Path(path), "") if path is not None else _default_folder()
    try:
        if folder.is_dir():
            return Store(folder)
        what = "is not a folder" if folder.exists() else "does not exist"
    except (OSError, ValueError) as error:
        what = f"can't be read: {reason(error)}"
    raise StoreError(f"no Ollama store: {shown(folder)}{origin} {what}")


def _default_folder() -> tuple[Path, str]:
    """Where Ollama keeps models, and for messages what says so."""
    # Ollama takes spaces and quotes off its variables.
    given = os.environ.get("OLLAMA_MODELS", "").strip().strip("\"'")
    if given:
        return Path(given), " (OLLAMA_MODELS)"
    try:
        folder = Path.home() / ".ollama" / "models"
    except RuntimeError:
        raise StoreError("no Ollama store: OLLAMA_MODELS is not set, and there is no home folder") from None
    with suppress(OSError):
        if sys.platform == "linux" and not folder.exists() and _FOR_SERVICES.is_dir():
            return _FOR_SERVICES, ""
    return folder, ""


def _parsed(text: str) -> ModelName:
    """A name as Ollama reads it: from the right, and what is left out has a default."""
    rest, namespace, host, tag = text.strip(), _NAMESPACE, _HOST, _TAG
    if rest.rfind(":") > rest.rfind("/"):
        rest, _, tag = rest.rpartition(":")
    rest, slash, name = rest.rpartition("/")
    if slash:
        rest, slash, namespace = rest.rpartition("/")
        if slash:
            # `https://host/namespace/name`: the scheme is no part of the name.
            host = rest.partition("://")[2] or rest
    parts = (host, namespace, name, tag)
    if not all(pattern.fullmatch(part) for pattern, part in zip(_NAME_PARTS, parts, strict=True)):
        raise StoreError(f"not a model's name: `{shown(text)}`")
    return ModelName(*parts)


def _folded(name: ModelName) -> tuple[str, str, str, str]:
    return (name.host.lower(), name.namespace.lower(), name.name.lower(), name.tag.lower())


def _without_tag(name: ModelName) -> str:
    return str(name).rpartition(":")[0].lower()


def _manifests(folder: Path, parents: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The parts of all names below a folder: files four levels down; what can't be a name is passed over."""
    pattern = _NAME_PARTS[len(parents)]
    is_last = len(parents) == len(_NAME_PARTS) - 1
    try:
        with os.scandir(folder) as entries:
            parts = [entry.name for entry in entries if pattern.fullmatch(entry.name) and entry.is_dir() != is_last]
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise StoreError(f"{shown(folder)} can't be read: {reason(error)}") from error
    for part in parts:
        if is_last:
            yield (*parents, part)
        else:
            yield from _manifests(folder / part, (*parents, part))


def _manifest_path(store: Path, name: ModelName) -> Path:
    # One text, not joined parts: on Windows a host such as `C:` would lead elsewhere.
    return Path(f"{store}/manifests/{name.host}/{name.namespace}/{name.name}/{name.tag}")


def _model(store: Path, name: ModelName) -> StoredModel:
    manifest = _manifest(_manifest_path(store, name))
    layers = [_layer(entry) for entry in field(manifest, "layers", list, [], "the manifest")]
    config_layer = _layer(field(manifest, "config", dict, {}, "the manifest"), "config")
    config: dict[str, Any] = json_blob(store, config_layer, dict, {}) if config_layer.digest else {}
    # The last one counts.
    texts = {_TEXTS[layer.kind]: text_blob(store, layer) for layer in layers if layer.kind in _TEXTS}
    messages: list[Any] = []
    parameters: dict[str, object] = {}
    for layer in layers:
        if layer.kind == "messages":
            messages = json_blob(store, layer, list, [])
        elif layer.kind == "params":
            # Ollama reads a second layer into the map that it has.
            parameters |= json_blob(store, layer, dict, {})
    models = [blob_path(store, layer) for layer in layers if layer.kind == "model"]
    is_gguf = field(config, "model_format", str, "", "the config") in ("", "gguf")
    return StoredModel(
        name=name,
        template=texts.get("template"),
        system=texts.get("system"),
        messages=tuple(_message(message) for message in messages),
        parameters=parameters,
        renderer=field(config, "renderer", str, "", "the config") or None,
        parser=field(config, "parser", str, "", "the config") or None,
        model_path=models[-1] if models and is_gguf else None,
        adapters=tuple(blob_path(store, layer) for layer in layers if layer.kind == "adapter"),
        licenses=tuple(text_blob(store, layer) for layer in layers if layer.kind == "license"),
        capabilities=_capabilities(config),
    )


def _message(value: Any) -> tuple[str, str]:
    if not isinstance(value, dict):
        raise StoreError("the messages are broken: one is no JSON object")
    role = field(value, "role", str, "", "a message")
    return role.lower(), field(value, "content", str, "", "a message")


def _capabilities(config: dict[str, Any]) -> tuple[str, ...]:
    found = field(config, "capabilities", list, [], "the config")
    if not all(isinstance(capability, str) for capability in found):
        raise StoreError("the config is broken: its `capabilities` are not all strings")
    return tuple(found)


def _manifest(path: Path) -> dict[str, Any]:
    """A manifest of the only version that Ollama writes."""
    value = parse_json(read_bytes(path, "the manifest", _LARGEST_MANIFEST), "the manifest")
    if not isinstance(value, dict) or "schemaVersion" not in value:
        raise StoreError("not a manifest: the JSON in its place is something else")
    version = field(value, "schemaVersion", int, 0, "the manifest")
    if version != 2:
        raise StoreError(f"a foreign manifest: its schema version is {shown(str(version))}, not 2")
    media_type = field(value, "mediaType", str, "", "the manifest")
    if media_type not in _MANIFEST_TYPES:
        raise StoreError(f"a foreign manifest: its media type is {shown(media_type)}")
    if "layers" not in value:
        raise StoreError("not a manifest: it lists no layers")
    return value


def _layer(entry: Any, kind: str | None = None) -> Layer:
    if not isinstance(entry, dict):
        raise StoreError("the manifest is broken: a layer is no JSON object")
    media_type = field(entry, "mediaType", str, "", "the manifest")
    digest = field(entry, "digest", str, "", "the manifest")
    # Ollama checks the digests of all layers, of those too that it doesn't know.
    if digest and not DIGEST.fullmatch(digest):
        raise StoreError(f"the manifest is broken: `{shown(digest)}` is not a sha256 digest")
    size = field(entry, "size", int, None, "the manifest")
    return Layer(kind or media_type.removeprefix(_LAYER_TYPE), digest, size)
