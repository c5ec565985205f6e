"""The student notebooks as pages, with the outputs that the instructor's notebooks have.

The provided cells need the students' answers, so each source notebook is run as a whole. Only outputs of provided cells are kept:
exercises stay empty, and so do their tests. They are stored by hash, since running all notebooks takes minutes.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from building.badges import badges
from gradekit.course import Assignment
from gradekit.course.cells import is_answer_cell, is_test_cell

#: raise it when outputs are kept in another way
_FORM = "1"
_LOCKS = ("course.lock", "model.lock")
#: for one cell, on a busy machine
_SECONDS = 900
_WORKERS = 2
#: the figures do not depend on how many cores the machine has; no model is downloaded
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
_EARLIER = "earlier.py"

#: otherwise kernels warn that others on this machine could listen
_QUIET = ["--log-level=ERROR"]

#: outputs in the form of nbformat, by the id of their cell
Outputs = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Figure:
    """A figure of a notebook: its file below the site's root, its description, and the page that shows it."""

    file: str
    description: str
    assignment: str
    page: str
    width: int
    height: int

    def html(self, up: str) -> str:
        """An <img> for a page from which `up` leads to the site's root."""
        size = f'width="{self.width}" height="{self.height}"'
        return f'<img src="{up}{self.file}" alt="{escape(self.description)}" {size} loading="lazy">'


def provided(cell: NotebookNode) -> bool:
    """True for a code cell whose outputs may be shown: neither an answer nor its test."""
    return cell.cell_type == "code" and not is_answer_cell(cell) and not is_test_cell(cell)


def outputs_of(assignments: list[Assignment], cache: Path) -> dict[str, Outputs]:
    """The outputs of the provided cells of each assignment's notebook, from `cache` or by running it."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        # later notebooks take longer: they first, so that none runs alone at the end
        running = {
            assignment.name: pool.submit(_stored_outputs, assignment, cache)
            for assignment in reversed(assignments)
        }
        return {assignment.name: running[assignment.name].result() for assignment in assignments}


def _stored_outputs(assignment: Assignment, cache: Path) -> Outputs:
    (path,) = assignment.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    stored = cache / f"{assignment.name}-{_digest(assignment, notebook)}.json"
    if not stored.exists():
        text = json.dumps(run(assignment, notebook))
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{assignment.name}-*.json"):
            old.unlink()
        stored.write_text(text, encoding="utf-8")
    outputs: Outputs = json.loads(stored.read_text(encoding="utf-8"))
    return outputs


def _digest(assignment: Assignment, notebook: NotebookNode) -> str:
    """Of everything that outputs depend on: the code, the files beside the notebook, the packages; not of the text."""
    root = assignment.course.root
    digest = hashlib.sha256(_FORM.encode())
    for cell in notebook.cells:
        if cell.cell_type == "code":
            digest.update(f"{cell.id}\n{cell.source}\n".encode())
    files = [
        file for path in assignment.handed_out() for file in ([path] if path.is_file() else path.rglob("*"))
    ]
    for file in [*sorted(files), *(root / "requirements" / name for name in _LOCKS)]:
        if file.is_file() and file.suffix != ".md":
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def run(assignment: Assignment, notebook: NotebookNode) -> Outputs:
    """Run a source notebook in a folder of its own, and return the outputs of its provided cells.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = deepcopy(notebook)
    with tempfile.TemporaryDirectory() as folder:
        for file in assignment.handed_out():
            (shutil.copytree if file.is_dir() else shutil.copy)(file, Path(folder) / file.name)
        client = NotebookClient(notebook, timeout=_SECONDS, kernel_name="python3", extra_arguments=_QUIET)
        client.execute(cwd=folder, env=os.environ | _ENVIRONMENT)
    return {cell.id: [dict(output) for output in cell.outputs] for cell in notebook.cells if provided(cell)}


