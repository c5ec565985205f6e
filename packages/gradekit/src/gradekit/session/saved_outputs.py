"""The outputs that a notebook was handed in with, for `nbgrader autograde --no-execute`.

Otherwise they are read only for sentences, if a written answer is empty (see `submission.texts`).
"""

from typing import Any

import msgspec
from nbformat import NotebookNode, v4

from gradekit.session.limits import Limits
from gradekit.session.runner import KeptOutputs
from gradekit.submission.notebook_file import SubmittedNotebook

_COUNT = msgspec.json.Decoder(int | None)
_OUTPUTS = msgspec.json.Decoder(list[dict[str, Any]])


def put_saved_outputs(submitted: SubmittedNotebook) -> None:
    """Give the code cells their outputs: the same and as much of them as is kept when they run."""
    cells = submitted.notebook.cells if submitted.notebook is not None else []
    kept = KeptOutputs(Limits.cell_output)
    for cell, (count, saved) in zip(cells, submitted.saved, strict=True):
        if cell.cell_type != "code":
            continue
        try:
            cell.execution_count = _COUNT.decode(count)
            outputs = _OUTPUTS.decode(saved)
        except (msgspec.DecodeError, UnicodeDecodeError):  # none, or those of a format before version 4
            continue
        kept.begin_cell()
        cell.outputs += [plain for output in outputs if (plain := _plain(output, kept)) is not None]


def _plain(output: dict[str, Any], kept: KeptOutputs) -> NotebookNode | None:
    """An output in the form that it must have; None if it has another, or is beyond the limits."""
    kind = output.get("output_type", "")
    is_shown = kind in ("display_data", "execute_result") and isinstance(output.get("data"), dict)
    if not (is_shown or kind in ("stream", "error")) or not kept.takes(kind, output):
        return None
    plain: NotebookNode = v4.new_output(kind, **kept.plain(kind, output))
    if kind == "execute_result" and isinstance(count := output.get("execution_count"), int):
        plain.execution_count = count
    return plain
