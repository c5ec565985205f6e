"""`nbgrader release_feedback`, which releases the pages of hand-ins from the exchange, and names the others.

nbgrader's own ends with a traceback at the first page of a hand-in that didn't come through the exchange.
"""

import glob
import os
import re
import shutil
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from gradekit.course.configuration import course_in
from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.course_folders import student_of
from gradekit.submission.extra_files import SECRET, TIMESTAMP
from gradekit.submission.notebook_file import name_handed_in


class NamedReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's releasing, without the pages that students can't fetch from the exchange.

    A notebook that was handed in under another name has its page once more under the name that `fetch_feedback` looks
    for: the student's own. The name of a page in the exchange is a hash of the submission's secret and of that name.
    """

    src_path: str
    dest_path: str

    def start(self) -> None:
        self.init_src()
        folders = self.coursedir
        elsewhere = {}
        with_page = {str(Path(page).parent) for page in glob.glob(f"{self.src_path}/*.html")}
        for folder in sorted(with_page):
            student = student_of(folders, folders.feedback_directory, folder)
            if student is not None and not all(Path(folder, name).is_file() for name in (SECRET, TIMESTAMP)):
                elsewhere[student] = folder
        if elsewhere:
            command = f"gradekit return {quoted(folders.assignment_id)}"
            names = ", ".join(map(printable, elsewhere))
            text = (
                f"Not released, since these hand-ins didn't come through the exchange: {names}. "
                f"Pages for Canvas or Moodle: `{command}`"
            )
            if len(elsewhere) == len(with_page):
                self.fail(text)  # raises ExchangeError, which `gradekit watch` reports
            self.log.warning(text)
        excluded = folders.student_id_exclude
        folders.student_id_exclude = ",".join(filter(None, [excluded, *elsewhere]))
        try:
            super().start()
        finally:
            folders.student_id_exclude = excluded

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
