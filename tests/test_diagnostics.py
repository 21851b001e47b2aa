"""How diagnostics are drawn: the picture, the line, the object, the workflow command."""

from __future__ import annotations

import json

import pytest

from transpiler.diagnostics import Diagnostic, Label, Severity
from transpiler.rendering import FORMATS, render
from transpiler.source import Source, Span

TEXT = "{{- $x := 1 }}\n{{ if .A }}\n\t{{ $x := 2 }}\n{{ end }}\n"


def finding(text: str, part: str, *labels: tuple[str, str], label: str = "", help: str | None = None) -> Diagnostic:
    """An error at the last `part` of `text`, with labels at the first of theirs."""
    places = tuple(Label(Span(text.index(at), text.index(at) + len(at)), words) for at, words in labels)
    start = text.rindex(part)
    span = Span(start, start + len(part))
    return Diagnostic("GT401", Severity.ERROR, "no good", Source(text, "a.gotmpl"), span, label, places, help)


def drawn(diagnostic: Diagnostic) -> list[str]:
    return render([diagnostic]).splitlines()


def test_the_picture() -> None:
    found = finding(TEXT, "$x :=", ("$x :=", "first declared here"), label="never read", help="write `=`")
    assert drawn(found) == [
        "error[GT401]: no good",
        " --> a.gotmpl:3:5",
        "  |",
        "1 | {{- $x := 1 }}",
        "  |     ----- first declared here",
        "...",
        "3 |     {{ $x := 2 }}",
        "  |        ^^^^^ never read",
        "  |",
        "help: write `=`",
    ]


def test_lines_that_follow_each_other_have_nothing_between() -> None:
    assert "..." not in drawn(finding(TEXT, "$x := 2", ("if", "here")))


def test_two_places_on_a_line() -> None:
    assert drawn(finding("{{ a b }}", "b", ("a", "one"), label="two"))[3:] == [
        "1 | {{ a b }}",
        "  |    - one",
        "  |      ^ two",
    ]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("日本 x", "     ^"),
        ("e\u0301 x", "  ^"),
        ("\tx", "    ^"),
        ("a\tx", "    ^"),
        ("\x1b x", "  ^"),
    ],
)
def test_carets_stand_under_what_they_mean(text: str, marks: str) -> None:
    assert drawn(finding(text, "x"))[4] == f"  | {marks}"


def test_control_characters_are_not_handed_to_the_terminal() -> None:
    assert "\x1b" not in render([finding("\x1b[31m x", "x", label="\x1b]0;")])


def test_a_long_line_is_cut_around_the_place() -> None:
    lines = drawn(finding("a" * 5000 + " here " + "b" * 5000, "here"))
    assert max(map(len, lines)) < 120
    shown, marks = lines[3:5]
    assert shown[4:].startswith("…")
    assert shown.endswith("…")
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "here"


def test_a_place_over_many_lines_is_marked_to_the_end_of_its_first() -> None:
    assert drawn(finding("ab {{\n}}", "{{\n}}"))[3:] == ["1 | ab {{", "  |    ^^"]


def test_the_end_of_a_text_has_a_place() -> None:
    text = "{{ if .A }}"
    found = Diagnostic("GT106", Severity.ERROR, "m", Source(text, "a"), Span(len(text), len(text)))
    assert drawn(found)[4] == "  | " + " " * len(text) + "^"


def test_a_whole_input() -> None:
    found = Diagnostic("GT905", Severity.ERROR, "m", Source("", "a"))
    assert drawn(found) == ["error[GT905]: m", "--> a"]
    assert render([found], "concise") == "a: error[GT905] m\n"
    assert "line" not in json.loads(render([found], "json"))


def test_a_template_in_a_modelfile_is_shown_in_the_modelfile() -> None:
    outer = Source('FROM x\nTEMPLATE """a\n{{ b }}"""', "Modelfile")
    at = outer.text.index("a\n")
    inner = Source(outer.text[at:-3], "Modelfile", (outer, at))
    found = Diagnostic("GT104", Severity.WARNING, "m", inner, Span(5, 6))
    assert drawn(found)[1:4] == [" --> Modelfile:3:4", "  |", '3 | {{ b }}"""']


def test_concise() -> None:
    assert render([finding(TEXT, "$x :=")], "concise") == "a.gotmpl:3:5: error[GT401] no good\n"


def test_json() -> None:
    found = json.loads(render([finding(TEXT, "$x :=", ("if", "here"), label="l", help="h")], "json"))
    assert found == {
        "code": "GT401",
        "severity": "error",
        "message": "no good",
        "file": "a.gotmpl",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 10,
        "label": "l",
        "labels": [{"line": 2, "column": 4, "end_line": 2, "end_column": 6, "text": "here"}],
        "help": "h",
    }


def test_github_escapes_what_would_end_a_command() -> None:
    source = Source("x", "a,b:c")
    found = Diagnostic("GT101", Severity.NOTE, "100%\n::error::", source, Span(0, 1), help="h")
    assert render([found], "github") == (
        "::notice file=a%2Cb%3Ac,line=1,col=1,endLine=1,title=GT101::100%25%0A::error::%0Ahelp: h\n"
    )


def test_colours_change_nothing_else() -> None:
    found = finding(TEXT, "$x :=", ("$x", "first"), label="l", help="h")
    coloured = render([found], colour=True)
    assert "\x1b[1;31m" in coloured
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;34m"):
        coloured = coloured.replace(code, "")
    assert coloured == render([found])


@pytest.mark.parametrize("style", FORMATS)
def test_nothing_found_is_nothing_drawn(style: str) -> None:
    assert render([], style) == ""
