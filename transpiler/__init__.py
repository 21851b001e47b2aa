"""From Ollama's Go chat templates to Jinja chat templates that render the same text."""

from transpiler.api import Options, Result, transpile
from transpiler.diagnostics import Diagnostic, Label, Severity, TemplateError
from transpiler.source import Source, Span

__all__ = ["Diagnostic", "Label", "Options", "Result", "Severity", "Source", "Span", "TemplateError", "transpile"]
