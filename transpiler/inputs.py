"""The template in an input: the input itself, or what a Modelfile has in its TEMPLATE, with what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.ollama.modelfile import Modelfile, chat_template, looks_like_modelfile, read_modelfile
from transpiler.reading import decode, mark_warning
from transpiler.source import Source

if TYPE_CHECKING:
    from transpiler.ollama.store import StoredModel

__all__ = ["Input", "Kind", "read_template", "stored_template"]

Kind = Literal["template", "modelfile"]


@dataclass(frozen=True, slots=True)
class Input:
    """A template, and what is known beside it.

    `notes` are about the input itself; `system` and `messages` (pairs of role and content) are what Ollama's server
    puts before a chat; `stops` the texts that end an answer; `base` the model that FROM names, `model_path` the file of
    a model in the store.
    """

    template: Source
    notes: tuple[Diagnostic, ...] = ()
    system: str | None = None
    messages: tuple[tuple[str, str], ...] = ()
    stops: tuple[str, ...] = ()
    base: str | None = None
    modelfile: Modelfile | None = None
    model_path: Path | None = None


def read_template(data: bytes, name: str, kind: Kind | None = None, *, force: bool = False) -> Input:
    """The template in the bytes of an input.

    Without `kind` a Modelfile is told from a template by its content. `force` takes a template that Ollama doesn't run.

    Raises:
        TemplateError: the bytes are no text, or a Modelfile that Ollama refuses or that has no template to convert.
    """
    source = decode(data, name, utf16=kind != "template")
    if kind == "modelfile" or (kind is None and looks_like_modelfile(source.text)):
        modelfile = read_modelfile(source.text, name)
        return Input(
            chat_template(modelfile, force=force),
            modelfile.diagnostics,
            modelfile.system,
            modelfile.messages,
            modelfile.parameters.get("stop", ()),
            modelfile.from_,
            modelfile,
        )
    return Input(source, mark_warning(source))


def stored_template(stored: StoredModel, *, force: bool = False) -> Input:
    """The template of a model in the local store.

    Raises:
        TemplateError: the model has none, or its prompts are made by a renderer and `force` doesn't ask for it.
    """
    source = Source(stored.template or "", str(stored.name))
    if stored.renderer and not force:
        message = f"the prompt is made by Ollama's renderer `{stored.renderer}`, not by a template"
        help = "use the chat template that the model's makers publish; --force converts this one all the same"
        raise TemplateError((Diagnostic("GT907", Severity.ERROR, message, source, help=help),))
    if not stored.template:
        raise TemplateError((Diagnostic("GT908", Severity.ERROR, "the model has no template of its own", source),))
    stops = stored.parameters.get("stop", ())
    return Input(
        source,
        system=stored.system,
        messages=stored.messages,
        stops=tuple(map(str, stops)) if isinstance(stops, list | tuple) else (str(stops),),
        model_path=stored.model_path,
    )
