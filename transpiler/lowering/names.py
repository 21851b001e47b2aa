"""Names for the variables of the emitted template: the Go template's own where Jinja can have them."""

from __future__ import annotations

import re

from transpiler.lowering.prelude import prelude
from transpiler.passes.scopes import Binding, Scopes

_JINJA_WORDS = """
    and or not in is if elif else endif for endfor set endset macro endmacro block filter call import from with without
    context ignore missing recursive scoped raw include extends do break continue generation true false none True False
    None self super caller varargs kwargs loop namespace range dict cycler joiner lipsum
""".split()  # noqa: SIM905
_CHAT_NAMES = """
    messages tools add_generation_prompt enable_thinking reasoning_effort strftime_now raise_exception bos_token
    eos_token documents suffix go default_system examples
""".split()  # noqa: SIM905
# A variable of a filter's name replaces that filter in minja.
_FILTERS = "length join items dictsort string int lower trim tojson map replace list".split()  # noqa: SIM905
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Names:
    """Hands out names; none that Jinja, the chat's variables, the used filters or the macros have."""

    def __init__(self, scopes: Scopes) -> None:
        self._taken: set[str] = {*_JINJA_WORDS, *_CHAT_NAMES, *_FILTERS, *prelude()}
        self._bindings: dict[Binding, str] = {}
        for binding in scopes.bindings:
            self._bindings[binding] = self._name(binding)
        self._taken |= set(self._bindings.values())

    def of(self, binding: Binding) -> str:
        """The name of a Go variable; two of one name share it where neither can see the other."""
        return self._bindings[binding]

    def fresh(self, hint: str) -> str:
        """A name that nothing else has."""
        name = self._free(hint, frozenset())
        self._taken.add(name)
        return name

    def beside(self, hint: str, others: set[str]) -> str:
        """A name that no Go variable and none of `others` has; it may be handed out again elsewhere."""
        return self._free(hint, frozenset(others))

    def _name(self, binding: Binding) -> str:
        hidden: set[str] = set()
        outer = binding.shadows
        while outer is not None:
            hidden.add(self._bindings[outer])
            outer = outer.shadows
        return self._free(_plain(binding.name), frozenset(hidden))

    def _free(self, hint: str, hidden: frozenset[str]) -> str:
        name, n = hint, 1
        while name in self._taken or name in hidden:
            n += 1
            name = f"{hint}_{n}"
        return name


def _plain(name: str) -> str:
    bare = name[1:].strip("_")
    if _PLAIN.fullmatch(bare):
        return bare
    return "value" if not bare else "v_" + "".join(c if c.isascii() else f"{ord(c):x}" for c in bare)
