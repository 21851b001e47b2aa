"""What Go's literals stand for: strings, characters and numbers, with the errors that Go finds in them."""

from __future__ import annotations

import re

_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
}
_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<o>[0-3][0-7]{2})|(?P<c>.))",
    re.DOTALL,
)
_INT64 = 1 << 63
_UINT64 = 1 << 64
_INTEGER = re.compile(r"([+-]?)(0[xX]|0[oO]|0[bB]|0(?=_?[0-9])|)(_?[0-9a-fA-F][0-9a-fA-F_]*)")
_BASES = {"": 10, "0": 8, "0x": 16, "0o": 8, "0b": 2}
# An underscore stands between two digits, or behind the prefix of a hexadecimal number.
_STRAY_UNDERSCORE = re.compile(r"(?<![0-9])_|_(?![0-9])")
_STRAY_IN_HEX = re.compile(r"(?<![0-9a-fA-F])(?<!0[xX])_|_(?![0-9a-fA-F])")
_DECIMAL_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")


class LiteralError(ValueError):
    """A literal that Go refuses; the message is Go's."""


def unquote(quoted: str) -> str:
    """The text of a string in double quotes or backquotes.

    Bytes written as `\\x80` or `\\200` count as UTF-8 where they form it; others become U+FFFD, as Go prints them.
    Raises LiteralError ("invalid syntax").
    """
    body = quoted[1:-1]
    if quoted[0] == "`":
        return body.replace("\r", "")
    if "\\" not in body:
        return body
    return _unescape(body, '"')


def character(quoted: str) -> int:
    """The number of a character constant. Raises LiteralError."""
    body = quoted[1:-1]
    try:
        if body.startswith("\\"):
            escape = _ESCAPE.fullmatch(body)
            if escape is None:
                raise LiteralError
            value = escape["x"] or escape["o"]
            if value is not None:
                return int(value, 16 if escape["x"] else 8)
            text = _unescape(body, "'")
        else:
            text = body
    except LiteralError:
        raise LiteralError(f"malformed character constant: {quoted}") from None
    if len(text) != 1:
        raise LiteralError(f"malformed character constant: {quoted}")
    return ord(text)


def number(text: str) -> int | float | complex:
    """The value of a number, of the type that Go gives the constant. Raises LiteralError."""
    if text.endswith("i"):
        return _complex(text)
    whole = _integer(text)
    if whole is not None and -_INT64 <= whole < _UINT64:
        return whole
    real = _float(text)
    if real is None:
        raise LiteralError(f"illegal number syntax: {_quoted(text)}")
    if not any(c in text for c in ".eEpP"):
        raise LiteralError(f"integer overflow: {_quoted(text)}")
    return real


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unescape(body: str, quote: str) -> str:
    out = bytearray()
    at = 0
    while at < len(body):
        slash = body.find("\\", at)
        if slash < 0:
            slash = len(body)
        out += body[at:slash].encode("utf-8", "surrogatepass")
        if slash == len(body):
            break
        escape = _ESCAPE.match(body, slash)
        if escape is None:
            raise LiteralError("invalid syntax")
        out += _escaped(escape, quote)
        at = escape.end()
    return out.decode("utf-8", "replace")


def _escaped(escape: re.Match[str], quote: str) -> bytes:
    if escape["x"] is not None:
        return bytes([int(escape["x"], 16)])
    if escape["o"] is not None:
        return bytes([int(escape["o"], 8)])
    point = escape["u"] or escape["U"]
    if point is not None:
        code = int(point, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise LiteralError("invalid syntax")
        return chr(code).encode()
    if escape["c"] == quote:
        return quote.encode()
    if escape["c"] not in _SIMPLE_ESCAPES:
        raise LiteralError("invalid syntax")
    return _SIMPLE_ESCAPES[escape["c"]].encode()


def _integer(text: str) -> int | None:
    """A whole number by Go's base prefixes and underscores, or None."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, prefix, digits = match.groups()
    if "__" in digits or digits.endswith("_") or (digits.startswith("_") and not prefix):
        return None
    try:
        value = int(digits.replace("_", ""), _BASES[prefix.lower()])
    except ValueError:
        return None
    if sign == "+" and value >= _INT64:
        return _UINT64  # ParseUint takes no sign, so this is out of range
    return -value if sign == "-" else value


def _float(text: str) -> float | None:
    stray = _STRAY_IN_HEX if "x" in text.lower() else _STRAY_UNDERSCORE
    if stray.search(text):
        return None
    plain = text.replace("_", "")
    if _DECIMAL_FLOAT.fullmatch(plain):
        value = float(plain)
    elif _HEX_FLOAT.fullmatch(plain):
        try:
            value = float.fromhex(plain)
        except OverflowError:
            return None
    else:
        return None
    return None if value in (float("inf"), float("-inf")) else value


def _complex(text: str) -> int | float | complex:
    """`2i`, `1+2i`."""
    body = text[:-1]
    split = re.fullmatch(r"(.*[^eEpP])([+-].+)|(.+)", body)
    if split is None:
        raise LiteralError(f"illegal number syntax: {_quoted(text)}")
    real = _float(split[1]) if split[1] else 0.0
    imaginary = _float(split[2] or split[3])
    if real is None or imaginary is None:
        raise LiteralError(f"illegal number syntax: {_quoted(text)}")
    if imaginary == 0:
        return int(real) if real.is_integer() else real
    return complex(real, imaginary)
