"""A converted template in a file that a runtime loads: `tokenizer_config.json`, or a copy of a GGUF."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transpiler.cli.settings import Settings
from transpiler.cli.streams import InputError, WrongUse, say, seen
from transpiler.packaging.errors import PackagingError

if TYPE_CHECKING:
    from transpiler.api import Result
    from transpiler.inputs import Input

__all__ = ["adds_bos", "write_package"]


def adds_bos(settings: Settings, target: Path | None, read: Input, source: str) -> bool | None:
    """Whether the target's own data says that the model has a BOS token in front; None where nothing says so."""
    from transpiler.packaging import gguf_file, tokenizer_config

    try:
        if settings.to == "gguf":
            return gguf_file.read_gguf(_model(settings, read, source)).add_bos
        if settings.to == "tokenizer-config" and target is not None:
            return tokenizer_config.adds_bos(target.parent)
    except PackagingError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{click.format_filename(error.filename or '')}: {error.strerror}") from error
    return None


def write_package(settings: Settings, target: Path | None, read: Input, result: Result, source: str) -> None:
    """Write the package, and say what it does not hold: the texts that end an answer."""
    from transpiler.packaging import gguf_file, tokenizer_config

    assert target is not None
    jinja = result.jinja if settings.mode == "chat" else result.fim or ""
    try:
        if settings.to == "gguf":
            model = _model(settings, read, source)
            own = gguf_file.read_gguf(model).chat_template
            if own is not None:
                say(_of_own_template(own, jinja, kept=settings.prefer == "model"))
                if settings.prefer == "model":
                    return
            target.parent.mkdir(parents=True, exist_ok=True)
            with _Progress(target.name) as progress:
                gguf_file.write_gguf(model, target, jinja, progress=progress.advance)
            say(f"Run it with: llama-server --jinja -m {target}")
        else:
            templates = {"default": jinja}
            if settings.mode == "chat" and result.fim is not None:
                templates["fim"] = result.fim
            target.parent.mkdir(parents=True, exist_ok=True)
            tokenizer_config.write_tokenizer_config(target, templates)
            if (target.parent / "chat_template.jinja").exists():
                say("The folder has a chat_template.jinja, which transformers prefers to this file's template.")
    except PackagingError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{click.format_filename(error.filename or '')}: {error.strerror}") from error
    if read.stops:
        stops = json.dumps({"stop_strings": list(read.stops)}, ensure_ascii=False)
        say(f"Answers end at these texts, which have no place there; for generation_config.json: {stops}")


def _model(settings: Settings, read: Input, source: str) -> Path:
    """The GGUF that is copied: the one that was named, or the one that FROM names."""
    if settings.model is not None:
        return Path(settings.model)
    if read.model_path is not None:
        return read.model_path
    if read.base is not None:
        path = Path(source).parent / read.base
        if path.is_file():
            return path
    raise WrongUse("--to gguf needs --model with the GGUF to copy")


# What tells of a capability in the text of a Jinja template; Ollama looks for the same words.
_SIGNS = {
    "tools": re.compile(r"\btools\b"),
    "tool calls": re.compile(r"\btool_calls\b"),
    "thinking": re.compile(r"<think>|\breasoning_content\b|\benable_thinking\b"),
}
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


def _capabilities(jinja: str) -> list[str]:
    code = _COMMENT.sub("", jinja)
    return [name for name, sign in _SIGNS.items() if sign.search(code)]


def _of_own_template(own: str, ours: str, *, kept: bool) -> str:
    """What is said of a model that has a chat template: what becomes of it, and how it differs."""
    before, after = _capabilities(own), _capabilities(ours)
    only_own = ", ".join(name for name in before if name not in after)
    only_ours = ", ".join(name for name in after if name not in before)
    words = "The model has a chat template of its own"
    words += (
        "; it is kept, and nothing is written" if kept else ", which is replaced in the copy (--prefer model keeps it)"
    )
    words += f"; only that one knows of {only_own}" if only_own else ""
    words += f"; only the converted one knows of {only_ours}" if only_ours else ""
    return f"{words}."


class _Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = 0
        self.bar: click._termui_impl.ProgressBar[int] | None = None

    def __enter__(self) -> _Progress:
        return self

    def advance(self, done: int, total: int) -> None:
        """Show how many bytes of all are written."""
        if self.bar is None and seen():
            self.bar = click.progressbar(length=total, label=f"Writing {self.name}", file=sys.stderr)
            self.bar.__enter__()
        if self.bar is not None:
            self.bar.update(done - self.done)
        self.done = done

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.render_finish()
