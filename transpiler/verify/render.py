"""The reference engine for chat templates: jinja2, set up as Hugging Face transformers does it.

Written after `_compile_jinja_template` of transformers 5.24 (the sandbox, `trim_blocks`, `lstrip_blocks`, loop
controls, a `tojson` that leaves HTML and non-ASCII characters alone), so that transformers need not be installed. A
test holds the two against each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from transpiler.verify.engines.base import FIXED_DAY
from transpiler.verify.rendering import Rendering

__all__ = ["ReferenceTemplate", "reference_environment"]

# What jinja2 lets through from Python besides its own errors: `none + 'a'` a TypeError, `1 // 0` an ArithmeticError, a
# nest that CPython can't compile a SyntaxError or a RecursionError.
_FAILURES = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)


def _raise_exception(message: object) -> NoReturn:
    raise jinja2.TemplateError(str(message))


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@lru_cache(8)
def reference_environment(today: date = FIXED_DAY) -> jinja2.Environment:
    """The environment, with `strftime_now` fixed to `today`."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = today.strftime
    return environment


class ReferenceTemplate:
    """A Jinja chat template, compiled once, rendered as often as one likes; never raises for what a template does.

    A template that jinja2 can't compile refuses every chat, with the words of the compiler.
    """

    def __init__(self, jinja: str, today: date = FIXED_DAY) -> None:
        self._broken: str | None = None
        try:
            self._template = reference_environment(today).from_string(jinja)
        except _FAILURES as error:
            self._broken = f"{type(error).__name__}: {error}"

    def render(self, context: Mapping[str, Any]) -> Rendering:
        """Render one context, see `chats.to_jinja_context`; `raise_exception` and every other failure is a refusal."""
        if self._broken is not None:
            return Rendering(None, self._broken)
        try:
            return Rendering(self._template.render(context))
        except _FAILURES as error:
            return Rendering(None, f"{type(error).__name__}: {error}")
