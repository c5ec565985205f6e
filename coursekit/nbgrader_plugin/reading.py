"""In autograde: a file that is no notebook must not stop the class."""

import contextlib
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4

from coursekit.student.reading import MAX_FILE_BYTES


class SubmissionExporter(NotebookExporter):
    """Reads a missing or unreadable file as an empty notebook; `RepairCells` then says what is wrong."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        notebook = v4.new_notebook()
        path = Path(filename)
        # at a pipe or a device, reading would never end
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
            with contextlib.suppress(Exception):
                notebook = nbformat.read(filename, as_version=4)
        resources = ResourcesDict() if resources is None else resources
        resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        return self.from_notebook_node(notebook, resources=resources, **kw)
