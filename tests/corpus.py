"""The corpus of real templates, which lies beside the repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


def corpus_rows() -> list[Mapping[str, Any]]:
    """The templates in the order of the file: `id`, `name`, `kind` and `template`; none where the corpus isn't here."""
    path = CORPUS / "templates.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
