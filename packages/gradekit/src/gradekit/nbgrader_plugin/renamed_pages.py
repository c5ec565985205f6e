"""In release_feedback: students find the page of a notebook that they handed in under another name."""

import glob
import os
import re
import shutil
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from gradekit.course.configuration import course_in
from gradekit.submission.extra_files import SECRET
from gradekit.submission.notebook_file import name_handed_in


class RenamedReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's releasing, and once more under the name that `fetch_feedback` looks for: the student's own.

    The name of a page in the exchange is a hash of the submission's secret and the name of its notebook.
    """

    src_path: str
    dest_path: str

    def copy_files(self) -> None:
        super().copy_files()
        folders = self.coursedir
        pattern = folders.format_path(
            folders.feedback_directory, "(?P<student>.*)", folders.assignment_id, escape=True
        )
        excluded = folders.student_id_exclude.split(",")
        for page in map(Path, glob.glob(os.path.join(self.src_path, "*.html"))):
            found = re.fullmatch(pattern, str(page.parent), re.DOTALL)
            if found and found["student"] not in excluded and (page.parent / SECRET).is_file():
                self._release_renamed(page, found["student"])

    def _release_renamed(self, page: Path, student: str) -> None:
        folders = self.coursedir
        assignment = course_in(folders).assignment(folders.assignment_id)
        submitted = folders.format_path(folders.submitted_directory, student, folders.assignment_id)
        own = name_handed_in(Path(submitted, f"{page.stem}.ipynb"), assignment).stem
        if own != page.stem:
            name = notebook_hash(secret=(page.parent / SECRET).read_text(), notebook_id=own)
            new = shutil.copy(page, Path(self.dest_path, f"{name}-tmp.html"))
            os.replace(new, Path(self.dest_path, f"{name}.html"))
