"""Engines that run in this process: jinja2 in three configurations, and minijinja's Python binding."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from typing import Any, NoReturn

from transpiler.verify.engines.base import FIXED_DAY, EngineError

__all__ = ["MinijinjaEngine", "PlainJinja2Engine", "SandboxedJinja2Engine", "TransformersEngine"]

# What a template can make Python's engines raise besides their own errors: `none + 'a'` a TypeError, `1 // 0` an
# ArithmeticError, too deep a nest a SyntaxError (CPython cannot compile it) or a RecursionError.
_PYTHON_FAILURES: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)

_CACHED_TEMPLATES = 64


@contextmanager
def _quiet_import() -> Iterator[None]:
    """Keep transformers from advising on stderr, at its import, that PyTorch is missing; nothing here needs it."""
    switch = "TRANSFORMERS_NO_ADVISORY_WARNINGS"
    before = os.environ.get(switch)
    os.environ[switch] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[switch]
        else:
            os.environ[switch] = before


def _missing(*packages: str) -> str | None:
    absent = [package for package in packages if importlib.util.find_spec(package) is None]
    if not absent:
        return None
    return f"not installed: {', '.join(absent)} (pip install {' '.join(absent)})"


class _InProcess:
    """Shared by the in-process engines: the two functions that chat templates call, and error wrapping."""

    name = ""
    packages: tuple[str, ...] = ()

    def __init__(self, today: date = FIXED_DAY) -> None:
        self.today = today
        self._load = lru_cache(_CACHED_TEMPLATES)(self._compile)

    def available(self) -> str | None:
        """Return the packages that are missing, or None."""
        return _missing(*self.packages)

    def close(self) -> None:
        """Forget the compiled templates."""
        self._load.cache_clear()

    def render(self, template: str, context: Mapping[str, object]) -> str:
        """Render `template`; see `Engine.render`."""
        reason = self.available()
        if reason is not None:
            raise EngineError(self.name, reason)
        failures = (*self._own_failures(), *_PYTHON_FAILURES)
        try:
            return self._load(template)(context)
        except failures as error:
            raise EngineError(self.name, f"{type(error).__name__}: {error}") from error

    def _strftime_now(self, form: str) -> str:
        return self.today.strftime(form)

    def _compile(self, template: str) -> Callable[[Mapping[str, object]], str]:
        raise NotImplementedError

    def _own_failures(self) -> tuple[type[Exception], ...]:
        raise NotImplementedError


class _Jinja2Family(_InProcess):
    """jinja2 itself; the subclasses say which environment."""

    packages: tuple[str, ...] = ("jinja2",)

    def _own_failures(self) -> tuple[type[Exception], ...]:
        return (importlib.import_module("jinja2").TemplateError,)

    def _raise_exception(self, message: object) -> NoReturn:
        raise importlib.import_module("jinja2").TemplateError(str(message))

    def _environment(self) -> Any:
        raise NotImplementedError

    def _parse(self, template: str) -> Any:
        return self._environment().from_string(template)

    def _compile(self, template: str) -> Callable[[Mapping[str, object]], str]:
        compiled = self._parse(template)
        functions = {"raise_exception": self._raise_exception, "strftime_now": self._strftime_now}

        def render(context: Mapping[str, object]) -> str:
            return str(compiled.render({**functions, **context}))

        return render


class TransformersEngine(_Jinja2Family):
    """The environment of Hugging Face transformers, which vLLM and SGLang share: the reference."""

    name = "transformers"
    packages = ("jinja2", "transformers")

    def _parse(self, template: str) -> Any:
        with _quiet_import():
            utilities = importlib.import_module("transformers.utils.chat_template_utils")
        return utilities._compile_jinja_template(template)


class PlainJinja2Engine(_Jinja2Family):
    """``jinja2.Environment()`` with nothing set: no trimming, jinja2's own ``tojson``."""

    name = "jinja2"

    def _environment(self) -> Any:
        return importlib.import_module("jinja2").Environment()


class SandboxedJinja2Engine(_Jinja2Family):
    """The environment of llama-cpp-python and many small servers: the sandbox, trimming, no loop controls."""

    name = "jinja2-sandbox"

    def _environment(self) -> Any:
        sandbox = importlib.import_module("jinja2.sandbox")
        return sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)


class MinijinjaEngine(_InProcess):
    """minijinja with Python's string methods, with or without block trimming (text-generation-inference: without)."""

    packages = ("minijinja",)

    def __init__(self, today: date = FIXED_DAY, *, trim: bool = True) -> None:
        super().__init__(today)
        self.trim = trim
        self.name = "minijinja" if trim else "minijinja-notrim"

    def _own_failures(self) -> tuple[type[Exception], ...]:
        return (importlib.import_module("minijinja").TemplateError,)

    def _raise_exception(self, message: object) -> NoReturn:
        raise ValueError(str(message))

    def _compile(self, template: str) -> Callable[[Mapping[str, object]], str]:
        environment = importlib.import_module("minijinja").Environment(
            templates={"chat": template},
            trim_blocks=self.trim,
            lstrip_blocks=self.trim,
            pycompat=True,
            globals={"raise_exception": self._raise_exception, "strftime_now": self._strftime_now},
        )

        def render(context: Mapping[str, object]) -> str:
            return str(environment.render_template("chat", **context))

        return render
