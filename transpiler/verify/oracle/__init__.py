"""Ollama itself, asked: a Go program built from Ollama's own packages, and the client that speaks to it."""

from __future__ import annotations

from transpiler.verify.oracle.build import OracleUnavailable
from transpiler.verify.oracle.client import Oracle, OracleError, Parsed, Tags, TemplateRefused

__all__ = ["Oracle", "OracleError", "OracleUnavailable", "Parsed", "Tags", "TemplateRefused"]
