"""The error of this room: what stands where a template should go can't take one."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PackagingError"]


class PackagingError(Exception):
    """A file that is not what it should be, or a template that can't be stored: one line, with the file's name."""

    def __init__(self, problem: str, path: Path | None = None) -> None:
        if path is not None:
            # A file's name may be no text, and may have line ends.
            problem = f"{os.fsencode(path).decode('utf-8', 'replace')}: {problem}"
        super().__init__(" ".join(problem.splitlines()))
