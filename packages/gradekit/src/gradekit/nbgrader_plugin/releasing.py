"""`nbgrader release_feedback`, which releases the pages of hand-ins from the exchange, and names the others.

nbgrader's own ends with a traceback at the first page of a hand-in that didn't come through the exchange.
"""

import glob
from pathlib import Path

from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.course_folders import student_of
from gradekit.nbgrader_plugin.renamed_pages import RenamedReleaseFeedback
from gradekit.submission.extra_files import SECRET, TIMESTAMP


class NamedReleaseFeedback(RenamedReleaseFeedback):
    """nbgrader's releasing, without the pages that students can't fetch from the exchange."""

    src_path: str

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
