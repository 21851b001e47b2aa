"""What every engine driver is: a name, a way to ask whether it can run here, and one call that renders.

A driver knows how to call an engine, nothing about Go, Ollama or what the text should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Protocol

__all__ = ["FIXED_DAY", "Engine", "EngineError", "EngineFactory"]

FIXED_DAY = date(2025, 1, 2)
"""The day that ``strftime_now`` tells in every engine unless the caller names another one."""


class EngineError(Exception):
    """An engine refused a template, failed while rendering it, or gave no answer in time."""

    def __init__(self, engine: str, message: str) -> None:
        super().__init__(f"{engine}: {message}")
        self.engine = engine
        self.message = message


class Engine(Protocol):
    """One chat-template engine in one configuration.

    Making one is cheap: packages are imported and processes started by the first ``render``.
    """

    @property
    def name(self) -> str:
        """The key of the engine in ``ENGINES``."""

    def available(self) -> str | None:
        """Return None when the engine can run here, else the reason and how to install it."""

    def render(self, template: str, context: Mapping[str, object]) -> str:
        """Return what `template` renders to.

        Args:
            template: the text of a Jinja chat template.
            context: the variables, as JSON values. One that is missing here is undefined in the
                template, whatever the engine would set by itself. ``strftime_now`` and
                ``raise_exception`` are added.

        Raises:
            EngineError: the engine does not accept the template or fails on this context.
        """

    def close(self) -> None:
        """End the engine's process, if it has one; a later ``render`` starts a new one."""


class EngineFactory(Protocol):
    """Makes an engine whose ``strftime_now`` tells a given day."""

    def __call__(self, today: date = FIXED_DAY) -> Engine:
        """Return the engine; nothing is imported or started yet."""
