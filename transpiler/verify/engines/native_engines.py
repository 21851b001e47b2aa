"""Engines written in C++: llama.cpp's server, and google/minja inside OpenVINO GenAI. Each has a process of its own."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path

from transpiler.verify.engines.base import FIXED_DAY
from transpiler.verify.engines.child_engine import ChildEngine
from transpiler.verify.engines.tiny_gguf import write_tiny_gguf

__all__ = ["LlamaCppServerEngine", "OpenVinoEngine"]

# llama.cpp's server defines these by itself (`enable_thinking` false or true by what it makes of the template).
_SET_BY_LLAMA_CPP = ("enable_thinking", "date_string", "datetime")


def _undefine(template: str, names: Sequence[str]) -> str:
    """Return `template` with a head that undefines each of `names` for which the context says so."""
    head = "".join(
        f"{{%- if absent_{name} -%}}{{%- set {name} = absent_value -%}}{{%- endif -%}}"
        for name in names
        if name in template
    )
    return head + template


class _NativeEngine(ChildEngine):
    """A child script with a folder of its own."""

    packages: Mapping[str, str] = {}
    script = ""

    def __init__(self, today: date = FIXED_DAY) -> None:
        super().__init__(today)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def available(self) -> str | None:
        """Return the packages that are missing, or None."""
        absent = [package for module, package in self.packages.items() if importlib.util.find_spec(module) is None]
        if absent:
            return f"not installed: {', '.join(absent)} (pip install {' '.join(absent)})"
        return None

    def folder(self) -> Path:
        """Return the engine's own folder, which goes when the engine does."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gotmpl2jinja-")
        return Path(self._folder.name)

    def argument(self) -> Path:
        """Return what the script is given."""
        return self.folder()

    def command(self) -> Sequence[str]:
        """Return the call of Python; -P keeps the script's folder off its import path."""
        script = files("transpiler.verify.engines").joinpath("children", self.script)
        return (sys.executable, "-P", str(script), str(self.argument()))

    def close(self) -> None:
        """End the child process and remove the folder."""
        super().close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class LlamaCppServerEngine(_NativeEngine):
    """llama.cpp's server on a model of noise; it also refuses templates that fail on its own test chats."""

    name = "llama.cpp"
    packages = {"xllamacpp": "xllamacpp", "gguf": "gguf", "numpy": "numpy"}
    script = "llamacpp.py"
    # Servers are never destroyed, at some 3 MB for every new template: take a fresh process now and then.
    renew_after = 2_000

    def argument(self) -> Path:
        """Return the model's path; it is written here, so that the script needs nothing of this package."""
        path = self.folder() / "tiny.gguf"
        write_tiny_gguf(path)
        return path

    def prepare(self, template: str, context: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        """Also undefine what the server would define."""
        text, values = super().prepare(template, context)
        for name in _SET_BY_LLAMA_CPP:
            if name in template and name not in context:
                values[f"absent_{name}"] = True
        return _undefine(text, _SET_BY_LLAMA_CPP), values


class OpenVinoEngine(_NativeEngine):
    """OpenVINO GenAI: google/minja, which older llama.cpp had as well."""

    name = "openvino-minja"
    packages = {
        "openvino": "openvino",
        "openvino_genai": "openvino-genai",
        "openvino_tokenizers": "openvino-tokenizers",
        "tokenizers": "tokenizers",
        "transformers": "transformers",
    }
    script = "openvino.py"
    timeout = 180.0
