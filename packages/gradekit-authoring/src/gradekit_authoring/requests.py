"""Requests of students who think that a check is wrong: a file `requests.txt` that comes with their next hand-in.

A line that begins with the name of a check begins a request, and so does one that begins with the name of an exercise and a
colon, or is that name. The lines below belong to it.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from gradekit.attempts import file_name
from gradekit.course import Assignment, CourseError, read_notebook
from gradekit.course.cells import answer_of, exercise_name, find_cell, grade_id
from gradekit.course.files import (
    LETTER,
    SMALL_TEXT,
    STATE_FOLDER,
    handed_in_letter,
    write_atomically,
    write_json,
)
from gradekit.course.operating_system import locked_file
from gradekit.course.printing import counted, did_you_mean, printable, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.report.comments import Commented, Recipients, comment_on
from gradekit.report.table import Row, locked_class_table, was_graded
from gradekit.session.values import CheckOutcome

#: the beginning of a line that names a check, known or not
_LIKE_A_CHECK = re.compile(r"\w[\w-]*::\w")
#: letters that can't be read here
_OTHER = re.compile(r"requests?[ _]*(?:-\d+|\(\d+\))?\.(?:rtf|docx?|odt|pdf|html?)", re.IGNORECASE)
_SHOWN = 600
#: requests of one student that are shown
_OF_ONE = 20


class CheckRequest(Struct, frozen=True):
    """One request; `about` is `exercise::check` or an exercise, and empty if the student names neither."""

    student: str
    about: str
    text: str


class Requests(Struct):
    """The requests about one assignment; what was answered is kept with its answer, by their texts."""

    open: list[CheckRequest] = []
    answered: list[tuple[CheckRequest, str]] = []


@dataclass
class RequestBook:
    """The requests about one assignment, and where they are stored.

    Raises:
        CourseError: nothing was graded yet, so nobody can know a check.
    """

    course: RunningCourse
    assignment: Assignment

    def __post_init__(self) -> None:
        if not was_graded(self.course, self.assignment):
            raise CourseError(f"{self.assignment.name} was not graded yet: run `gradekit autograde` first")
        table = locked_class_table(self.course, self.assignment)
        self._checks = table.checks
        self._passed = {(row.student, about) for row in table.rows for about in _passed(row)}
        self._path = self.course.root / STATE_FOLDER / "requests" / f"{file_name(self.assignment.name)}.json"
        self.problems: list[str] = []
        self._gather()

    @property
    def open(self) -> list[CheckRequest]:
        return self._stored.open

    def lines(self) -> Iterator[str]:
        """The open requests by check, those of most students first, for people."""
        by_check: dict[str, list[CheckRequest]] = {}
        for request in self.open:
            by_check.setdefault(request.about, []).append(request)
        name, sentences = self.assignment.name, {check.id: check.sentence for check in self._checks}
        answered = f", {len(self._stored.answered)} answered" if self._stored.answered else ""
        yield f"{name}: {counted(len(self.open), 'open request')}{answered}"
        shown: Counter[str] = Counter()
        for about, requests in sorted(by_check.items(), key=lambda each: (-len(each[1]), each[0])):
            yield f"  {about or 'without the name of a check'}  {sentences.get(about, '')}".rstrip()
            more: Counter[str] = Counter()
            for request in requests:
                student = request.student
                shown[student] += 1
                if shown[student] > _OF_ONE:
                    more[student] += 1
                    continue
                text = " / ".join(filter(None, map(str.strip, request.text[:_SHOWN].splitlines())))
                passes = " (passes it now)" if (student, about) in self._passed else ""
                yield f"    {printable(student)}{passes}: {printable(text, None)}"
            yield from (f"    {printable(student)}: {number:,} more" for student, number in more.items())
            if not about:
                yield f"    After you have written to one of them: gradekit requests {quoted(name)} --close STUDENT"
            else:
                yield f'    To answer: gradekit requests {quoted(name)} --answer {quoted(about)} "…"'
                yield f"    If a student is right: gradekit requests {quoted(name)} --uphold {quoted(about)} STUDENT"
        for student, number in shown.items():
            if number > _OF_ONE:
                yield f"  {printable(student)}: {number:,} requests, the first {_OF_ONE} are shown; all are in {self._path}"
        yield from (f"  {problem}" for problem in self.problems)

    def answer(self, about: str, text: str) -> Commented:
        """Answer all requests about a check or an exercise, as a comment on the students' answers.

        Raises:
            CourseError: there is no such request, or no text.
        """
        requests = self.about(about)
        if not text.strip():
            name = quoted(self.assignment.name)
            raise CourseError(
                f'the answer is empty: gradekit requests {name} --answer {quoted(about)} "the answer"'
            )
        notebook, cell = self._answer_cell(about)
        students = tuple(dict.fromkeys(request.student for request in requests))
        recipients = Recipients(self.assignment, notebook, cell, students, lambda student: True)
        # the comment may be one of several on the answer
        named = f"{about}: {text}" if "::" in about else text
        done = comment_on(self.course, recipients, named)
        self.close([request for request in requests if request.student not in done.left_out], text)
        return done

    def uphold(self, about: str, student: str) -> tuple[str, Path, bool]:
        """Write the student's answer as an alternative: its name, its file, and whether it was written only now.

        Raises:
            CourseError: the student has no request about this, or no graded answer.
        """
        if student not in [request.student for request in self.about(about)]:
            raise CourseError(f"{printable(student)} has no open request about {about}")
        notebook, cell = self._answer_cell(about)
        if self.course.is_newer(student, self.assignment.name):
            raise CourseError(f"{printable(student)} has handed in again: run `gradekit autograde` first")
        graded = read_notebook(self.course.autograded(student, self.assignment.name) / f"{notebook}.ipynb")
        source = next((each.source for each in graded.cells if grade_id(each) == cell), "").strip("\n")
        released = find_cell(self.assignment.released(notebook), cell)
        if not source.strip() or (released is not None and source == released.source.strip("\n")):
            raise CourseError(f"{printable(student)} has no answer in {cell}")
        folder = self.assignment.checks / "alternatives"
        path = folder / f"{cell}.py" if folder.is_dir() else folder.with_suffix(".py")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        written = f'.source("""\n{_escaped(source)}\n""")\n'
        before, there, _ = text.partition(written)
        if there:
            return before.rpartition('("')[2].removesuffix('")'), path, False
        number = text.count("= Alternatives(cell=") + 1
        name, variable = f"{cell}_asked_{number}", f"asked_{number}"
        where = f'cell="{cell}", notebook="{notebook}"'
        head = "" if "import Alternatives\n" in text else "from gradekit.checks import Alternatives\n"
        added = f'{variable} = Alternatives({where})\n{variable}("{name}"){written}'
        write_atomically(
            path, "\n\n".join(filter(None, (text.rstrip("\n"), f"{head}\n{added}".lstrip("\n"))))
        )
        return name, path, True

    def close_unnamed(self, student: str) -> int:
        """Close a student's requests that name no check, to which no comment can be written; returns their number.

        Raises:
            CourseError: there is none.
        """
        requests = [each for each in self.open if each.student == student and not each.about]
        if not requests:
            why = "has no open request without the name of a check"
            raise CourseError(f"{printable(student)} {why} in {self.assignment.name}")
        self.close(requests, "closed")
        return len(requests)

    def close(self, requests: list[CheckRequest], text: str) -> None:
        """Store that these requests are answered."""
        with self._storing() as stored:
            stored.answered += [(request, text) for request in requests if request in stored.open]
            stored.open = [request for request in stored.open if request not in requests]

    def about(self, about: str) -> list[CheckRequest]:
        """The open requests about a check or an exercise.

        Raises:
            CourseError: there is none.
        """
        found = [request for request in self.open if request.about == about]
        if not found or not about:
            names = sorted({request.about for request in self.open if request.about})
            near = did_you_mean(about, names)
            raise CourseError(f"{self.assignment.name} has no open request about {quoted(about)}{near}")
        return found

    def _answer_cell(self, about: str) -> tuple[str, str]:
        """The notebook and the answer cell that a check is about."""
        # the check itself may be gone
        exercise = about.partition("::")[0]
        key = next(check.exercise for check in self._checks if check.id.partition("::")[0] == exercise)
        notebook, _, test = key.rpartition("/")
        notebook = notebook or self.assignment.notebook_of(test).stem
        return notebook, answer_of(self.assignment.released(notebook), test)

    def _gather(self) -> None:
        """Read the files that students have handed in. A student without one keeps the requests that were read before."""
        ids: dict[str, str] = {}
        for check in self._checks:
            notebook, slash, test = check.exercise.rpartition("/")
            exercise = f"{notebook}{slash}{exercise_name(test)}"
            # a page doesn't name its notebook
            ids.setdefault(f"{exercise_name(test)}::{check.name}", check.id)
            ids.setdefault(exercise_name(test), exercise)
            ids |= {check.id: check.id, check.key: check.id, exercise: exercise, check.exercise: exercise}
        written: dict[str, str] = {}
        for student in self.course.handed_in(self.assignment.name):
            folder = self.course.submitted(student, self.assignment.name)
            names = sorted(os.listdir(folder))
            self.problems += [
                f"{printable(student)}: {printable(str(folder / name))} isn't a plain text: read it, or ask for requests.txt"
                for name in names
                if _OTHER.fullmatch(name)
            ]
            paths = [folder / name for name in names if LETTER.fullmatch(name)]
            if not paths:
                continue
            texts = {path: handed_in_letter(path) for path in paths}
            for path in (path for path, text in texts.items() if not text.strip()):
                self.problems.append(f"{printable(student)}: {path} {_why_nothing(path)}")
            if text := "\n".join(texts.values()).strip():
                written[student] = text
        with self._storing() as stored:
            # a check that was taken out because of a request
            gone = {
                request.about for request, _ in stored.answered if request.about.partition("::")[0] in ids
            }
            ids |= {name: name for name in gone - ids.keys()}
            found = {student: parsed(student, text, ids) for student, text in written.items()}
            answered = {request for request, _ in stored.answered}
            new = [each for requests in found.values() for each in requests if each not in answered]
            others = [request for request in stored.open if request.student not in found]
            stored.open = sorted([*others, *new], key=lambda request: request.student)

    @contextmanager
    def _storing(self) -> Iterator[Requests]:
        """What is stored, to be changed; another command may have done so since this one began."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked_file(self._path.with_suffix(".lock")):
            try:
                self._stored = msgspec.json.decode(self._path.read_bytes(), type=Requests)
            except FileNotFoundError:
                self._stored = Requests()
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise CourseError(
                    f"{self._path} can't be read ({error}): restore it from a backup, or run `rm {quoted(self._path)}`, after which "
                    "requests that were answered are open again"
                ) from error
            yield self._stored
            write_json(self._path, self._stored)


