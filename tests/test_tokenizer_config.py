"""A template goes into tokenizer_config.json, and nothing else in that file changes; who adds BOS is asked of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from needed import library

from transpiler.packaging.errors import PackagingError
from transpiler.packaging.gguf_file import write_gguf
from transpiler.packaging.tokenizer_config import adds_bos, write_tokenizer_config

TEMPLATE = "{%- for m in messages -%}\n<｜{{ m['role'] }}｜>{{ m['content'] }} \"\\\n{%- endfor -%}"
STORED = json.dumps(TEMPLATE, ensure_ascii=False)
DEFAULT = {"default": TEMPLATE}


def written(folder: Path, old: str, templates: dict[str, str] = DEFAULT) -> str:
    path = folder / "tokenizer_config.json"
    path.write_bytes(old.encode())
    write_tokenizer_config(path, templates)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"a": 1}', '{"a": 1, "chat_template": %s}'),
        ('{"a":1,"b":2}', '{"a":1,"b":2,"chat_template":%s}'),
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "chat_template": %s\n}\n'),
        ('{\r\n\t"a" : 1,\r\n\t"b" : {}\r\n}', '{\r\n\t"a" : 1,\r\n\t"b" : {},\r\n\t"chat_template" : %s\r\n}'),
        ('{"chat_template": null, "z": 0}', '{"chat_template": %s, "z": 0}'),
        ('{\n    "chat_template": [{"name": "x"}],\n    "z": 0}', '{\n    "chat_template": %s,\n    "z": 0}'),
        ('{"x": {"chat_template": "inner"}}', '{"x": {"chat_template": "inner"}, "chat_template": %s}'),
        ('{"chat_\\u0074emplate": 1, "chat_template": 2}', '{"chat_\\u0074emplate": %s, "chat_template": %s}'),
        (" { } \n", '{\n  "chat_template": %s\n}\n'),
    ],
)
def test_only_the_template_changes_in_a_tokenizer_config(tmp_path: Path, old: str, new: str) -> None:
    assert written(tmp_path, old) == new.replace("%s", STORED)


def test_numbers_escapes_and_letters_of_a_tokenizer_config_keep_their_text(tmp_path: Path) -> None:
    values = '1e-5, 1E+02, -0, 1.10, 1000000000000000019884624838656, "é\\u00e9\\/\\ud800<｜>", NaN, ' + "9" * 5000
    old = f'{{"z": [{values}], "a": 0.30}}'
    new = written(tmp_path, old)
    assert new == f'{old[:-1]}, "chat_template": {STORED}}}'
    assert written(tmp_path, new) == new


def test_several_templates_are_a_list_in_the_layout_of_the_file(tmp_path: Path) -> None:
    named = {"default": "a\nb", "fim": "c"}
    as_list = [{"name": "default", "template": "a\nb"}, {"name": "fim", "template": "c"}]
    new = written(tmp_path, '{\n    "a": 1\n}', named)
    assert new == json.dumps({"a": 1, "chat_template": as_list}, indent=4)
    assert written(tmp_path, '{"a":1}', named) == (
        '{"a":1, "chat_template":[{"name":"default", "template":"a\\nb"}, {"name":"fim", "template":"c"}]}'
    )
    assert json.loads(written(tmp_path, "{}", {"fim": "c"})) == {"chat_template": [{"name": "fim", "template": "c"}]}


def test_a_tokenizer_config_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tokenizer_config.json"
    write_tokenizer_config(path, DEFAULT)
    assert path.read_bytes().decode() == f'{{\n  "chat_template": {STORED}\n}}\n'
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("old", "problem"),
    [
        (b"", "not a JSON object: expected '{' at line 1, column 1"),
        (b"[1]", "not a JSON object: expected '{'"),
        (b'"x"', "not a JSON object: expected '{'"),
        (b"\xef\xbb\xbf{}", "not a JSON object: expected '{'"),
        (b'{"a": 1', "not a JSON object: expected '}' at line 1, column 8"),
        (b'{\n"a": 1,}', "not a JSON object: expected a name in double quotes at line 2, column 8"),
        (b'{"a" 1}', "not a JSON object: expected ':'"),
        (b'{"a": }', "not a JSON object: Expecting value"),
        (b'{"a": "\n"}', "not a JSON object: Invalid control character"),
        (b"{} {}", "not a JSON object: text behind the object"),
        (b'{"a": ' + b"[" * 200_000, "not a JSON object: nested too deeply"),
        (b'{"a": "\xe9"}', "not UTF-8 at byte offset 7"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8 at byte offset 0"),
    ],
)
def test_what_is_no_json_object_is_refused_and_kept(tmp_path: Path, old: bytes, problem: str) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_bytes(old)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: write_tokenizer_config(path, DEFAULT),
        lambda: adds_bos(tmp_path),
    )
    for attempt in attempts:
        with pytest.raises(PackagingError) as caught:
            attempt()
        assert str(caught.value).startswith(f"{path}: {problem}")
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_a_tokenizer_config_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(PackagingError, match="too large: more than"):
        write_tokenizer_config(path, DEFAULT)


def test_templates_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PackagingError, match="no template"):
        write_tokenizer_config(tmp_path / "tokenizer_config.json", {})
    with pytest.raises(PackagingError, match="surrogate"):
        write_tokenizer_config(tmp_path / "tokenizer_config.json", {"default": "\ud800"})
    with pytest.raises(PackagingError, match="surrogate"):
        write_gguf(tmp_path / "none.gguf", tmp_path / "new.gguf", "\ud800")
    assert not list(tmp_path.iterdir())


# Who adds BOS

BEFORE: Any = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}
BEHIND: Any = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<s>"}}]}
NOTHING: Any = {"type": "ByteLevel"}


@pytest.mark.parametrize(
    ("config", "processor", "expected"),
    [
        ({"add_bos_token": True}, BEHIND, True),
        ({"add_bos_token": False, "bos_token": "<s>"}, BEFORE, False),
        ({"add_bos_token": None, "bos_token": "<s>"}, BEFORE, True),
        ({"bos_token": "<s>"}, BEHIND, False),
        ({"bos_token": {"content": "<s>", "lstrip": False}}, BEFORE, True),
        ({"bos_token": "<bos>"}, BEFORE, False),
        ({"bos_token": "<s>"}, {"type": "Sequence", "processors": [NOTHING, BEFORE]}, True),
        ({"bos_token": "<s>"}, {"type": "Sequence", "processors": [NOTHING]}, False),
        ({"bos_token": "<s>"}, {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 1]}, True),
        ({}, NOTHING, False),
        ({}, BEFORE, None),
        (None, BEFORE, None),
        ({"bos_token": "<s>"}, None, None),
        ({"bos_token": "<s>"}, "missing", None),
        (None, "missing", None),
        ({"bos_token": "<s>"}, {"type": "TemplateProcessing", "single": "<s> $A"}, False),
        ({"bos_token": "<s>"}, {"type": "Sequence", "processors": [1, [], {"type": []}]}, False),
    ],
)
def test_the_files_of_a_tokenizer_say_whether_it_adds_bos(
    tmp_path: Path, config: dict[str, Any] | None, processor: Any, expected: bool | None
) -> None:
    if config is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    if processor != "missing":
        (tmp_path / "tokenizer.json").write_text(json.dumps({"post_processor": processor}), "utf-8")
    assert adds_bos(tmp_path) is expected


def test_transformers_renders_the_template_and_agrees_on_bos(tmp_path: Path) -> None:
    tokenizers = library("tokenizers")
    transformers = library("transformers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<s>": 0, "hi": 1, "?": 2}, unk_token="?"))
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "model_max_length": 10**30}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config, indent=2), "utf-8")
    template = "{{ bos_token }}{% for m in messages %}<｜{{ m['role'] }}｜>{{ m['content'] }}{% endfor %}"
    chat = [{"role": "user", "content": "hi"}]

    write_tokenizer_config(tmp_path / "tokenizer_config.json", {"default": template})
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.apply_chat_template(chat, tokenize=False) == "<s><｜user｜>hi"
    assert loaded.model_max_length == 10**30
    assert adds_bos(tmp_path) is (loaded("hi").input_ids[0] == loaded.bos_token_id) is True

    write_tokenizer_config(tmp_path / "tokenizer_config.json", {"default": template, "tool_use": "tools"})
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.apply_chat_template(chat, tokenize=False) == "<s><｜user｜>hi"
    assert loaded.apply_chat_template(chat, chat_template="tool_use", tokenize=False) == "tools"
