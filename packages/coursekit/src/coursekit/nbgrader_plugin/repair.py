"""In autograde, first step: the submission is read again with care and put right."""

from copy import deepcopy
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from coursekit.checks.results import Status, SubmissionResult
from coursekit.course import CourseError
from coursekit.nbgrader_plugin.folders import course_of, stop
from coursekit.student.notebook_file import read_submitted
from coursekit.student.restore import restore_notebook

#: what reading and repairing found, for the next step
FOUND = "coursekit_found"


class RepairCells(NbGraderPreprocessor):
    """Gives nbgrader a notebook that has every cell it knows once, with nbgrader's own metadata.

    Where nothing can be read, the released notebook takes its place and the status says why. What was
    noticed is kept in the notebook's metadata for the next step.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        try:
            released = course_of(self.config).assignment(names["assignment"]).released(names["notebook"])
        except CourseError as error:
            stop(self.log, str(error))
        place = resources["metadata"]
        handed = read_submitted(Path(place["path"], f"{place['name']}.ipynb"))
        beside = place["set_aside"]
        if handed.notebook is None:
            self.log.warning("%s: %s", names["student"], handed.problem)
            status = Status.MISSING if handed.missing else Status.UNREADABLE
            notebook, kept = deepcopy(released), SubmissionResult(status, notes=[handed.problem, *beside])
        else:
            notebook, notes = restore_notebook(handed.notebook, released)
            kept = SubmissionResult(Status.UNGRADED, notes=handed.notes + notes + beside)
            for note in kept.notes:
                self.log.warning("%s: %s", names["student"], note)
        notebook.metadata[FOUND] = kept.as_dict()
        return notebook, resources
