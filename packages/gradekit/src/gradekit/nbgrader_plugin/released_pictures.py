"""In generate_assignment: pictures that only the solution or the marking scheme showed don't go to the students."""

from urllib.parse import quote

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from gradekit.course.cells import grade_id, nbgrader_metadata
from gradekit.course.printing import listed, printable


class RemoveSolutionPictures(NbGraderPreprocessor):
    """Removes the attachments of answers and tasks to which the released text no longer refers.

    nbgrader clears the text of a solution, but leaves the picture in the file (nbgrader#1782).
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        marks = nbgrader_metadata(cell)
        if "attachments" in cell and (marks.get("solution") or marks.get("task")):
            removed = [name for name in cell.attachments if not _is_shown(name, cell.source)]
            for name in removed:
                del cell.attachments[name]
            if not cell.attachments:
                del cell["attachments"]
            if removed:
                self.log.info(
                    "The cell `%s` is released without %s: only the solution or the marking scheme shows it.",
                    printable(grade_id(cell) or "", 80),
                    listed(printable(name, 80) for name in removed),
                )
        return cell, resources


def _is_shown(name: str, source: str) -> bool:
    return any(f"attachment:{written}" in source for written in (name, quote(name)))
