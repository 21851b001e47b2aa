"""Engines and libraries that a test needs: where one is missing the test is skipped by its name.

With REQUIRE_ENGINES=1 that is a failure.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn

import pytest

from transpiler.verify.engines import ENGINES, OPTIONAL, Engine


def open_engine(name: str) -> Engine:
    """Return the engine."""
    engine = ENGINES[name]()
    reason = engine.available()
    if reason is not None:
        _missing(f"{name}: {reason}", required=name not in OPTIONAL)
    return engine


def library(name: str) -> Any:
    """Return a module that comes with the engines."""
    try:
        return importlib.import_module(name)
    except ImportError:
        _missing(f"{name} is not installed", required=True)


def _missing(reason: str, *, required: bool) -> NoReturn:
    if required and os.environ.get("REQUIRE_ENGINES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
