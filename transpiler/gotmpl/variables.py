"""The variables that a template's parser knows: declared one after another, forgotten at the end of a block."""

from __future__ import annotations

from collections import Counter


class Variables:
    """Names in the order of their declaration; `$`, the data, is always there."""

    def __init__(self) -> None:
        self._declared: list[str] = []
        self._known: Counter[str] = Counter({"$": 1})

    def __contains__(self, name: str) -> bool:
        return self._known[name] > 0

    def declare(self, name: str) -> None:
        """From here on `name` is known."""
        self._declared.append(name)
        self._known[name] += 1

    def mark(self) -> int:
        """What to give to `forget_since` later."""
        return len(self._declared)

    def forget_since(self, mark: int) -> None:
        """Forget what was declared since `mark` was taken."""
        while len(self._declared) > mark:
            self._known[self._declared.pop()] -= 1
