"""In autograde: a file that can't be read as a notebook must not stop the class."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from nbgrader.converters import BaseConverter

from coursekit.course import read_notebook
from coursekit.nbgrader_plugin.converters import make_ready
from coursekit.nbgrader_plugin.folders import beside_of


class SubmissionExporter(NotebookExporter):
    """Leaves the reading of a submitted notebook to `RepairCells`, and reads what that made of it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, BaseConverter):
            make_ready(self.parent)

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        path = Path(filename)
        resources = ResourcesDict() if resources is None else resources
        metadata = resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        if self._is_repaired(path, resources):
            return self.from_notebook_node(read_notebook(path), resources=resources, **kw)
        folders = self.parent.coursedir
        metadata["set_aside"] = beside_of(folders, path.parent, resources["nbgrader"]["assignment"]).notes()
        return self.from_notebook_node(v4.new_notebook(), resources=resources, **kw)

    def _is_repaired(self, path: Path, resources: dict[str, Any]) -> bool:
        """True in nbgrader's second step, which reads what the first one wrote into autograded/."""
        folders, names = self.parent.coursedir, resources["nbgrader"]
        written = folders.format_path(folders.autograded_directory, names["student"], names["assignment"])
        return path.parent == Path(written)