def _passed(row: Row) -> Iterator[str]:
    """The checks and exercises that a student passes, as requests name them."""
    for label, exercise in row.exercises:
        notebook, slash, test = label.rpartition("/")
        about = f"{notebook}{slash}{exercise_name(test)}"
        yield from (
            f"{about}::{check.name}" for check in exercise.checks if check.outcome == CheckOutcome.PASSED
        )
        if exercise.right:
            yield about


def _why_nothing(path: Path) -> str:
    """Why nothing was read in a file, as the end of a sentence."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return "isn't a file of its own"
    too_large = found.st_size > SMALL_TEXT
    return f"has more than {SMALL_TEXT:,} bytes" if too_large else "is empty, or can't be read"


def parsed(student: str, text: str, ids: Mapping[str, str]) -> list[CheckRequest]:
    """The requests in a text; `ids` has the check or exercise for each name that may begin one."""
    found: list[tuple[str, list[str]]] = []
    # looked up, since a file may have many thousand lines
    folded = {name.casefold(): name for name in ids}
    sizes = sorted({len(name) for name in folded}, reverse=True)
    for line in text.splitlines():
        stripped = line.strip().lstrip("-*# ").replace("`", "")
        start = stripped.casefold()
        fitting = (folded[start[:size]] for size in sizes if start[:size] in folded)
        name = next((name for name in fitting if _begins(name, stripped[len(name) :])), "")
        if name:
            found.append((ids[name], [stripped[len(name) :].lstrip(" \t:-–—,;.")]))
        elif found and not _LIKE_A_CHECK.match(stripped):
            found[-1][1].append(line.strip())
        elif line.strip():
            found.append(("", [line.strip()]))
    requests = [CheckRequest(student, about, "\n".join(lines).strip()) for about, lines in found]
    return list(dict.fromkeys(requests))


def _begins(name: str, after: str) -> bool:
    """True if a name with this text after it begins a request about it, however its colon is written."""
    rest = after.strip()
    if not rest or (rest.startswith(":") and not rest.startswith("::")):
        return True
    # an exercise may have an ordinary word as its name
    return "::" in name and not re.match(r"\w", after)


def _escaped(source: str) -> str:
    return source.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
