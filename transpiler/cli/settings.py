"""The options of `gotmpl2jinja convert`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["STORE", "Settings"]

STORE = "ollama:"
"""What a source begins with that is a model in the local store."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options by the names of the command's parameters; `gotmpl2jinja convert --help` tells of each."""

    exact: bool
    json_style: Literal["go", "native"]
    mode: Literal["chat", "fim"]
    to: Literal["jinja", "tokenizer-config", "gguf"]
    model: str | None
    prefer: Literal["converted", "model"]
    bos: Literal["auto", "always", "never"]
    system: str | None
    no_system: bool
    messages: bool
    kind: Literal["template", "modelfile"] | None
    force: bool
    style: str
