"""What runtimes make of a written package: Ollama's text, and its tokens, with the BOS token once or never."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from needed import library, open_engine

from transpiler.cli import main
from transpiler.verify.chats import Chat, to_ollama
from transpiler.verify.engines.tiny_gguf import write_tiny_gguf
from transpiler.verify.oracle import Oracle

TEMPLATE = (
    "{{ if .System }}<|system|>{{ .System }}{{ end }}{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|end|>"
)
CHATS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": "Hé, <b>you</b>\n"}]},
    {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "a"}]},
    {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]},
]

# Prints what llama.cpp's server makes of chats, and the tokens of that and of other texts.
SERVER = """
import json, os, sys, urllib.request, xllamacpp
model, chats, texts = json.load(sys.stdin)
out = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1); os.dup2(1, 2)
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx, parameters.n_parallel = model, 256, 1
parameters.cpuparams.n_threads, parameters.warmup, parameters.port, parameters.use_jinja = 1, False, 0, True
server = xllamacpp.Server(parameters)
def ask(path, body):
    request = urllib.request.Request(server.listening_address + path, json.dumps(body).encode(),
                                     {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))
def tokens(text):
    return ask("/tokenize", {"content": text, "add_special": True, "parse_special": True})["tokens"]
prompts = [ask("/apply-template", chat)["prompt"] for chat in chats]
out.write(json.dumps([prompts, list(map(tokens, prompts)), list(map(tokens, texts))])); out.flush(); os._exit(0)
"""


def convert(*arguments: object) -> None:
    result = CliRunner().invoke(main, ["convert", *map(str, arguments)], prog_name="gotmpl2jinja")
    assert result.exit_code == 0, result.stderr


@pytest.fixture(scope="module")
def texts(oracle: Oracle) -> list[str]:
    """What Ollama renders."""
    renderings = oracle.render_many(TEMPLATE, [to_ollama(Chat(str(n), chat)) for n, chat in enumerate(CHATS)])
    return [rendering.text or "" for rendering in renderings]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "chat.gotmpl"
    path.write_text(TEMPLATE, encoding="utf-8")
    return path


@pytest.mark.parametrize("add_bos", [True, False], ids=["bos", "no-bos"])
def test_llama_cpp_serves_a_written_gguf(add_bos: bool, source: Path, tmp_path: Path, texts: list[str]) -> None:
    open_engine("llama.cpp")
    write_tiny_gguf(tmp_path / "model.gguf", add_bos=add_bos)
    convert(source, "--to", "gguf", "--model", tmp_path / "model.gguf", "-o", tmp_path / "new.gguf")
    question = json.dumps([str(tmp_path / "new.gguf"), CHATS, texts])
    done = subprocess.run([sys.executable, "-c", SERVER], input=question, capture_output=True, text=True, check=True)
    prompts, tokens, wanted = json.loads(done.stdout)
    assert [prompt.removeprefix("<s>") for prompt in prompts] == texts
    assert tokens == wanted
    assert [ids.count(1) for ids in tokens] == [int(add_bos)] * len(CHATS)


def make_tokenizer(folder: Path, *, add_bos: bool) -> None:
    """A tokenizer of single bytes, as transformers saves it."""
    tokenizers = library("tokenizers")
    transformers = library("transformers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<s>", "</s>", *alphabet])}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    if add_bos:
        model.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=model, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)


@pytest.mark.parametrize("add_bos", [True, False], ids=["bos", "no-bos"])
def test_transformers_loads_a_written_folder(add_bos: bool, source: Path, tmp_path: Path, texts: list[str]) -> None:
    open_engine("transformers")
    make_tokenizer(tmp_path / "model", add_bos=add_bos)
    convert(source, "--to", "tokenizer-config", "-o", f"{tmp_path}/model/")
    transformers = library("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    for chat, text in zip(CHATS, texts, strict=True):
        rendered = tokenizer.apply_chat_template(chat["messages"], tokenize=False, add_generation_prompt=True)
        assert rendered == ("<s>" + text if add_bos else text)
        ids = tokenizer.apply_chat_template(chat["messages"], add_generation_prompt=True)["input_ids"]
        assert ids == tokenizer(text)["input_ids"]
        assert ids.count(tokenizer.bos_token_id) == int(add_bos)
