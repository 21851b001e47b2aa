"""A store of models is found and read as Ollama does it; `test_store_faults` has what is wrong with one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from store_layout import PREFIX, add_blob, add_manifest, add_model, blob_file, empty_store, refused

from transpiler.ollama import store as store_module
from transpiler.ollama.store import ModelName, Store, StoreError, open_store

TEMPLATE = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}"
GGUF = b"GGUF\x03\x00\x00\x00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return empty_store(tmp_path)


# What a model has


def test_all_layers_of_a_model(folder: Path) -> None:
    layers: list[tuple[str, Any]] = [
        ("model", GGUF),
        ("template", TEMPLATE),
        ("system", "Be brief.\r\n"),
        ("params", {"stop": ["<|user|>"], "temperature": 0.5, "num_ctx": 4096}),
        ("messages", [{"role": "User", "content": "Hi"}, {"role": "assistant", "content": "Hello 🫨"}]),
        ("license", "MIT"),
        ("license", "Apache"),
        ("projector", b"GGUF"),
    ]
    manifest = add_model(folder, "llama3:8b", layers)
    model = Store(folder).read("llama3:8b")
    assert model.name == ModelName("registry.ollama.ai", "library", "llama3", "8b")
    assert model.template == TEMPLATE
    assert model.system == "Be brief.\r\n"
    assert model.parameters == {"stop": ["<|user|>"], "temperature": 0.5, "num_ctx": 4096}
    assert model.messages == (("user", "Hi"), ("assistant", "Hello 🫨"))
    assert model.licenses == ("MIT", "Apache")
    assert model.model_path == blob_file(folder, manifest["layers"][0]["digest"])
    assert (model.renderer, model.parser, model.adapters, model.capabilities) == (None, None, (), ())


def test_a_model_with_nothing(folder: Path) -> None:
    add_manifest(folder, "bare:latest", {"schemaVersion": 2, "layers": None})
    model = Store(folder).read("bare")
    assert (model.template, model.system, model.model_path) == (None, None, None)
    assert (model.messages, model.parameters, model.licenses) == ((), {}, ())


def test_an_empty_template_is_not_none(folder: Path) -> None:
    add_model(folder, "empty:latest", [("template", "")])
    assert Store(folder).read("empty").template == ""


def test_a_renderer_and_what_it_is_capable_of(folder: Path) -> None:
    config = {"renderer": "qwen3-coder", "parser": "qwen3-coder", "capabilities": ["completion", "tools"]}
    add_model(folder, "qwen:latest", [("model", GGUF)], config)
    model = Store(folder).read("qwen")
    assert (model.renderer, model.parser) == ("qwen3-coder", "qwen3-coder")
    assert model.capabilities == ("completion", "tools")


def test_adapters_in_their_order(folder: Path) -> None:
    layers = [("model", GGUF), ("adapter", b"GGUF1"), ("adapter", b"GGUF0")]
    manifest = add_model(folder, "tuned:latest", layers)
    expected = tuple(blob_file(folder, layer["digest"]) for layer in manifest["layers"][1:])
    assert Store(folder).read("tuned").adapters == expected


def test_a_model_that_is_no_gguf_has_no_model_path(folder: Path) -> None:
    add_model(folder, "tensors:latest", [("tensor", b"x"), ("model", b"y")], {"model_format": "safetensors"})
    assert Store(folder).read("tensors").model_path is None


@pytest.mark.parametrize("first", ["prompt", "template"])
def test_the_last_template_counts_by_its_old_name_too(folder: Path, first: str) -> None:
    second = "prompt" if first == "template" else "template"
    add_model(folder, "two:latest", [(first, "first"), (second, "second"), ("system", "a"), ("system", "b")])
    model = Store(folder).read("two")
    assert (model.template, model.system) == ("second", "b")


def test_parameters_of_two_layers_are_merged_and_messages_are_not(folder: Path) -> None:
    params = [{"seed": 1, "top_k": 2}, {"top_k": 3}]
    messages = [[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], [{"role": "user"}]]
    layers: list[tuple[str, Any]] = [
        *(("params", value) for value in params),
        *(("messages", value) for value in messages),
    ]
    add_model(folder, "twice:latest", layers)
    model = Store(folder).read("twice")
    assert model.parameters == {"seed": 1, "top_k": 3}
    assert model.messages == (("user", ""),)


def test_json_is_read_as_go_does(folder: Path) -> None:
    """Only the first value is read, and half of a surrogate pair is U+FFFD."""
    text = rb'[{"role": "user", "content": "\ud83d \ud83e\udee8 \\ud83d \udee8\n"}] and more'
    add_model(folder, "odd:latest", [("messages", text), ("params", b"null")])
    model = Store(folder).read("odd")
    assert model.messages == (("user", "\ufffd 🫨 \\ud83d \ufffd\n"),)
    assert model.parameters == {}


def test_layers_of_other_kinds_are_passed_over(folder: Path) -> None:
    manifest = add_model(folder, "new:latest", [("template", TEMPLATE)])
    manifest["layers"] += [
        {"mediaType": "text/plain", "digest": "sha256:" + "0" * 64, "size": 1},
        {"mediaType": PREFIX + "embed", "digest": "", "size": 0},
    ]
    add_manifest(folder, "new:latest", manifest)
    assert Store(folder).read("new").template == TEMPLATE


def test_digests_with_a_dash_and_in_upper_case(folder: Path) -> None:
    manifest = add_model(folder, "old:latest", [("template", TEMPLATE)])
    layer = manifest["layers"][0]
    upper = "sha256-" + layer["digest"][-64:].upper()
    blob_file(folder, layer["digest"]).rename(blob_file(folder, upper))
    layer["digest"] = upper
    del layer["size"]
    add_manifest(folder, "old:latest", manifest)
    assert Store(folder).read("old").template == TEMPLATE


def test_a_config_that_is_missing_its_digest_is_passed_over(folder: Path) -> None:
    layer = add_blob(folder, TEMPLATE, PREFIX + "template")
    add_manifest(folder, "old:latest", {"schemaVersion": 2, "config": {"digest": ""}, "layers": [layer]})
    assert Store(folder).read("old").template == TEMPLATE


def test_links_are_followed_out_of_the_store(folder: Path, tmp_path: Path) -> None:
    manifest = add_model(folder, "linked:latest", [("template", TEMPLATE), ("model", GGUF)])
    for number, file in enumerate(
        [*(blob_file(folder, layer["digest"]) for layer in manifest["layers"]), folder / "manifests"]
    ):
        elsewhere = tmp_path / f"elsewhere{number}"
        file.rename(elsewhere)
        file.symlink_to(elsewhere)
    model = Store(folder).read("linked")
    assert model.template == TEMPLATE
    assert model.model_path == blob_file(folder, manifest["layers"][1]["digest"])
    assert [str(name) for name in Store(folder).models()] == ["linked:latest"]


def test_nothing_is_written(folder: Path) -> None:
    add_model(folder, "llama3:latest", [("template", TEMPLATE)])

    def state() -> list[tuple[str, int, int]]:
        return [(str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(folder.rglob("*"))]

    before = state()
    Store(folder).read("llama3")
    Store(folder).models()
    assert state() == before


# Names


def test_an_empty_store(folder: Path) -> None:
    assert Store(folder).models() == ()
    assert refused(folder, "llama3") == f"no model llama3:latest in {folder}"
    shutil.rmtree(folder / "manifests")
    assert open_store(folder).models() == ()


def test_names_are_listed_sorted_and_in_their_shortest_form(folder: Path) -> None:
    names = ["llama3:latest", "llama3:8b", "me/llama3:q4_K_M", "hf.co/me/llama3.1-GGUF:latest", "localhost:5000/a/b:c"]
    for name in names:
        add_model(folder, name)
    add_manifest(folder, "broken:latest", b"{")
    assert [str(name) for name in Store(folder).models()] == sorted([*names, "broken:latest"])


def test_what_is_no_manifest_by_its_name_or_place_is_not_listed(folder: Path) -> None:
    add_model(folder, "llama3:latest")
    library = folder / "manifests" / "registry.ollama.ai" / "library"
    for path in (".DS_Store", "llama3/.hidden", "llama3/a b", "llama3/" + "x" * 81, "llama3/tag/deeper", "file"):
        (library / path).parent.mkdir(exist_ok=True)
        (library / path).write_text("{}", encoding="utf-8")
    (folder / "manifests" / "stray").write_text("{}", encoding="utf-8")
    assert [str(name) for name in Store(folder).models()] == ["llama3:latest"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("llama3", "llama3:latest"),
        (" llama3 \n", "llama3:latest"),
        ("LLama3:8B", "llama3:8b"),
        ("library/llama3:8b", "llama3:8b"),
        ("registry.ollama.ai/library/llama3", "llama3:latest"),
        ("https://registry.ollama.ai/library/llama3", "llama3:latest"),
        ("me/llama3", "me/llama3:latest"),
        ("HF.co/me/Llama3-gguf:q4_k_m", "hf.co/me/llama3-GGUF:Q4_K_M"),
        ("localhost:5000/me/llama3", "localhost:5000/me/llama3:latest"),
    ],
)
def test_a_name_may_leave_out_what_has_a_default(folder: Path, given: str, stored: str) -> None:
    add_model(folder, stored, [("template", stored)])
    add_model(folder, "other:latest", [("template", "other")])
    model = Store(folder).read(given)
    assert str(model.name) == model.template == stored


def test_the_exact_case_is_preferred(folder: Path) -> None:
    add_model(folder, "llama3:LATEST", [("template", "upper")])
    add_model(folder, "llama3:latest", [("template", "lower")])
    if len(Store(folder).models()) == 1:
        pytest.skip("the file system does not tell upper from lower case")
    assert Store(folder).read("llama3:LATEST").template == "upper"
    assert Store(folder).read("llama3").template == "lower"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            ":",
            "/",
            "a:",
            ":a",
            "/a",
            "a/",
            "a//b",
            "/a/b",
            "a/b/c/d",
            "a@sha256:0",
            "a b",
            "ä",
            "a\0",
            "a\nb",
        ),
        *("..", "../..", "../x:y", "a:..", "../../../etc/passwd", "/etc/passwd", "..\\x", "C:\\x", "a:.x", ".a", "-a"),
        *("~", "n.s/a", "http://", "h/n/a:b:c", "x" * 81, "a:" + "x" * 81, "h" * 351 + "/n/a", "x" * 100_000, "\ud800"),
    ],
)
def test_what_is_no_name(folder: Path, name: str) -> None:
    (folder / "x").mkdir()
    (folder / "x" / "y").write_text("{}", encoding="utf-8")
    assert refused(folder, name).startswith("not a model's name: `")


def test_near_names(folder: Path) -> None:
    for name in ("llama3:8b", "llama3:70b", "me/llama3:8b", "mistral:latest"):
        add_model(folder, name)
    assert refused(folder, "llama3") == (
        f"no model llama3:latest in {folder}; there is llama3:70b, llama3:8b, me/llama3:8b"
    )
    assert "; there is mistral:latest" in refused(folder, "mistrel")
    assert "there is" not in refused(folder, "zzz:0")


# Where the store is


def test_the_variable_names_the_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(folder))
    assert open_store().path == folder
    monkeypatch.setenv("OLLAMA_MODELS", f' "{folder}" ')
    assert open_store().path == folder
    assert open_store(str(folder.parent)).path == folder.parent


def test_the_variable_names_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "none"))
    with pytest.raises(StoreError, match=r"none \(OLLAMA_MODELS\) does not exist$"):
        open_store()


def test_the_default_is_in_the_home_folder_or_that_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, service = tmp_path / ".ollama" / "models", tmp_path / "service"
    monkeypatch.setenv("OLLAMA_MODELS", "")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(store_module, "_FOR_SERVICES", service)
    with pytest.raises(StoreError, match=r"no Ollama store: .*\.ollama.models does not exist$"):
        open_store()
    service.mkdir()
    monkeypatch.setattr(sys, "platform", "linux")
    assert open_store().path == service
    own.mkdir(parents=True)
    assert open_store().path == own


def test_there_is_no_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(StoreError, match="there is no home folder"):
        open_store()


@pytest.mark.parametrize("path", ["none", "file", "a\0b", "x" * 5000, "line\nend", "\udc80"])
def test_there_is_no_such_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^no Ollama store: ") as caught:
        open_store(tmp_path / path)
    assert str(caught.value).isprintable()
    with pytest.raises(StoreError):
        Store(tmp_path / path).read("llama3")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not count")
@pytest.mark.parametrize("part", ["", "manifests", "manifests/registry.ollama.ai/library"])
def test_a_folder_that_may_not_be_read(folder: Path, part: str) -> None:
    add_model(folder, "llama3:latest")
    (folder / part).chmod(0)
    try:
        assert "can't be read: Permission denied" in refused(folder, "llama3:8b")
        with pytest.raises(StoreError, match="Permission denied"):
            Store(folder).models()
    finally:
        (folder / part).chmod(0o755)


def test_a_folder_that_cannot_be_read(folder: Path) -> None:
    """The same with what stops root as well: a file, and a link to itself."""
    shutil.rmtree(folder / "manifests")
    (folder / "manifests").touch()
    assert "can't be read: Not a directory" in refused(folder)
    (folder / "manifests").unlink()
    (folder / "manifests").symlink_to("manifests")
    assert "can't be read: " in refused(folder)
