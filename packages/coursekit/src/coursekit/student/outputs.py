"""Reads the text that the run of a cell left in the notebook."""

from typing import Any


def text_of(cell: Any) -> str:
    """The text that the cell printed and displayed, in order; pictures and stderr are left out.

    Its length is bounded by the limit on a cell's output (see `Limits.cell_output`).
    """
    return "".join(_text(output) for output in cell.get("outputs", []))


def _text(output: Any) -> str:
    match output:
        case {"output_type": "stream", "name": "stdout", "text": str(text)}:
            return text
        case {"output_type": "display_data" | "execute_result", "data": dict(data)} if (
            "image/png" not in data
        ):
            return f"{data.get('text/plain', '')}\n"
    return ""
