"""Modelfiles are read as Ollama's own parser reads them.

`modelfiles/cases.jsonl` holds Modelfiles with the commands or the error that Ollama's parser gave for them;
`pytest --update` asks it again. A case that is added needs only its text.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from transpiler.diagnostics import Severity, TemplateError
from transpiler.ollama.modelfile import Modelfile, chat_template, looks_like_modelfile, read_modelfile, unconverted
from transpiler.source import Position, Span
from transpiler.verify.oracle import Oracle, TemplateRefused

CASES = Path(__file__).parent / "modelfiles" / "cases.jsonl"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "templates.jsonl"

# Which of our codes stand for which of the errors that Ollama's parser has.
CODES = {
    "command must be one of": {"GT151"},
    "message role must be one of": {"GT152"},
    "unexpected EOF": {"GT153", "GT155"},
    "no FROM line": {"GT154"},
}
PIECES = (
    *('"', '""', '"""', '""""', "\n", "\r\n", "\r", " ", "\t", "#", "_", "0", ".", "x", "{{ .X }}", "<|end|>"),
    *("FROM", "from ", "TEMPLATE ", "SYSTEM", "MESSAGE ", "user ", "User ", "PARAMETER ", "stop", "LICENSE ", "DRAFT "),
    *("\0", "\x0b", "\x1b", "\x85", "\xa0", "\xad", "\u0378", "\u0cf3", "\u200b", "\u200d", "\u2028", "\u3000"),
    *("\ufeff", "\uff5c", "\U0001fae8", "\U00031350", "\U000e0001"),
)


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


def of_ollama(oracle: Oracle, text: str) -> dict[str, Any]:
    try:
        return {"modelfile": text, "commands": [list(command) for command in oracle.modelfile(text)]}
    except TemplateRefused as error:
        return {"modelfile": text, "error": str(error)}


def as_ollama(modelfile: Modelfile) -> list[list[str]]:
    """The commands by the names that Ollama gives them."""
    found = []
    for command in modelfile.commands:
        value = command.value.text
        match command.keyword:
            case "from":
                found.append(["model", value])
            case "parameter":
                found.append([command.qualifier, value])
            case "message":
                found.append(["message", f"{command.qualifier}: {value}"])
            case keyword:
                found.append([keyword, value])
    return found


def disagreement(case: dict[str, Any]) -> str | None:
    """What our reader and Ollama's don't agree on."""
    try:
        modelfile = read_modelfile(case["modelfile"])
    except TemplateError as error:
        (diagnostic,) = error.diagnostics
        words = case.get("error", "no error")
        if not any(diagnostic.code in codes for start, codes in CODES.items() if start in words):
            return f"{diagnostic.code}, where Ollama has {words}"
        return None
    if "error" in case:
        return f"accepted, where Ollama has {case['error']}"
    commands = as_ollama(modelfile)
    return None if commands == case["commands"] else f"{commands}, where Ollama has {case['commands']}"


def test_there_are_many_cases() -> None:
    refused = sum("error" in case for case in cases())
    assert len(cases()) >= 100
    assert refused >= 30
    assert len({case["modelfile"] for case in cases()}) == len(cases())
    assert all(any(start in case["error"] for case in cases() if "error" in case) for start in CODES)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["modelfile"][:40])
def test_commands_or_verdict_are_ollamas(case: dict[str, Any]) -> None:
    assert disagreement(case) is None


def test_cases_are_what_ollama_says_now(oracle: Oracle, update: bool) -> None:
    now = [of_ollama(oracle, case["modelfile"]) for case in cases()]
    if update:
        CASES.write_text("".join(json.dumps(case, ensure_ascii=True) + "\n" for case in now), "utf-8")
    assert now == cases()


def test_mutants_are_read_as_ollama_reads_them(oracle: Oracle) -> None:
    """More of them with MODELFILE_MUTANTS in the environment."""
    rng = random.Random(20251130)
    seeds = [case["modelfile"] for case in cases()]
    wrong = []
    for _ in range(int(os.environ.get("MODELFILE_MUTANTS", "1000"))):
        text = mutant(rng, rng.choice(seeds))
        reason = disagreement(of_ollama(oracle, text))
        if reason is not None:
            wrong.append(f"{text!r}: {reason}")
    assert not wrong, "\n".join([f"{len(wrong)} disagreements", *wrong[:5]])


def mutant(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 5)):
        at = rng.randint(0, len(text))
        match rng.choice("iiiddcs"):
            case "i":
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case "d":
                text = text[:at] + text[at + rng.randint(1, 6) :]
            case "c":
                text = text[:at] + text[at : at + rng.randint(1, 30)] + text[at:]
            case _:
                lines = text.splitlines(keepends=True)
                rng.shuffle(lines)
                text = "".join(lines)
    return text


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["modelfile"][:40])
def test_every_character_of_a_value_knows_its_place(case: dict[str, Any]) -> None:
    if "error" in case:
        return
    modelfile = read_modelfile(case["modelfile"])
    for command in modelfile.commands:
        value = command.value
        places = [value.outermost(Span(at, at + 1)) for at in range(len(value.text))]
        assert [outer.text[span.start : span.end] for outer, span in places] == list(value.text)
        if value.text:
            outer, span = value.outermost(Span(0, len(value.text)))
            assert span == Span(places[0][1].start, places[-1][1].end)
            assert outer is modelfile.source


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
def test_encodings(encoding: str) -> None:
    text = 'FROM x\r\nTEMPLATE """<｜User｜>{{ .Prompt }}😀"""\r\n'
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    modelfile = read_modelfile((mark + text).encode(encoding))
    assert modelfile.source.text == text
    assert modelfile.template is not None
    assert modelfile.template.text == "<｜User｜>{{ .Prompt }}😀"


def test_everything_that_a_modelfile_says() -> None:
    modelfile = read_modelfile(
        "# mine\nFROM a\nFROM ./b c.gguf\nTEMPLATE old\nTEMPLATE {{ .Prompt }}\nSYSTEM Be brief.\n"
        'MESSAGE user Hi: there\nMESSAGE assistant """Hello\n"""\nPARAMETER stop a\nPARAMETER stop "b "\n'
        "PARAMETER num_ctx 10\nPARAMETER num_ctx 20\nADAPTER ./l\nLICENSE MIT\nLICENSE other\nRENDERER r\n"
        "PARSER p\nREQUIRES 0.14.0\nDRAFT ./d\n"
    )
    assert modelfile.from_ == "./b c.gguf"
    assert modelfile.template is not None
    assert modelfile.template.text == "{{ .Prompt }}"
    assert modelfile.system == "Be brief."
    assert modelfile.messages == (("user", "Hi: there"), ("assistant", "Hello\n"))
    assert modelfile.parameters == {"stop": ("a", "b "), "num_ctx": ("10", "20")}
    assert (modelfile.adapters, modelfile.licenses, modelfile.drafts) == (("./l",), ("MIT", "other"), ("./d",))
    assert (modelfile.renderer, modelfile.parser, modelfile.requires) == ("r", "p", "0.14.0")


def test_what_is_absent_or_empty() -> None:
    for text in ("FROM x", 'FROM x\nTEMPLATE {{ .Prompt }}\nTEMPLATE ""\nSYSTEM ""\nRENDERER ""\n'):
        modelfile = read_modelfile(text)
        assert modelfile.template is None
        assert [modelfile.system, modelfile.renderer, modelfile.parser, modelfile.requires] == [None] * 4
        assert [*modelfile.messages, *modelfile.licenses, *modelfile.adapters, *modelfile.parameters] == []


def test_a_place_in_a_template_is_a_place_in_the_modelfile() -> None:
    modelfile = read_modelfile('FROM x\r\nTEMPLATE """{{ .System }}\r\n\u200b\u200b {{ .Prompt }}"""\r\n')
    template = modelfile.template
    assert template is not None
    at = template.text.index(".Prompt")
    outer, span = template.outermost(Span(at, at + 7))
    assert outer.text[span.start : span.end] == ".Prompt"
    assert outer.position(span.start) == Position(3, 7)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("FROM x\r\nFROM y\r\nTEMPLAT {{ .Prompt }}\r\n", "GT151", 3, 1),
        ("FROM x\n\tTEMPLATE\n", "GT151", 2, 2),
        ("FROM x\r\nMESSAGE tool hi", "GT152", 2, 9),
        ('FROM x\r\n\r\nSYSTEM  "Bob" says hi\r\nPARAMETER stop a', "GT153", 3, 9),
        ("\r\nTEMPLATE x", "GT154", 1, 1),
        ("FROM x\nPARAMETER top-k 1", "GT155", 2, 11),
    ],
)
def test_errors_have_places_and_count_crlf_once(text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(TemplateError) as caught:
        read_modelfile(text, "Modelfile")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.severity is Severity.ERROR
    assert diagnostic.span is not None
    assert diagnostic.source.position(diagnostic.span.start) == Position(line, column)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FROM x\nRENDERER qwen3-coder\nTEMPLATE {{ .Prompt }}", "GT907"),
        ("FROM x\nSYSTEM hi", "GT908"),
        ('FROM x\nTEMPLATE ""', "GT908"),
    ],
)
def test_modelfiles_that_have_no_template_to_convert(text: str, code: str) -> None:
    with pytest.raises(TemplateError) as caught:
        chat_template(read_modelfile(text))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]


def test_what_is_left_out_is_noted() -> None:
    read = read_modelfile("FROM x\nTEMPLATE y\nMESSAGE user hi\nSYSTEM a\nSYSTEM b")
    noted = unconverted(read, "message", "system", "adapter")
    assert [(note.code, note.severity) for note in noted] == [("GT909", Severity.NOTE)] * 2
    assert unconverted(read, "adapter") == ()
    assert unconverted(read_modelfile('FROM x\nTEMPLATE y\nSYSTEM ""'), "system") == ()


@pytest.mark.parametrize(
    ("text", "is_modelfile"),
    [
        ("FROM llama3\n", True),
        ("\ufeff# a comment\r\n\r\nfrom llama3\r\ntemplate {{ .Prompt }}\r\n", True),
        ('FORM llama3\nTEMPLATE """{{ .Prompt }}"""', True),
        ("FROM llama3\nTEMPLATE {{ .System }}\n{{ .Prompt }}", True),
        ("from llama3\nsystem hi", True),
        ("", False),
        ("{{ .Prompt }}", False),
        ("From now on you are {{ .System }}", False),
        ("From now on you are {{ .System }}\nUSER {{ .Prompt }}", False),
        ("SYSTEM {{ .System }}\nUSER {{ .Prompt }}", False),
        ("### System:\n{{ .System }}", False),
    ],
)
def test_telling_modelfiles_from_templates(text: str, is_modelfile: bool) -> None:
    assert looks_like_modelfile(text) is is_modelfile


def test_no_template_is_taken_for_a_modelfile() -> None:
    ours = (Path(__file__).parents[1] / "go_templates").glob("*.gotmpl")
    texts = [path.read_text("utf-8") for path in ours]
    if CORPUS.is_file():
        texts += [json.loads(line)["template"] for line in CORPUS.read_text("utf-8").splitlines()]
    assert [text for text in texts if looks_like_modelfile(text)] == []
