"""The template in an input: the input itself, or what a Modelfile has in its TEMPLATE."""

from __future__ import annotations

from typing import Literal

from transpiler.diagnostics import Diagnostic
from transpiler.ollama.modelfile import chat_template, looks_like_modelfile, read_modelfile, unconverted
from transpiler.reading import decode, mark_warning
from transpiler.source import Source

__all__ = ["Kind", "template_in"]

Kind = Literal["template", "modelfile"]


def template_in(data: bytes, name: str, kind: Kind | None = None) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The template in the bytes of an input, and the warnings and notes about the input itself.

    Without `kind` a Modelfile is told from a template by its content.

    Raises:
        TemplateError: the bytes are no text, or a Modelfile that Ollama refuses or that has no template to convert.
    """
    source = decode(data, name, utf16=kind != "template")
    if kind == "modelfile" or (kind is None and looks_like_modelfile(source.text)):
        modelfile = read_modelfile(source.text, name)
        return chat_template(modelfile), (*modelfile.diagnostics, *unconverted(modelfile))
    return source, mark_warning(source)
