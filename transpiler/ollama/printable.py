"""Which characters Ollama keeps when it reads a Modelfile: those that Go's `strconv.IsPrint` takes for printable."""

from __future__ import annotations

import re
from functools import lru_cache

# Everything but printable ASCII and what the grammar of Modelfiles handles itself.
_SUSPECT = re.compile(r"[^\t\r\n\x20-\x7E]")

# Go knows Unicode 15; Python 3.11 knows Unicode 14. These came in between.
_SINCE_UNICODE_14 = (
    (0xCF3, 0xCF3),
    (0xECE, 0xECE),
    (0x10EFD, 0x10EFF),
    (0x1123F, 0x11241),
    (0x11B00, 0x11B09),
    (0x11F00, 0x11F10),
    (0x11F12, 0x11F3A),
    (0x11F3E, 0x11F59),
    (0x1342F, 0x1342F),
    (0x13440, 0x13455),
    (0x1B132, 0x1B132),
    (0x1B155, 0x1B155),
    (0x1D2C0, 0x1D2D3),
    (0x1DF25, 0x1DF2A),
    (0x1E030, 0x1E06D),
    (0x1E08F, 0x1E08F),
    (0x1E4D0, 0x1E4F9),
    (0x1F6DC, 0x1F6DC),
    (0x1F774, 0x1F776),
    (0x1F77B, 0x1F77F),
    (0x1F7D9, 0x1F7D9),
    (0x1FA75, 0x1FA77),
    (0x1FA87, 0x1FA88),
    (0x1FAAD, 0x1FAAF),
    (0x1FABB, 0x1FABD),
    (0x1FABF, 0x1FABF),
    (0x1FACE, 0x1FACF),
    (0x1FADA, 0x1FADB),
    (0x1FAE8, 0x1FAE8),
    (0x1FAF7, 0x1FAF8),
    (0x2B739, 0x2B739),
    (0x31350, 0x323AF),
)


def unprintable(text: str, start: int, end: int) -> tuple[int, ...]:
    """The places between two others of characters that aren't printable; tabs and line ends don't count."""
    return tuple(m.start() for m in _SUSPECT.finditer(text, start, end) if not _is_printable(m.group()))


@lru_cache(1024)
def _is_printable(char: str) -> bool:
    return char.isprintable() or any(first <= ord(char) <= last for first, last in _SINCE_UNICODE_14)
