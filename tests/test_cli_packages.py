"""`convert` with what surrounds a template: SYSTEM and MESSAGE, the local store, packages and their BOS token."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from store_layout import add_model, empty_store

from transpiler.cli import main

gguf = importlib.import_module("gguf")
np = importlib.import_module("numpy")

CHAT = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|assistant|>"
MODELFILE = f'''FROM ./tiny.gguf
TEMPLATE """{CHAT}"""
SYSTEM Be kind.
MESSAGE user Ping?
MESSAGE assistant Pong.
PARAMETER stop "<|user|>"
LICENSE MIT
'''


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, list(map(str, arguments)), prog_name="gotmpl2jinja")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def modelfile(tmp_path: Path) -> Path:
    path = tmp_path / "Modelfile"
    path.write_text(MODELFILE, encoding="utf-8")
    make_gguf(tmp_path / "tiny.gguf")
    return path


def make_gguf(path: Path, *, add_bos: bool | None = True, template: str | None = None) -> None:
    """A GGUF with one tensor."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_token_list(["<s>", "a"])
    writer.add_bos_token_id(0)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    if template is not None:
        writer.add_chat_template(template)
    writer.add_tensor("t", np.arange(64, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def template_of(path: Path) -> str:
    field = gguf.GGUFReader(path).fields["tokenizer.chat_template"]
    return bytes(field.parts[-1]).decode()


class TestSurroundings:
    def test_system_is_in_the_result(self, modelfile: Path) -> None:
        result = run("convert", modelfile)
        assert result.exit_code == 0
        assert "Be kind." in result.stdout
        assert "Ping?" not in result.stdout
        assert "MESSAGE: left out" in result.stderr
        assert "LICENSE: no part" in result.stderr

    def test_no_system(self, modelfile: Path) -> None:
        result = run("convert", modelfile, "--no-system")
        assert "Be kind." not in result.stdout
        assert "SYSTEM: left out" in result.stderr

    def test_another_system(self, modelfile: Path) -> None:
        result = run("convert", modelfile, "--system", "Be brief.")
        assert "Be brief." in result.stdout
        assert "Be kind." not in result.stdout

    def test_both(self, modelfile: Path) -> None:
        assert run("convert", modelfile, "--system", "x", "--no-system").exit_code == 2

    def test_messages(self, modelfile: Path) -> None:
        result = run("convert", modelfile, "--messages")
        assert "Ping?" in result.stdout
        assert "MESSAGE: left out" not in result.stderr

    def test_a_renderer_is_refused_and_can_be_forced(self, tmp_path: Path) -> None:
        path = tmp_path / "Modelfile"
        path.write_text(f'FROM x\nRENDERER qwen3-coder\nTEMPLATE """{CHAT}"""\n', encoding="utf-8")
        assert run("convert", path).exit_code == 1
        assert run("convert", path, "--force").exit_code == 0

    @pytest.mark.parametrize(("bos", "printed"), [("auto", False), ("always", True), ("never", False)])
    def test_the_bos_token(self, bos: str, printed: bool, modelfile: Path) -> None:
        assert ("bos_token" in run("convert", modelfile, "--bos", bos).stdout) == printed


class TestTokenizerConfig:
    def test_it_is_merged(self, modelfile: Path, tmp_path: Path) -> None:
        config = tmp_path / "model" / "tokenizer_config.json"
        config.parent.mkdir()
        config.write_text('{"bos_token": "<s>", "add_bos_token": true, "z": 1e-5}', encoding="utf-8")
        result = run("convert", modelfile, "--to", "tokenizer-config", "-o", f"{config.parent}/")
        assert (result.exit_code, result.stdout) == (0, "")
        assert '{"stop_strings": ["<|user|>"]}' in result.stderr
        merged: dict[str, Any] = json.loads(config.read_text(encoding="utf-8"))
        assert list(merged) == ["bos_token", "add_bos_token", "z", "chat_template"]
        assert "{{- bos_token or '' -}}" in merged["chat_template"]
        once = config.read_bytes()
        run("convert", modelfile, "--to", "tokenizer-config", "-o", f"{config.parent}/")
        assert config.read_bytes() == once

    def test_both_forms_of_a_template(self, tmp_path: Path) -> None:
        source = tmp_path / "code.gotmpl"
        source.write_text("{{ if .Suffix }}<p>{{ .Suffix }}{{ else }}{{ .Prompt }}{{ end }}", encoding="utf-8")
        assert run("convert", source, "--to", "tokenizer-config", "-o", f"{tmp_path}/out/").exit_code == 0
        written = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text(encoding="utf-8"))
        assert [entry["name"] for entry in written["chat_template"]] == ["default", "fim"]

    def test_a_config_that_is_no_json(self, modelfile: Path, tmp_path: Path) -> None:
        (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
        result = run("convert", modelfile, "--to", "tokenizer-config", "-o", f"{tmp_path}/")
        assert result.exit_code == 1
        assert (tmp_path / "tokenizer_config.json").read_text(encoding="utf-8") == "{"

    def test_it_needs_a_place(self, modelfile: Path) -> None:
        assert run("convert", modelfile, "--to", "tokenizer-config").exit_code == 2


class TestGguf:
    @pytest.mark.parametrize(("add_bos", "printed"), [(True, True), (False, False), (None, False)])
    def test_from_names_the_model(self, add_bos: bool | None, printed: bool, modelfile: Path, tmp_path: Path) -> None:
        make_gguf(tmp_path / "tiny.gguf", add_bos=add_bos)
        before = (tmp_path / "tiny.gguf").read_bytes()
        result = run("convert", modelfile, "--to", "gguf", "-o", f"{tmp_path}/new.gguf")
        assert (result.exit_code, result.stdout) == (0, "")
        assert ("bos_token" in template_of(tmp_path / "new.gguf")) == printed
        assert (tmp_path / "tiny.gguf").read_bytes() == before

    def test_a_template_of_its_own_is_told_of(self, modelfile: Path, tmp_path: Path) -> None:
        make_gguf(tmp_path / "own.gguf", template="{{ messages }}{{ tools }}")
        result = run("convert", modelfile, "--to", "gguf", "--model", tmp_path / "own.gguf", "-o", f"{tmp_path}/n.gguf")
        assert "a chat template of its own" in result.stderr
        assert "only that one knows of tools" in result.stderr
        assert (tmp_path / "n.gguf").is_file()

    def test_a_template_of_its_own_can_be_kept(self, modelfile: Path, tmp_path: Path) -> None:
        make_gguf(tmp_path / "tiny.gguf", template="{{ messages }}")
        result = run("convert", modelfile, "--to", "gguf", "-o", f"{tmp_path}/n.gguf", "--prefer", "model")
        assert (result.exit_code, "it is kept" in result.stderr) == (0, True)
        assert not (tmp_path / "n.gguf").exists()

    def test_no_gguf(self, modelfile: Path, tmp_path: Path) -> None:
        (tmp_path / "tiny.gguf").write_bytes(b"GGML")
        result = run("convert", modelfile, "--to", "gguf", "-o", f"{tmp_path}/new.gguf")
        assert result.exit_code == 1
        assert not (tmp_path / "new.gguf").exists()

    def test_no_model(self, tmp_path: Path) -> None:
        source = tmp_path / "chat.gotmpl"
        source.write_text(CHAT, encoding="utf-8")
        assert run("convert", source, "--to", "gguf", "-o", f"{tmp_path}/new.gguf").exit_code == 2

    def test_a_model_that_is_not_there(self, modelfile: Path, tmp_path: Path) -> None:
        result = run(
            "convert", modelfile, "--to", "gguf", "--model", tmp_path / "no.gguf", "-o", f"{tmp_path}/new.gguf"
        )
        assert result.exit_code == 2
        assert result.stderr.endswith("no.gguf: No such file or directory\n")

    def test_an_existing_file_is_kept(self, modelfile: Path, tmp_path: Path) -> None:
        (tmp_path / "new.gguf").write_text("mine", encoding="utf-8")
        assert run("convert", modelfile, "--to", "gguf", "-o", f"{tmp_path}/new.gguf").exit_code == 2
        assert run("convert", modelfile, "--to", "gguf", "-o", f"{tmp_path}/new.gguf", "--force").exit_code == 0


class TestStore:
    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        store = empty_store(tmp_path)
        make_gguf(tmp_path / "tiny.gguf")
        model = (tmp_path / "tiny.gguf").read_bytes()
        layers: list[tuple[str, Any]] = [
            ("model", model),
            ("template", CHAT),
            ("system", "Be kind."),
            ("params", {"stop": ["<|user|>"]}),
            ("messages", [{"role": "user", "content": "Ping?"}]),
        ]
        add_model(store, "tiny:latest", layers)
        add_model(store, "made:latest", [("model", model)], {"renderer": "qwen3-coder"})
        monkeypatch.setenv("OLLAMA_MODELS", str(store))
        return store

    def test_a_model_is_converted(self, store: Path) -> None:
        result = run("convert", "ollama:tiny")
        assert result.exit_code == 0
        assert "Be kind." in result.stdout
        assert "Converted from tiny:latest" in result.stdout
        assert "Ping?" in run("convert", "ollama:tiny:latest", "--messages").stdout

    def test_its_gguf_is_the_model(self, store: Path, tmp_path: Path) -> None:
        result = run("convert", "ollama:tiny", "--to", "gguf", "-o", f"{tmp_path}/out/")
        assert result.exit_code == 0
        assert "bos_token" in template_of(tmp_path / "out" / "tiny.gguf")

    def test_a_renderer_is_refused(self, store: Path) -> None:
        result = run("convert", "ollama:made")
        assert result.exit_code == 1
        assert "error[GT907]" in result.stderr

    def test_no_such_model(self, store: Path) -> None:
        result = run("convert", "ollama:tinyy")
        assert result.exit_code == 2
        assert "tiny" in result.stderr

    def test_list(self, store: Path) -> None:
        result = run("list")
        assert result.exit_code == 0
        assert result.stdout.splitlines() == ["made:latest  renderer qwen3-coder", "tiny:latest  Go template"]

    def test_list_without_a_store(self, tmp_path: Path) -> None:
        assert run("list", "--store", tmp_path / "nothing").exit_code == 2
