"""`nbgrader collect` and `nbgrader release_feedback`: one student's files can't stop the commands or fill the disk.

nbgrader collects what links lead to, reads pipes and devices to their end, and stops at the first folder that it can't
copy; it stops at the first page of a hand-in that didn't come through the exchange. Here these are named.
"""

import glob
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from gradekit.course.configuration import course_in
from gradekit.course.files import FOR_EVERYBODY
from gradekit.course.operating_system import folders_below, open_safely
from gradekit.course.printing import printable, quoted
from gradekit.nbgrader_plugin.course_folders import beside_of, student_of
from gradekit.submission.extra_files import (
    MAX_ENTRIES,
    MAX_FOLDER_DEPTH,
    SECRET,
    TIMESTAMP,
    NotATime,
    time_in,
)
from gradekit.submission.notebook_file import name_handed_in

_CHUNK = 2**20
_NAMED_AT_MOST = 5


class HarmlessCollect(ExchangeCollect):
    """nbgrader's collecting, of regular files only and within nbgrader's limit on the size of a folder.

    What can't be collected is reported, and everything else is collected.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """The student and the time in a folder's name, which any user of the exchange can choose."""
        try:
            time_in(Path(path).name.rsplit("+", 3)[2])
            record: dict[str, Any] = super()._path_to_record(path)
            return record
        except (NotATime, IndexError, ExchangeError):
            self.log.error(
                "%s was not collected: nbgrader names such folders <student>+<assignment>+<time>",
                printable(path),
            )
            return {"username": "", "filename": Path(path).name, "timestamp": datetime.min}

    def copy_files(self) -> None:
        folders = self.coursedir
        for record in self.src_records:  # nbgrader reads the time stamps of what was collected before
            names = record["username"], folders.assignment_id
            self._set_aside(Path(folders.format_path(folders.submitted_directory, *names)))
        super().copy_files()

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        try:
            # on Linux only, and every command of nbgrader imports this module
            from sandbox_kernel.folders import HeldFolder

            with HeldFolder("gradekit-collect-") as folder:
                regular = folder / "submission"
                skipped = copy_regular_files(Path(src), regular, 1000 * self.coursedir.max_dir_size)
                super().do_copy(str(regular), dest)
            for sentence in skipped:
                self.log.warning("%s: %s", printable(src), sentence)
            self._set_aside(Path(dest))
        except (OSError, RuntimeError) as error:
            self.not_collected(src, error)

    def not_collected(self, src: str, error: Exception) -> None:
        """Report a submission that can't be copied, and continue."""
        self.log.error("%s was not collected: %s", printable(src), error)

    def _set_aside(self, folder: Path) -> None:
        try:
            for sentence in beside_of(self.coursedir, folder, self.coursedir.assignment_id).set_aside():
                self.log.warning("%s: %s", printable(str(folder)), sentence)
        except OSError as error:
            self.log.error("%s: %s", printable(str(folder)), error)


def copy_regular_files(source: Path, target: Path, max_bytes: int) -> list[str]:
    """Copy a folder without links, pipes and devices, even if it changes meanwhile.

    Args:
        target: a folder that does not exist.
        max_bytes: of all files together; notebooks come first.

    Returns:
        A sentence for each file that was not copied, at most a few.

    Raises:
        OSError: the folder can't be read, or the copy not written.
    """
    target.mkdir()
    skipped: list[str] = []
    left = max_bytes
    with os.scandir(source):
        pass  # raises an error for an unreadable folder, which `fwalk` would treat as empty
    for number, (folder, name, descriptor) in enumerate(_files(source, skipped)):
        shown = printable(str(folder.relative_to(source) / name), 80)
        if number >= MAX_ENTRIES:
            skipped.append(f"has more than {MAX_ENTRIES:,} files; the rest was not collected.")
            break
        try:
            with open_safely(name, descriptor) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    skipped.append(f"{shown} isn't a regular file, so it was not collected.")
                    continue
                copy = target / folder.relative_to(source) / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                size = _copy(file.fileno(), copy, left)
        except OSError as error:
            if error.errno in FOR_EVERYBODY:
                raise
            skipped.append(f"{shown} can't be read ({error.strerror}), so it was not collected.")
            continue
        if size is None:
            copy.unlink()
            skipped.append(f"{shown} exceeds the limit on the size of a submission, so it was not collected.")
        else:
            left -= size
    more = [f"{len(skipped) - _NAMED_AT_MOST:,} more files were not collected."]
    return skipped[:_NAMED_AT_MOST] + more * (len(skipped) > _NAMED_AT_MOST)


def _files(source: Path, skipped: list[str]) -> Iterator[tuple[Path, str, int]]:
    """The files below a folder, notebooks first in each: folder, name, and a descriptor of the folder."""
    for place, folders, files, descriptor in folders_below(source):
        folder = Path(place)
        if len(folder.relative_to(source).parts) >= MAX_FOLDER_DEPTH and folders:
            skipped.append(
                f"is nested more than {MAX_FOLDER_DEPTH} folders deep; the rest was not collected."
            )
            folders.clear()
        folders.sort()
        for name in sorted(files, key=lambda name: (not name.endswith(".ipynb"), name)):
            yield folder, name, descriptor


def _copy(source: int, target: Path, max_bytes: int) -> int | None:
    """Copy an open file; None if it is larger than `max_bytes`."""
    size = 0
    with target.open("wb") as file:
        while part := os.read(source, _CHUNK):
            size += len(part)
            if size > max_bytes:
                return None
            file.write(part)
    return size


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
        excluded = folders.student_id_exclude.split(",")
        for page in map(Path, glob.glob(os.path.join(self.src_path, "*.html"))):
            student = student_of(folders, folders.feedback_directory, str(page.parent))
            if student is not None and student not in excluded and (page.parent / SECRET).is_file():
                self._release_renamed(page, student)

    def _release_renamed(self, page: Path, student: str) -> None:
        folders = self.coursedir
        assignment = course_in(folders).assignment(folders.assignment_id)
        submitted = folders.format_path(folders.submitted_directory, student, folders.assignment_id)
        own = name_handed_in(Path(submitted, f"{page.stem}.ipynb"), assignment).stem
        if own != page.stem:
            name = notebook_hash(secret=(page.parent / SECRET).read_text(), notebook_id=own)
            new = shutil.copy(page, Path(self.dest_path, f"{name}-tmp.html"))
            os.replace(new, Path(self.dest_path, f"{name}.html"))