def write_notebooks(
    assignments: list[Assignment], outputs: dict[str, Outputs], generated: Path, extra: Path
) -> list[Figure]:
    """Write each released notebook with its outputs for myst-nb, and its figures as files; return the figures.

    The pages are `notebooks/<assignment>/<notebook>.ipynb` in `generated`, the figures `figures/<assignment>/` in `extra`.
    """
    figures: list[Figure] = []
    for assignment in assignments:
        (name,) = assignment.released_names()
        notebook = assignment.released(name)
        page = f"generated/notebooks/{assignment.name}/{name}"
        figures += fill_in(notebook, outputs[assignment.name], assignment, page, extra)
        _explain(notebook, assignment, name)
        path = generated / "notebooks" / assignment.name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        if is_complete(assignment):
            shutil.copy(assignment.release_folder / f"{name}.ipynb", extra / f"{name}.ipynb")
    return figures


def is_complete(assignment: Assignment) -> bool:
    """Whether the notebook alone can be worked with. Otherwise the files beside it hold solutions of earlier ones."""
    return not (assignment.source_folder / _EARLIER).exists()


def fill_in(
    notebook: NotebookNode, outputs: Outputs, assignment: Assignment, page: str, extra: Path
) -> list[Figure]:
    """Put outputs into the provided cells of a released notebook, and say of each cell how it is shown."""
    figures: list[Figure] = []
    section = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = re.findall(r"^##+ (.+)$", cell.source, re.MULTILINE)
            section = found[-1] if found else section
            if is_answer_cell(cell):
                _tag(cell, "written-answer")
        elif is_answer_cell(cell):
            _tag(cell, "exercise")
        elif is_test_cell(cell):
            _tag(cell, "visible-test", "hide-input")
        elif cell.cell_type == "code":
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                _tag(cell, "hide-input")
            for output in _with_whole_streams(outputs.get(cell.id, [])):
                figure = _figure(output, assignment.name, page, len(figures), extra)
                figures += [figure] if figure else []
                cell.outputs.append(nbformat.from_dict(_shown(output, figure)))
    return figures


def _tag(cell: NotebookNode, *tags: str) -> None:
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), *tags]


def _figure(output: dict[str, Any], assignment: str, page: str, number: int, extra: Path) -> Figure | None:
    """Write the picture of an output as a file; None if it has none."""
    data = output.get("data", {})
    if "image/png" not in data:
        return None
    content = base64.b64decode(data["image/png"])
    file = f"figures/{assignment}/{number + 1:02}.png"
    (extra / file).parent.mkdir(parents=True, exist_ok=True)
    (extra / file).write_bytes(content)
    width, height = struct.unpack(">II", content[16:24])
    return Figure(file, " ".join(data["text/plain"].split()), assignment, page, width, height)


def _with_whole_streams(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs in which all that was printed in a row is one text, as Jupyter shows it."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        if merged and output["output_type"] == "stream" and merged[-1].get("name") == output["name"]:
            merged[-1] = {**output, "text": merged[-1]["text"] + output["text"]}
        else:
            merged.append(output)
    return merged


def _shown(output: dict[str, Any], figure: Figure | None) -> dict[str, Any]:
    """An output as the page shows it: figures as files, progress bars in their last state."""
    if figure:
        anchor = Path(figure.file).stem
        html = f'<figure class="notebook-figure" id="figure-{anchor}">{figure.html("../../../")}</figure>'
        return {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    if output["output_type"] == "stream":
        text = re.sub(r"[^\n]*\r(?!\n)", "", output["text"])
        return {**output, "text": text}
    return output


def _explain(notebook: NotebookNode, assignment: Assignment, name: str) -> None:
    """Say below the title what this page is, and where the notebook itself is."""
    links = badges(assignment.name, name)
    if is_complete(assignment):
        links.insert(0, f'<a href="../../../{name}.ipynb" download>Download the notebook</a>')
    text = (
        "This page is the notebook as students get it: exercises are empty. Figures and numbers below the provided cells "
        "are those of a notebook in which everything is right."
    )
    note = (
        f":::{{admonition}} What you see here\n:class: what-you-see\n\n{text}\n\n{' · '.join(links)}\n:::\n"
    )
    title, _, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = f"{title}\n\n{note}\n{rest}"


def all_lines(outputs: Outputs) -> Iterator[str]:
    """Every line of text in outputs."""
    for cell in outputs.values():
        for output in cell:
            texts = [output.get("text", ""), *map(str, output.get("data", {}).values())]
            yield from "\n".join(texts).splitlines()
