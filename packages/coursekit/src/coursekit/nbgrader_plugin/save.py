"""In autograde, third step: the score of a test cell is the sum of its checks, whatever the cell printed."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from coursekit.course import grade_id, is_test_cell
from coursekit.nbgrader_plugin.run import RESULT


class SaveScores(SaveAutoGrades):
    """Writes the points of the checks into the gradebook. Manual scores and comments stay as they are.

    A notebook that is missing or unreadable gets no automatic score but is marked for a person to look at.
    """

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        result = resources[RESULT]
        if not is_test_cell(cell) and not result.nothing_graded:
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(
            grade_id(cell), self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = None if result.nothing_graded else result.exercise(grade_id(cell)).earned
        grade.needs_manual_grade = result.nothing_graded or grade.manual_score is not None
        self.gradebook.db.commit()
