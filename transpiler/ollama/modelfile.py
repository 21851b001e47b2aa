"""Reads a Modelfile by Ollama's grammar, which is looser than it looks (`parser.ParseFile` of Ollama v0.34).

A command is a keyword in any case and a value. A value is trimmed, then unquoted: `"…"` or three quotes, both over many
lines, without escapes. The closing quote counts only at the end of a line, so that `SYSTEM "Bob" says hi` swallows what
follows. Characters that can't be printed are dropped from values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transpiler.codes import CodeInfo
from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.source import Source, Span

__all__ = ["CODES", "Command", "Modelfile", "chat_template", "looks_like_modelfile", "read_modelfile"]

CODES: Mapping[str, CodeInfo] = {
    "GT121": CodeInfo(
        "a line of a Modelfile that is no command",
        "A Modelfile is made of FROM, TEMPLATE, SYSTEM, ADAPTER, LICENSE, PARAMETER, MESSAGE, RENDERER, PARSER, "
        "REQUIRES and DRAFT, in any case, each with a value behind a space. Comments are lines that begin with `#`. "
        "Text of more than one line stands in quotes.",
    ),
    "GT122": CodeInfo(
        "a MESSAGE of an unknown role", "`MESSAGE` takes one of system, user and assistant, in lower case, and a text."
    ),
    "GT123": CodeInfo(
        "a Modelfile that ends too early",
        "A quoted value isn't closed, or a command has no value. The closing quotes count only at the end of a line: "
        '`SYSTEM "Bob" says hi` is a value that isn\'t closed.',
    ),
    "GT124": CodeInfo("a Modelfile without FROM", "Ollama wants to know what the model is made from."),
    "GT221": CodeInfo(
        "a Modelfile without TEMPLATE",
        "The template then comes from the model that FROM names, which isn't in the Modelfile. `ollama show "
        "--template` prints it.",
    ),
    "GT222": CodeInfo(
        "a Modelfile with RENDERER",
        "With RENDERER, Ollama builds the prompt by code of its own and never looks at the template. Converting the "
        "template would give other prompts than the model gets.",
    ),
}

_KEYWORDS = frozenset("from template system adapter license parameter message renderer parser requires draft".split())  # noqa: SIM905
_ROLES = frozenset({"system", "user", "assistant"})
_NEWLINE = re.compile(r"[\r\n]")
_LETTERS = re.compile(r"[A-Za-z]*")
_PARAMETER = re.compile(r"[A-Za-z0-9_]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_HAS_COMMANDS = re.compile(r'^[ \t]*(?:FROM[ \t]|TEMPLATE[ \t]+")', re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: Ollama's name for it (`model` for FROM, a parameter's own name), its value, and where that stands.

    `role` is set for a message.
    """

    name: str
    value: str
    span: Span
    role: str = ""


