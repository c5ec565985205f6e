"""A course folder whose notebooks and settings a test makes up, for `gradekit adopt`."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from gradekit_authoring.adopt.survey import CourseReport, survey

PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
CHECK = "from gradekit.checks import points\n\n\n@points(1)\ndef test_it(student):\n    pass\n"


def marked(cell: NotebookNode, name: str, **values: object) -> NotebookNode:
    base = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    cell.metadata["nbgrader"] = {**base, "grade_id": name, **values}
    return cell


def code(name: str, source: str = "pass", **values: object) -> NotebookNode:
    return marked(v4.new_code_cell(source), name, **values)


def text(name: str, **values: object) -> NotebookNode:
    return marked(v4.new_markdown_cell("Because."), name, **values)


def ordinary(name: str = "correct", points: float = 2, source: str = "assert True") -> NotebookNode:
    return code(name, source, grade=True, locked=True, points=points)


class OddCourse:
    """A course folder that a test fills with notebooks."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, place: str, *cells: NotebookNode, kernel: dict[str, str] | None = PYTHON) -> Path:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(
            v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel} if kernel else {}), path
        )
        return path

    def config(self, lines: str) -> None:
        (self.root / "nbgrader_config.py").write_text(f"c = get_config()\n{lines}\n")

    def check_file(self, place: str) -> None:
        path = self.root / "tests" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CHECK)

    def look(self, *names: str) -> CourseReport:
        before = self.files()
        report = survey(self.root, names)
        assert self.files() == before
        return report

    def files(self) -> dict[Path, int]:
        return {path: path.lstat().st_mtime_ns for path in self.root.rglob("*")}

    def kinds(self) -> dict[str, str]:
        notebooks = [notebook for each in self.look().assignments for notebook in each.notebooks]
        return {cell.grade_id: str(cell.kind) for notebook in notebooks for cell in notebook.cells}
