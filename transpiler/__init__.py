"""From Ollama's Go chat templates to Jinja chat templates that render the same text."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from transpiler.api import Options, Result, transpile
from transpiler.diagnostics import Diagnostic, Label, Severity, TemplateError
from transpiler.source import Source, Span

if TYPE_CHECKING:
    from transpiler.ollama.modelfile import Modelfile, read_modelfile
    from transpiler.ollama.store import Store, StoredModel, StoreError, open_store
    from transpiler.packaging.errors import PackagingError
    from transpiler.packaging.gguf_file import read_gguf, write_gguf
    from transpiler.packaging.tokenizer_config import write_tokenizer_config

__all__ = [
    "Diagnostic",
    "Label",
    "Modelfile",
    "Options",
    "PackagingError",
    "Result",
    "Severity",
    "Source",
    "Span",
    "Store",
    "StoreError",
    "StoredModel",
    "TemplateError",
    "open_store",
    "read_gguf",
    "read_modelfile",
    "transpile",
    "write_gguf",
    "write_tokenizer_config",
]

# What is imported when it is asked for: converting a text needs none of it.
_LATER = {
    "Modelfile": "transpiler.ollama.modelfile",
    "read_modelfile": "transpiler.ollama.modelfile",
    "Store": "transpiler.ollama.store",
    "StoreError": "transpiler.ollama.store",
    "StoredModel": "transpiler.ollama.store",
    "open_store": "transpiler.ollama.store",
    "PackagingError": "transpiler.packaging.errors",
    "read_gguf": "transpiler.packaging.gguf_file",
    "write_gguf": "transpiler.packaging.gguf_file",
    "write_tokenizer_config": "transpiler.packaging.tokenizer_config",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
