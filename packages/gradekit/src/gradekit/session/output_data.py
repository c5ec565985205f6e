"""The data of what a cell displays, by type: as much of it as is kept. Pages decide what they show of it."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gradekit.course.printing import listed

#: characters in all data of a notebook besides plain text
MAX_DATA = 20_000_000
#: types in an output, levels of lists and dictionaries in JSON, and points of a picture's width and height
_MAX_TYPES, _MAX_DEPTH, _MAX_SIZE = 20, 50, 10_000
_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9][\w.+-]{0,80}")
PLAIN_TEXT = "text/plain"


class KeptData:
    """Keeps the data of the outputs of one notebook, which are limited together."""

    def __init__(self) -> None:
        self._left = MAX_DATA

    def of(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """The data besides plain text, and a remark about those that are too large; empty if there are none."""
        kept: dict[str, Any] = {}
        too_large = []
        for kind in list(data)[:_MAX_TYPES]:
            if kind == PLAIN_TEXT or not _TYPE.fullmatch(kind):
                continue
            value, length = _measured(kind, data[kind])
            if length > self._left:
                too_large.append(kind)
            elif value is not None:
                self._left -= length
                kept[kind] = value
        return kept, f" (too large to keep: {listed(too_large)})" if too_large else ""


def _measured(kind: str, value: object) -> tuple[object, int]:
    """The value as notebooks have it, and its length as text; None if notebooks can't have it."""
    if isinstance(value, str):
        return value, len(value)
    if kind.endswith("json"):
        with suppress(ValueError):  # NaN, which JupyterLab can't read
            return (
                (value, len(json.dumps(value, allow_nan=False)))
                if _is_shallow(value, _MAX_DEPTH)
                else (None, 0)
            )
        return None, 0
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        text = "".join(value)
        return text, len(text)
    return None, 0


def _is_shallow(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in inside)


def sizes_in(metadata: object) -> dict[str, dict[str, int]]:
    """The widths and heights of pictures, which are all that is kept of an output's metadata."""
    found = metadata if isinstance(metadata, dict) else {}
    sizes = {
        kind: {
            name: bundle[name]
            for name in ("width", "height")
            if type(bundle.get(name)) is int and 0 < bundle[name] <= _MAX_SIZE
        }
        for kind, bundle in list(found.items())[:_MAX_TYPES]
        if _TYPE.fullmatch(str(kind)) and isinstance(bundle, dict)
    }
    return {kind: size for kind, size in sizes.items() if size}