@dataclass(frozen=True, slots=True)
class Modelfile:
    """What a Modelfile says. `source` is its text without the characters that Ollama drops; spans are places in it.

    Of `template` and `system` the last one counts; messages, parameters and licenses add up.
    """

    source: Source
    commands: tuple[Command, ...]

    @property
    def model(self) -> str:
        """What FROM names."""
        return self._last("model") or ""

    @property
    def template(self) -> Source | None:
        """The template, as a text inside the Modelfile; None where there is none, or an empty one."""
        found = [command for command in self.commands if command.name == "template"]
        if not found or not found[-1].value:
            return None
        return Source(found[-1].value, self.source.name, (self.source, found[-1].span.start))

    @property
    def system(self) -> str | None:
        """The system prompt."""
        return self._last("system")

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """The messages that every chat begins with: role and content."""
        return tuple((command.role, command.value) for command in self.commands if command.role)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the parameters, in order; `stop` may come more than once."""
        known = _KEYWORDS - {"from"} | {"model"}
        return tuple((c.name, c.value) for c in self.commands if c.name not in known)

    @property
    def licenses(self) -> tuple[str, ...]:
        """The licenses, in order."""
        return tuple(command.value for command in self.commands if command.name == "license")

    @property
    def renderer(self) -> str | None:
        """The name of the code in Ollama that builds prompts, instead of the template."""
        return self._last("renderer")

    @property
    def parser(self) -> str | None:
        """The name of the code in Ollama that reads answers."""
        return self._last("parser")

    def _last(self, name: str) -> str | None:
        return next((command.value for command in reversed(self.commands) if command.name == name), None)


def looks_like_modelfile(text: str) -> bool:
    """Whether a text is a Modelfile and not a bare template: it begins with a command, and has FROM or TEMPLATE."""
    at = _skip(_BETWEEN, text.removeprefix("\ufeff"), 0)
    word = _LETTERS.match(text.removeprefix("\ufeff"), at)
    return word is not None and word.group().lower() in _KEYWORDS and _HAS_COMMANDS.search(text) is not None


def read_modelfile(text: str, *, name: str = "Modelfile") -> Modelfile:
    """Read the text of a Modelfile.

    Raises:
        TemplateError: Ollama would refuse it (GT121 to GT124).
    """
    source = Source(text.removeprefix("\ufeff"), name)
    pieces: list[str] = []
    commands: list[Command] = []
    done = length = 0
    for command in _commands(source):
        before = source.text[done : command.span.start]
        value = _printable(source.text[command.span.start : command.span.end])
        done, length = command.span.end, length + len(before)
        pieces += (before, value)
        begin, end = _unquoted(value)
        commands.append(Command(command.name, value[begin:end], Span(length + begin, length + end), command.role))
        length += len(value)
    if all(command.name != "model" for command in commands):
        raise _error("GT124", source, None, "no FROM line", "begin the Modelfile with `FROM` and the model's name")
    pieces.append(source.text[done:])
    return Modelfile(Source("".join(pieces), name), tuple(commands))


def chat_template(modelfile: Modelfile) -> Source:
    """Return the template that Ollama runs for a model.

    Raises:
        TemplateError: it runs none (GT222), or not one of this file (GT221).
    """
    template = modelfile.template
    for command in modelfile.commands:
        if command.name == "renderer" and command.value:
            message = f"`RENDERER {command.value}`: Ollama builds the prompts by code and not by a template"
            advice = "take RENDERER out to convert the template that Ollama ignores" if template else None
            raise _error("GT222", modelfile.source, command.span, message, advice)
    if template is None:
        advice = f"`ollama show --template {modelfile.model}` may print it"
        raise _error("GT221", modelfile.source, None, "the Modelfile has no TEMPLATE", advice)
    return template


def _commands(source: Source) -> Iterator[Command]:
    """The commands as they stand: values neither trimmed nor unquoted."""
    text = source.text
    at = _skip(_BETWEEN, text, 0)
    while at < len(text):
        start = at
        # The first character may be anything; one that can't be printed is dropped.
        at = _skip(_LETTERS, text, at + 1)
        word = _printable(text[start:at])
        keyword = word.lower()
        if at == len(text):
            raise _ends(source, Span(start, at), f"the Modelfile ends after `{word}`")
        if keyword not in _KEYWORDS or text[at] not in " \t":
            message = f"`{word}` needs a value" if keyword in _KEYWORDS else f"unknown command `{_line(text, start)}`"
            raise _error("GT121", source, Span(start, at), message, f"commands are {_listed()}")
        at += 1
        name, role = "model" if keyword == "from" else keyword, ""
        if keyword == "parameter":
            name, at = _word(source, _PARAMETER, at, "parameter")
        elif keyword == "message":
            role, at = _word(source, _LETTERS, at, "role")
            if role not in _ROLES:
                place = Span(at - 1 - len(role), at - 1)
                message = "message role must be one of system, user and assistant"
                raise _error("GT122", source, place, message, None)
        end = _value_end(source, at)
        yield Command(name, "", Span(at, end), role)
        at = _skip(_BETWEEN, text, end)


def _word(source: Source, kind: re.Pattern[str], at: int, what: str) -> tuple[str, int]:
    """A parameter's name or a role, and where its value begins."""
    end = _skip(kind, source.text, at)
    if source.text[end : end + 1] not in (" ", "\t"):
        raise _ends(source, Span(at, end + 1), f"the {what} needs a value on the same line")
    return source.text[at:end], end + 1


def _value_end(source: Source, start: int) -> int:
    """Where a value ends: at the first line end where its quotes are closed.

    A line is looked at once, so that a long value takes time by its length (Ollama's own takes its square).
    """
    text = source.text
    opening: str | None = None
    at = start
    while True:
        newline = _NEWLINE.search(text, at)
        end = newline.start() if newline else len(text)
        line = _printable(text[at:end]).strip(" \t")
        if opening is None:
            opening = '"""' if line.startswith('"""') else '"' if line.startswith('"') else ""
            closed = len(line) >= 2 * len(opening) and line.endswith(opening)
        else:
            closed = line.endswith(opening)
        if closed:
            return end
        if newline is None:
            raise _ends(source, Span(start, start + len(_line(text, start))), f"the value isn't closed by `{opening}`")
        at = newline.end()


def _unquoted(value: str) -> tuple[int, int]:
    """Where in a whole value the text between its quotes stands."""
    end = len(value.rstrip(" \t\r\n"))
    begin = len(value) - len(value.lstrip(" \t\r\n"))
    if begin >= end:
        return end, end
    width = 3 if value.startswith('"""', begin) else 1 if value.startswith('"', begin) else 0
    return begin + width, end - width


def _printable(text: str) -> str:
    """A value without what Go's `strconv.IsPrint` says no to; line ends and tabs stay.

    Characters that this Python doesn't know are kept: they are newer than its tables.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c.isprintable() or c in "\t\r\n" or unicodedata.category(c) == "Cn")


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _line(text: str, start: int) -> str:
    found = _NEWLINE.search(text, start)
    line = text[start : found.start() if found else len(text)]
    return line if len(line) <= 40 else line[:40] + "…"


def _listed() -> str:
    return ", ".join(sorted(word.upper() for word in _KEYWORDS))


def _ends(source: Source, span: Span, message: str) -> TemplateError:
    return _error("GT123", source, span, message, "closing quotes count only at the end of a line")


def _error(code: str, source: Source, span: Span | None, message: str, advice: str | None) -> TemplateError:
    return TemplateError((Diagnostic(code, Severity.ERROR, message, source, span, help=advice),))
