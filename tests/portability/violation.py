"""The one value that every rule yields."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A place where a text leaves the portable subset."""

    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.line}: {self.rule}: {self.message}"
