"""The diagnostics of the front end: what Go's parser refuses, and the limits of ours."""

from __future__ import annotations

from collections.abc import Mapping

from transpiler.codes import CodeInfo

CODES: Mapping[str, CodeInfo] = {
    "GT101": CodeInfo(
        "an unexpected word or sign",
        "Go's parser met something that can't stand there. Templates have no operators: `{{ if .A == 1 }}` is "
        "`{{ if eq .A 1 }}`, `{{ .A + 1 }}` has no direct form. Operands are separated by spaces.",
    ),
    "GT102": CodeInfo(
        "an action, string or comment that isn't closed",
        "`{{` needs its `}}` (and `(` its `)`), a string its quote on the same line, a comment `*/` right before the "
        "closing braces.",
    ),
    "GT103": CodeInfo(
        "a variable that isn't declared", "`$x` is used before `{{ $x := … }}`, or after its block ended."
    ),
    "GT104": CodeInfo(
        "a function that isn't there",
        "Ollama's templates know Go's functions (and or not eq ne lt le gt ge len index slice print printf println "
        "html js urlquery call) and json, currentDate, yesterdayDate, toTypeScriptType.",
    ),
    "GT105": CodeInfo("a value is missing", "`if`, `with`, `range` and parentheses need something to look at."),
    "GT106": CodeInfo(
        "a block that isn't closed, or an end without one",
        "Each if, range, with, define and block has one `{{ end }}`; `{{ else }}` belongs to if, range and with.",
    ),
    "GT107": CodeInfo("a malformed literal", "The number, character or string is not one by Go's rules."),
    "GT108": CodeInfo(
        "a value in the place of a function", "Behind `|` stands a function; values can only come first."
    ),
    "GT109": CodeInfo(
        "a wrong declaration", "Only `range` declares two variables, `{{ range $i, $m := .Messages }}`; others one."
    ),
    "GT110": CodeInfo("break or continue outside of range", "They end or skip a round of the innermost `{{ range }}`."),
    "GT111": CodeInfo("two templates of one name", "A name can be defined once."),
    "GT201": CodeInfo(
        "a template that isn't defined", '`{{ template "x" . }}` needs a `{{ define "x" }}`; Ollama stops without one.'
    ),
    "GT901": CodeInfo("a template that is too large", "Templates are read up to 4 MiB."),
    "GT902": CodeInfo(
        "a template that nests too deeply",
        "Engines of Jinja can't run more: 90 blocks in each other, 20 loops in each other, 50 parentheses, 150 arms of "
        "ifs. One action has at most 10,000 parentheses and strings.",
    ),
}
