"""What the tool has to say about a text: codes, diagnostics, and the error that carries them.

A diagnostic is a value that is collected; `TemplateError` is for the edge of the API. Drawing them is `rendering`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from transpiler.source import Source, Span


class Severity(Enum):
    """How bad it is: an error stops the conversion, a warning is reported, a note informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that a diagnostic speaks of."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    `code` is a key of `transpiler.codes.CODES`; `message` is one line, enough on its own and without advice;
    `span` the place in `source` (None: the input as a whole); `label` what to write under that place; `labels` other
    places; `help` the advice.
    """

    code: str
    severity: Severity
    message: str
    source: Source
    span: Span | None = None
    label: str = ""
    labels: tuple[Label, ...] = ()
    help: str | None = None


class TemplateError(Exception):
    """Raised where a template can't be converted: `.diagnostics` says why, errors and warnings, in source order."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics if d.severity is Severity.ERROR))
        self.diagnostics = diagnostics
