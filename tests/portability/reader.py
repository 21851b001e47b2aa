"""Reads an emitted template as an outsider would, and lists all that is not portable in it.

The rules follow what the engines were measured to agree on. Parsing is jinja2's own; nothing of the transpiler is
imported, so that a fault in its printer cannot hide behind the same fault here.
"""

from __future__ import annotations

import warnings

from jinja2 import Environment, TemplateSyntaxError

from .lexical import lexical_violations
from .names import RULES
from .tree import TreeRules, concatenations
from .violation import Violation

__all__ = ["Violation", "violations"]

# The extensions only make their statements known, so that they are listed as violations with a line.
_ENVIRONMENT = Environment(extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"], keep_trailing_newline=True)


def violations(text: str) -> list[Violation]:
    """Return every violation in `text`, by line; a text that jinja2 does not parse has one, `syntax`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python's, of an unknown escape: a rule lists it
            tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        return [Violation(error.lineno, "syntax", str(error.message))]
    found = set(lexical_violations(text, _ENVIRONMENT))
    found.update(TreeRules(tree).violations(), concatenations(tree))
    for rule in RULES:
        found.update(rule(tree))
    return sorted(found)
