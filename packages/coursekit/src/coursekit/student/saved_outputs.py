"""The outputs that a notebook was handed in with, for `nbgrader autograde --no-execute`; otherwise nobody reads them."""

from collections.abc import Mapping
from typing import Any

import msgspec
from nbformat import NotebookNode, v4

from coursekit.student.limits import Limits
from coursekit.student.notebook_json import SubmittedNotebook
from coursekit.student.runner import MAX_ERROR, MAX_ERRORS, MAX_PICTURES, MAX_TRACEBACK

_COUNT = msgspec.json.Decoder(int | None)
_OUTPUTS = msgspec.json.Decoder(list[dict[str, Any]])
#: characters that an output counts in addition to its text
_COST = 20


def put_saved_outputs(submitted: SubmittedNotebook) -> None:
    """Give the code cells their outputs: text and PNG pictures only, as in `runner`, and as much of them."""
    cells = submitted.notebook.cells if submitted.notebook is not None else []
    pictures = MAX_PICTURES
    for cell, (count, saved) in zip(cells, submitted.saved, strict=True):
        if cell.cell_type != "code":
            continue
        try:
            cell.execution_count = _COUNT.decode(count)
            outputs = _OUTPUTS.decode(saved)
        except (msgspec.DecodeError, UnicodeDecodeError):  # none, or those of a format before version 4
            continue
        room = Limits.cell_output
        for output in outputs:
            plain = _plain(output, room)
            picture = len(plain.get("data", {}).get("image/png", "")) if plain else 0
            if plain is None or room <= 0 or picture > pictures:
                continue
            if (
                plain.output_type == "error"
                and sum(o.output_type == "error" for o in cell.outputs) >= MAX_ERRORS
            ):
                continue
            pictures -= picture
            room -= _COST + len(plain.get("text", "")) + len(plain.get("data", {}).get("text/plain", ""))
            cell.outputs.append(plain)


def _plain(output: Mapping[str, Any], room: int) -> NotebookNode | None:
    """An output without anything that a page must not show; None if nothing is left."""
    plain: NotebookNode | None = None
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name}:
            plain = v4.new_output("stream", name=name, text=_text(output.get("text"))[:room])
        case {"output_type": "error"}:
            lines = output.get("traceback")
            plain = v4.new_output("error", ename=_text(output.get("ename"))[:MAX_ERROR])
            plain.evalue = _text(output.get("evalue"))[:MAX_ERROR]
            plain.traceback = [
                _text(line)[:MAX_ERROR]
                for line in (lines if isinstance(lines, list) else [])[-MAX_TRACEBACK:]
            ]
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
            plain = v4.new_output(kind, {"text/plain": _text(data.get("text/plain"))[:room]})
            if picture := _text(data.get("image/png")):
                plain.data["image/png"] = picture
            if kind == "execute_result" and isinstance(count := output.get("execution_count"), int):
                plain.execution_count = count
    return plain


def _text(value: object) -> str:
    """Text, which a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
