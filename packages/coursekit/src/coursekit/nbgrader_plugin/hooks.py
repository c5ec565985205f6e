"""Before a submission is autograded: the course is in order, and every expected notebook gets its turn."""

import logging
from pathlib import Path

from traitlets import TraitError
from traitlets.config import Application, Config

from coursekit.course import CourseError
from coursekit.nbgrader_plugin.bind import require_bound
from coursekit.nbgrader_plugin.folders import course_of, stop
from coursekit.nbgrader_plugin.run import RunChecks

_checked: set[tuple[Path, str]] = set()


def before_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's pre_convert_hook.

    nbgrader skips a submission whose notebook has another name, or none. The expected paths are added to
    its list here, so that `SubmissionExporter` and `RepairCells` can say what is the matter.
    """
    app = Application.instance() if Application.initialized() else None
    log = app.log if app else logging.getLogger(__name__)
    course = course_of(app.config if app else Config())
    folder = Path(notebooks[0]).parent
    bound = course.assignment(folder.name)
    try:
        RunChecks(config=app.config if app else Config())  # a setting that can't be used is told here
        names = bound.released_names()
        if (course.root, bound.name) not in _checked:
            require_bound(bound)
            _checked.add((course.root, bound.name))
    except (CourseError, TraitError) as error:
        stop(log, str(error))
    present = {Path(path).stem for path in notebooks}
    notebooks.extend(str(folder / f"{name}.ipynb") for name in names if name not in present)
