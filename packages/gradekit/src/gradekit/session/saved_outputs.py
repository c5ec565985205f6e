"""The outputs that a notebook was handed in with, for `nbgrader autograde --no-execute`.

Otherwise they are read only for sentences, if a written answer is empty (see `submission.texts`).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from nbformat import NotebookNode, v4

from gradekit.course.cells import PLAIN_TEXT
from gradekit.session.limits import Limits
from gradekit.session.runner import MAX_ERROR, MAX_ERRORS, MAX_TRACEBACK, KeptData, sizes_in
from gradekit.submission.notebook_file import SubmittedNotebook

_COUNT = msgspec.json.Decoder(int | None)
_OUTPUTS = msgspec.json.Decoder(list[dict[str, Any]])
#: characters that an output counts in addition to its text
_COST = 20


def put_saved_outputs(submitted: SubmittedNotebook) -> None:
    """Give the code cells their outputs: the same and as much of them as in `runner`."""
    cells = submitted.notebook.cells if submitted.notebook is not None else []
    data = KeptData()
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
            plain = _plain(output, room, data) if room > 0 else None
            if plain is None:
                continue
            if (
                plain.output_type == "error"
                and sum(o.output_type == "error" for o in cell.outputs) >= MAX_ERRORS
            ):
                continue
            room -= _COST + len(plain.get("text", "")) + len(plain.get("data", {}).get(PLAIN_TEXT, ""))
            cell.outputs.append(plain)


def _plain(output: Mapping[str, Any], room: int, data: KeptData) -> NotebookNode | None:
    """An output in the form that it must have; None if it has another."""
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
        case {"output_type": "display_data" | "execute_result" as kind, "data": dict(bundle)}:
            kept, remark = data.of(bundle)
            text = _text(bundle.get(PLAIN_TEXT))[:room] + remark
            plain = v4.new_output(kind, {**kept, PLAIN_TEXT: text}, metadata=sizes_in(output.get("metadata")))
            if kind == "execute_result" and isinstance(count := output.get("execution_count"), int):
                plain.execution_count = count
    return plain


def _text(value: object) -> str:
    """Text, which a notebook may hold as a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))
