"""Turning the bytes of a notebook into JSON that a strict parser takes, as long as that changes no meaning."""

import json

from coursekit.student.limits import MAX_LENIENT_BYTES, MAX_LENIENT_ITEMS

_PADDING = b"\0 \t\r\n"
_BOM = b"\xef\xbb\xbf"


def as_utf8(data: bytes) -> bytes:
    """The same JSON in UTF-8, without a byte-order mark and without the padding of a damaged disk.

    Raises:
        UnicodeDecodeError: the bytes are not in the encoding that they announce.
    """
    encoding = json.detect_encoding(data[:4])
    if encoding not in ("utf-8", "utf-8-sig"):
        data = data.decode(encoding).encode(errors="replace")
    return data.removeprefix(_BOM).strip(_PADDING)


def lenient(data: bytes) -> bytes:
    """JSON that Python reads and a strict parser refuses, as strict JSON in UTF-8.

    That is NaN, control characters in strings, half of a surrogate pair, and Latin-1 for UTF-8.

    Raises:
        ValueError: it isn't JSON, or there is too much of it to be read this way.
        RecursionError: it is nested too deeply.
    """
    if len(data) > MAX_LENIENT_BYTES or data.count(b",") + data.count(b'"') > MAX_LENIENT_ITEMS:
        raise ValueError("it breaks the rules of JSON, and is too large to be put right")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    content = json.loads(text, strict=False, parse_constant=lambda _: None)
    return json.dumps(content, ensure_ascii=False).encode(errors="replace")
