"""What a Modelfile says: its template, as a text that knows its place in the file, and everything beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.ollama.modelfile_commands import KEYWORDS, Command, commands
from transpiler.reading import decode
from transpiler.source import Source, Span

_MARK = "\ufeff"
_COMMAND = re.compile(rf"[ \t]*(?:{'|'.join(KEYWORDS)})[ \t]", re.IGNORECASE)
_QUOTED_TEMPLATE = re.compile(r"^[ \t]*TEMPLATE[ \t]+\"", re.IGNORECASE | re.MULTILINE)
_FROM_ONE_WORD = re.compile(r"^[ \t]*FROM[ \t]+[^\s{]+[ \t]*$", re.MULTILINE)
_COMMENT_OR_BLANK = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?+(?:[\r\n]++|\Z))*+")


@dataclass(frozen=True, slots=True)
class Modelfile:
    """A Modelfile that Ollama's parser takes.

    Of a command that is given several times the last one counts; MESSAGE, LICENSE, ADAPTER, DRAFT and each PARAMETER
    accumulate, in the order of the file. `template` knows where it stands in `source`. `messages` are pairs of role and
    content. An absent command is None or empty; an empty TEMPLATE, SYSTEM, RENDERER or PARSER counts as absent.
    `diagnostics` are warnings and notes; errors are raised.
    """

    source: Source
    commands: tuple[Command, ...]
    template: Source | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def from_(self) -> str:
        """The base model: a name, or the path of a file or folder."""
        return self._last("from") or ""

    @property
    def system(self) -> str | None:
        return self._last("system")

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        return tuple((command.qualifier, command.value.text) for command in self._all("message"))

    @property
    def parameters(self) -> Mapping[str, tuple[str, ...]]:
        """All values of each parameter; Ollama takes all of `stop` and the last of the others."""
        found: dict[str, tuple[str, ...]] = {}
        for command in self._all("parameter"):
            found[command.qualifier] = (*found.get(command.qualifier, ()), command.value.text)
        return found

    @property
    def renderer(self) -> str | None:
        return self._last("renderer")

    @property
    def parser(self) -> str | None:
        return self._last("parser")

    @property
    def requires(self) -> str | None:
        """The least version of Ollama."""
        return self._last("requires")

    @property
    def adapters(self) -> tuple[str, ...]:
        return tuple(command.value.text for command in self._all("adapter"))

    @property
    def licenses(self) -> tuple[str, ...]:
        return tuple(command.value.text for command in self._all("license"))

    @property
    def drafts(self) -> tuple[str, ...]:
        return tuple(command.value.text for command in self._all("draft"))

    def _all(self, keyword: str) -> tuple[Command, ...]:
        return tuple(command for command in self.commands if command.keyword == keyword)

    def _last(self, keyword: str) -> str | None:
        found = self._all(keyword)
        return (found[-1].value.text or None) if found else None


def read_modelfile(text: str | bytes, name: str = "Modelfile") -> Modelfile:
    """Read a Modelfile as Ollama 0.34 does; bytes are UTF-8, or UTF-16 with a byte order mark.

    Raises TemplateError, with one error, where Ollama's parser would refuse it.
    """
    source = decode(text, name, utf16=True) if isinstance(text, bytes) else Source(text, name)
    if source.text.startswith(_MARK):
        source = Source(source.text[1:], name)
    found = tuple(commands(source))
    if not any(command.keyword == "from" for command in found):
        raise _refused("GT154", "the Modelfile has no FROM", source, Span(0, 0), "`FROM NAME` names the base model")
    templates = [command for command in found if command.keyword == "template"]
    if not templates or not templates[-1].value.text:
        return Modelfile(source, found, None, ())
    return Modelfile(source, found, templates[-1].value, _dropped(source, templates[-1]))


def chat_template(modelfile: Modelfile, *, force: bool = False) -> Source:
    """The template by which Ollama makes the model's prompts.

    Raises TemplateError for a Modelfile with RENDERER (GT907), where no template is run unless `force` asks for it, or
    without a template (GT908).
    """
    renderers = [command for command in modelfile.commands if command.keyword == "renderer"]
    if renderers and renderers[-1].value.text and not force:
        message = f"the prompt is made by Ollama's renderer `{renderers[-1].value.text}`, not by a template"
        help = "use the chat template that the model's makers publish; --force converts this one all the same"
        raise _refused("GT907", message, modelfile.source, renderers[-1].span, help)
    if modelfile.template is None:
        bases = [command for command in modelfile.commands if command.keyword == "from"]
        help = f"the template is that of the base model; `ollama show --template {modelfile.from_}` prints it"
        empty = any(command.keyword == "template" for command in modelfile.commands)
        message = "the Modelfile's TEMPLATE is empty" if empty else "the Modelfile has no TEMPLATE"
        raise _refused("GT908", message, modelfile.source, bases[-1].span, help)
    return modelfile.template


def unconverted(modelfile: Modelfile, *keywords: str) -> tuple[Diagnostic, ...]:
    """A note for each of these commands that the Modelfile has and the result has not."""
    found: list[Diagnostic] = []
    for keyword in keywords:
        told = [command for command in modelfile.commands if command.keyword == keyword and command.value.text]
        if told:
            message = f"{keyword.upper()}: {_NOT_IN_THE_RESULT[keyword][0]}"
            help = _NOT_IN_THE_RESULT[keyword][1]
            found.append(Diagnostic("GT909", Severity.NOTE, message, modelfile.source, told[0].span, help=help))
    return tuple(found)


_NOT_IN_THE_RESULT = {
    "system": ("left out of the result", "without --no-system it is the system message of chats that have none"),
    "message": ("left out of the result", "--messages puts these messages before every chat, as Ollama's server does"),
    "adapter": ("no part of a chat template", "merge the adapter into the model, or load it beside the model"),
    "license": ("no part of a chat template", "it goes with the model all the same"),
    "requires": ("a version of Ollama, no part of a chat template", None),
}


def looks_like_modelfile(text: str) -> bool:
    """Whether a text is a Modelfile rather than a bare template.

    It is if a line begins with a TEMPLATE in quotes, whatever else is wrong. Else it has to begin, behind comments and
    blank lines, with a command; and it has a FROM in capitals with one word behind it, or Ollama's parser takes the
    whole text and its base model isn't made of actions: a template may begin with `From now on …`.
    """
    text = text.removeprefix(_MARK)
    if _QUOTED_TEMPLATE.search(text) is not None:
        return True
    start = _COMMENT_OR_BLANK.match(text)
    if _COMMAND.match(text, start.end() if start else 0) is None:
        return False
    if _FROM_ONE_WORD.search(text) is not None:
        return True
    try:
        return "{{" not in read_modelfile(text).from_
    except TemplateError:
        return False


def _dropped(source: Source, template: Command) -> tuple[Diagnostic, ...]:
    if not template.dropped:
        return ()
    count, at = len(template.dropped), template.dropped[0]
    number = ord(source.text[at])
    if count == 1:
        message = "Ollama drops 1 character of this template that is not printable"
    else:
        message = f"Ollama drops {count} characters of this template that are not printable"
    label = f"U+{number:04X}" if count == 1 else f"U+{number:04X} is the first of them"
    escape = f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
    help = f'dropped here too; `{{{{ "{escape}" }}}}` prints one'
    return (Diagnostic("GT451", Severity.WARNING, message, source, Span(at, at + 1), label=label, help=help),)


def _refused(code: str, message: str, source: Source, span: Span, help: str) -> TemplateError:
    return TemplateError((Diagnostic(code, Severity.ERROR, message, source, span, help=help),))
