"""The diagnostics of Modelfiles: what Ollama's parser refuses, and what has no template to convert."""

from __future__ import annotations

from collections.abc import Mapping

from transpiler.codes import CodeInfo

CODES: Mapping[str, CodeInfo] = {
    "GT151": CodeInfo(
        "a line of a Modelfile that is no command",
        "A line begins with FROM, TEMPLATE, SYSTEM, MESSAGE, PARAMETER, ADAPTER, LICENSE, RENDERER, PARSER, REQUIRES "
        "or DRAFT, in any case, then a space or a tab and the value. A value of several lines stands in quotes.",
    ),
    "GT152": CodeInfo(
        "a message of an unknown role",
        "MESSAGE is followed by one space, the role, which is system, user or assistant in lower case, one space, and "
        "the message.",
    ),
    "GT153": CodeInfo(
        "a value that isn't closed",
        "A value in quotes ends with the same quotes at the end of a line, nothing behind them. Quotes in the middle "
        'of a line are text, so `SYSTEM "Bob" says hi` swallows the lines that follow.',
    ),
    "GT154": CodeInfo("a Modelfile without FROM", "Ollama wants to know which model the Modelfile is based on."),
    "GT155": CodeInfo(
        "a Modelfile's command that is cut short",
        "A command is followed by a space and its value. The name of a PARAMETER has letters, digits and `_` only, the "
        "role of a MESSAGE letters only.",
    ),
    "GT451": CodeInfo(
        "characters that Ollama drops from a Modelfile",
        "Ollama's reader of Modelfiles leaves out what is not printable: no-break and ideographic spaces, joiners, "
        "soft hyphens, control characters. The template is converted without them, as Ollama has it. In a template, "
        'an escape prints such a character: `{{ "\\u3000" }}`.',
    ),
    "GT907": CodeInfo(
        "a Modelfile whose prompt is made by a renderer",
        "With RENDERER the prompt is built by a program inside Ollama, and TEMPLATE is never run. There is nothing to "
        "convert; the model's own chat template is what the renderer follows.",
    ),
    "GT908": CodeInfo(
        "a Modelfile without a template",
        "The model that FROM names brings the template. `ollama show --template NAME` prints it.",
    ),
    "GT909": CodeInfo(
        "a command of a Modelfile that is not in the result",
        "Ollama's server puts MESSAGE lines before a chat's own messages, and SYSTEM before a chat that does not begin "
        "with a system message; the result does so where it is asked to. Adapters and licenses go with the model.",
    ),
    "GT910": CodeInfo(
        "a template that can also fill in the middle",
        "A template that speaks of `.Suffix` has two forms: Ollama runs it over a chat, or over the text before a gap "
        "and the text behind it. Each is a template of its own: `--mode fim` gives the second, as `result.fim` does.",
    ),
    "GT911": CodeInfo(
        "a template that can't fill in the middle",
        "`--mode fim` was asked for, but the template does not speak of `.Suffix`, or Ollama fails at that form.",
    ),
}
