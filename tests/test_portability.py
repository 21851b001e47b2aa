"""The portable subset: the reader flags what is outside, accepts what is inside, and reads every emitted template."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from portability.reader import violations

HERE = Path(__file__).parent
TEMPLATES = sorted((HERE.parent / "jinja_out").glob("*.jinja"))


def cases(name: str) -> list[tuple[str, str]]:
    """Return the (header, text) pairs of a data file."""
    text = (HERE / "portability" / name).read_text(encoding="utf-8")
    _, *parts = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


def listed(text: str) -> str:
    return ", ".join(f"{violation.line} {violation.rule}" for violation in violations(text))


@pytest.mark.parametrize(("expected", "text"), cases("bad.txt"))
def test_flags(expected: str, text: str) -> None:
    assert listed(text) == expected, violations(text)


@pytest.mark.parametrize(("name", "text"), cases("good.txt"), ids=lambda value: value if "{" not in value else "")
def test_accepts(name: str, text: str) -> None:
    assert violations(text) == [], name


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_emitted_template(path: Path) -> None:
    found = violations(path.read_text(encoding="utf-8"))
    assert not found, "\n".join(f"{path.name}:{violation}" for violation in found)


def test_flags_a_missing_final_newline() -> None:
    assert listed("{{- 'a' -}}\n{{- 'b' -}}") == "2 final-newline"


def nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + "{{- x -}}" + closing * depth + "\n"


@pytest.mark.parametrize(
    ("rule", "limit", "opening", "closing"),
    [("block-depth", 90, "{%- if x -%}", "{%- endif -%}"), ("loop-depth", 19, "{%- for _ in x -%}", "{%- endfor -%}")],
)
def test_flags_deep_nests(rule: str, limit: int, opening: str, closing: str) -> None:
    assert rule not in listed(nested(opening, closing, limit))
    assert rule in listed(nested(opening, closing, limit + 1))


def test_flags_deep_brackets() -> None:
    assert listed("{{- " + "(" * 60 + "x" + ")" * 60 + " -}}\n") == ""
    assert listed("{{- " + "(" * 61 + "x" + ")" * 61 + " -}}\n") == "1 expression-depth"


@pytest.mark.parametrize(("operator", "limit"), [("~", 500), ("or", 199), ("and", 199)])
def test_flags_long_chains(operator: str, limit: int) -> None:
    chain = f" {operator} ".join(["x"] * limit)
    assert listed("{{- " + chain + " -}}\n") == ""
    assert listed("{{- " + chain + f" {operator} x -}}}}\n") == "1 chain-length"


def test_lists_every_violation_of_a_text_by_line() -> None:
    assert listed("a\n{{ x._y|first }}\n\n{%- if 1.0 -%}{{- 'z' -}}{%- endif -%}") == (
        "1 text-outside, 2 filter, 2 tag-dash, 2 tag-dash, 2 underscore, 4 constant-condition, 4 final-newline, 4 float"
    )


def test_every_rule_has_a_bad_text() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (HERE / "portability").glob("*.py"))
    rules = set(re.findall(r'(?:yield |Violation\([^"\n]*)"([a-z]+(?:-[a-z]+)*)", ', source))
    shown = {rule for header, _ in cases("bad.txt") for rule in re.findall(r"[a-z-]+", header)}
    made_here = {"final-newline", "block-depth", "loop-depth", "expression-depth", "chain-length"}
    assert rules | {"syntax"} == shown | made_here
