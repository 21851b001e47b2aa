"""`gotmpl2jinja list`: the models of the local store."""

from __future__ import annotations

from transpiler.cli.streams import WrongUse
from transpiler.ollama.store import Store, StoreError, open_store

__all__ = ["listing"]


def listing(path: str | None) -> str:
    """A line a model: its name, and what makes its prompts."""
    try:
        store = open_store(path)
    except StoreError as error:
        raise WrongUse(str(error)) from error
    rows = [(str(name), _prompt_of(store, str(name))) for name in store.models()]
    width = max((len(name) for name, _ in rows), default=0)
    return "".join(f"{name.ljust(width)}  {prompt}\n" for name, prompt in rows)


def _prompt_of(store: Store, name: str) -> str:
    try:
        model = store.read(name)
    except StoreError as error:
        return f"broken: {error}"
    if model.renderer:
        return f"renderer {model.renderer}"
    if model.template:
        return "Go template"
    return "no template of its own"
