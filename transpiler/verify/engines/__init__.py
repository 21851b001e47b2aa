"""The engines that render chat templates in the field, behind one interface.

`ENGINES` names them all; those that cannot run here say why in `available`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from transpiler.verify.engines.base import FIXED_DAY, Engine, EngineError, EngineFactory
from transpiler.verify.engines.native_engines import LlamaCppServerEngine, OpenVinoEngine
from transpiler.verify.engines.node_engines import HuggingfaceJinjaEngine, MinijinjaJsEngine
from transpiler.verify.engines.python_engines import (
    MinijinjaEngine,
    PlainJinja2Engine,
    SandboxedJinja2Engine,
    TransformersEngine,
)

__all__ = ["ENGINES", "FIXED_DAY", "OPTIONAL", "REFERENCE", "Engine", "EngineError", "EngineFactory"]


def _minijinja_without_trimming(today: date = FIXED_DAY) -> Engine:
    return MinijinjaEngine(today, trim=False)


REFERENCE = "transformers"
"""The engine that the others are compared with."""

OPTIONAL = frozenset({"openvino-minja"})
"""Engines whose absence is never an error: large to install, and used by few."""

ENGINES: Mapping[str, EngineFactory] = MappingProxyType(
    {
        "transformers": TransformersEngine,
        "jinja2": PlainJinja2Engine,
        "jinja2-sandbox": SandboxedJinja2Engine,
        "minijinja": MinijinjaEngine,
        "minijinja-notrim": _minijinja_without_trimming,
        "minijinja-js": MinijinjaJsEngine,
        "huggingface-jinja": HuggingfaceJinjaEngine,
        "llama.cpp": LlamaCppServerEngine,
        "openvino-minja": OpenVinoEngine,
    }
)
"""Every engine by name: how to make one."""
