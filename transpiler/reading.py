"""From the bytes of a file to text: what can't be a template is refused here, with the place where it goes wrong."""

from __future__ import annotations

from collections.abc import Mapping

from transpiler.codes import CodeInfo
from transpiler.diagnostics import Diagnostic, Severity, TemplateError
from transpiler.source import Source, Span

LARGEST = 4 << 20

CODES: Mapping[str, CodeInfo] = {
    "GT903": CodeInfo(
        "a text that is not UTF-8",
        "Templates are UTF-8; Modelfiles are UTF-8, or UTF-16 with a byte order mark. The offset in the message counts "
        "bytes from 0. Converting the file, `iconv -f LATIN1 -t UTF-8` for instance, needs to know what it was written "
        "in.",
    ),
    "GT904": CodeInfo(
        "a file that is not a text",
        "The file has NUL bytes. A GGUF file holds its chat template as metadata and is not a template itself.",
    ),
    "GT905": CodeInfo("an empty template", "There is nothing to convert. Ollama takes an empty TEMPLATE for none."),
    "GT906": CodeInfo(
        "a byte order mark in front of a template",
        "In a Modelfile Ollama drops a byte order mark; as the first character of a template it is text, and every "
        "prompt begins with it. It is kept. Save the file without one.",
    ),
}

_UTF8_MARK = "\ufeff"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def decode(data: bytes, name: str, *, utf16: bool = False) -> Source:
    """The text of a file, line ends and byte order mark kept; UTF-16 only where `utf16` allows it and it has a mark.

    Raises TemplateError for what is too large (GT901), empty (GT905), no text (GT904) or no UTF-8 (GT903).
    """
    if len(data) > LARGEST:
        start = Source(data[:400].decode("utf-8", "replace"), name)
        raise _refused("GT901", f"the input is too large: more than {LARGEST:,} bytes", start, 0)
    if not data:
        raise _refused("GT905", "the input is empty", Source("", name), 0)
    encoding = _UTF16_MARKS.get(data[:2]) if utf16 else None
    try:
        text = data.decode(encoding) if encoding is not None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding is None and b"\0" in data:
            raise _binary(data, name) from error
        raise _invalid(data, name, encoding or "utf-8", error) from error
    if "\0" in text:
        raise (
            _binary(data, name)
            if encoding is None
            else _refused(
                "GT904", "the input is not a text: it has NUL characters", Source(text, name), text.index("\0")
            )
        )
    return Source(text, name)


def mark_warning(source: Source) -> tuple[Diagnostic, ...]:
    """The warning for a template that begins with a byte order mark."""
    if not source.text.startswith(_UTF8_MARK):
        return ()
    message = "the template begins with a byte order mark, which Ollama takes for text"
    help = "kept, so that prompts stay the same; save the file without it"
    return (Diagnostic("GT906", Severity.WARNING, message, source, Span(0, 1), help=help),)


def _binary(data: bytes, name: str) -> TemplateError:
    offset = data.index(b"\0")
    before = data[:offset].decode("utf-8", "replace")
    text = before + data[offset : offset + 200].decode("utf-8", "replace")
    return _refused("GT904", f"the input is not a text: byte {offset} is NUL", Source(text, name), len(before))


def _invalid(data: bytes, name: str, encoding: str, error: UnicodeDecodeError) -> TemplateError:
    before = data[: error.start].decode(encoding)
    text = before + data[error.start :].decode(encoding, "replace")
    label = {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}[encoding]
    message = f"invalid {label} at byte offset {error.start}: 0x{data[error.start]:02X}"
    help = "this looks like UTF-16; save it as UTF-8" if data[:2] in _UTF16_MARKS and encoding == "utf-8" else None
    return _refused("GT903", message, Source(text, name), len(before), help)


def _refused(code: str, message: str, source: Source, at: int, help: str | None = None) -> TemplateError:
    return TemplateError((Diagnostic(code, Severity.ERROR, message, source, Span(at, at + 1), help=help),))
