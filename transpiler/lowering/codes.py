"""The diagnostics of the lowering: what Ollama would fail at, and what Jinja can't say."""

from __future__ import annotations

from collections.abc import Mapping

from transpiler.codes import CodeInfo

CODES: Mapping[str, CodeInfo] = {
    "GT202": CodeInfo(
        "a field that its value has not got",
        "Ollama's values have fixed fields: a message has Role, Content, Thinking, Images, ToolCalls, ToolName and "
        "ToolCallID, a tool has Type and Function. Any other name stops Ollama when it gets there. Names on the top "
        "level are another matter: one that isn't known is an empty value.",
    ),
    "GT203": CodeInfo(
        "values that can't be compared",
        "Go compares values of one basic type: text with text, whole numbers with whole numbers. Anything else stops "
        "Ollama when it gets there: `eq .Content 1`.",
    ),
    "GT204": CodeInfo(
        "a range over something that has no elements",
        "`range` goes over lists, maps and whole numbers. Over a text or a struct Ollama stops.",
    ),
    "GT205": CodeInfo(
        "a function that can't take its arguments",
        "The number of arguments or their types don't fit, as in `len 3`, or what stands there is no function and no "
        "value: `{{ nil }}`, a number that is too large. Ollama stops when it gets there.",
    ),
    "GT206": CodeInfo(
        "a template that Ollama does not accept",
        '`{{ template "x" }}` needs an argument: Ollama refuses a template with a bare one.',
    ),
    "GT207": CodeInfo(
        "a variable that has no value there",
        "Go's parser takes `{{ $x = 1 }}` without a declaration, `{{ $x := $x }}`, and a variable of an if's one arm "
        "in the other; Ollama stops when it gets there.",
    ),
    "GT208": CodeInfo(
        "a last turn that Ollama can't print",
        "A template without `.Messages` runs once a turn, and the last turn is cut behind the first `{{ .Response }}`. "
        "The cut copy has no functions of Ollama's (json, currentDate, …) and no defined templates, and Ollama panics "
        "where the block around `.Response` has an else.",
    ),
    "GT301": CodeInfo(
        "a value whose printed form Jinja can't make",
        "Go prints lists of structs, pointers and images in forms that no portable Jinja can make. Print their fields, "
        "or use `json`.",
    ),
    "GT302": CodeInfo(
        "texts compared by order",
        "`lt`, `le`, `gt`, `ge` of two texts compare bytes in Go; engines of Jinja don't agree on the order of texts.",
    ),
    "GT303": CodeInfo(
        "bytes counted as characters",
        "`len` and `slice` of a text count bytes in Go and characters in Jinja. The results are the same for ASCII "
        "text; for other text they can differ.",
    ),
    "GT304": CodeInfo(
        "a format that Jinja can't make",
        "`printf` is converted for %s, %v, %d, %t and %% without flags; others have no portable form.",
    ),
    "GT305": CodeInfo(
        "a function without a portable form",
        "The function can't be written in Jinja that all engines run.",
    ),
    "GT306": CodeInfo(
        "a value whose type is known only when the template runs",
        "Values out of JSON may be texts, numbers, lists or maps. What is done here needs to know which.",
    ),
}
