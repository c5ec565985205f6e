"""The command `requests`."""

import argparse
import subprocess
import sys
from typing import TYPE_CHECKING

from gradekit.cli import Commands, course_and_assignments, print_lines
from gradekit.course import CourseError
from gradekit.course.printing import counted, printable, quoted

if TYPE_CHECKING:
    from gradekit_authoring.requests import RequestBook


def add(commands: Commands) -> None:
    requests = commands.add_for_assignments(
        "requests", _requests, "list and answer the requests of students who think that a check is wrong"
    )
    what = requests.add_mutually_exclusive_group()
    what.add_argument(
        "--answer",
        nargs=2,
        metavar=("CHECK", "TEXT"),
        help="answer all requests about this check, as a comment on the students' answers",
    )
    what.add_argument(
        "--uphold",
        nargs=2,
        metavar=("CHECK", "STUDENT"),
        help="write the student's answer as an alternative; when the check accepts it, grade the class again",
    )
    what.add_argument(
        "--close", metavar="STUDENT", help="close this student's requests that don't name a check"
    )


def _requests(options: argparse.Namespace) -> int:
    from gradekit.report.table import was_graded
    from gradekit_authoring.requests import RequestBook

    course, chosen = course_and_assignments(options)
    if not options.assignments:
        chosen = [assignment for assignment in chosen if was_graded(course, assignment)]
    if (options.answer or options.uphold or options.close) and len(options.assignments) != 1:
        raise CourseError("name the assignment that the check is in: gradekit requests ASSIGNMENT …")
    books = [RequestBook(course, assignment) for assignment in chosen]
    if options.answer:
        done = books[0].answer(*options.answer)
        print_lines([f"answered: {', '.join([*done.written, *done.there_before]) or 'nobody'}"])
        if done.left_out:
            print_lines([f"  left open, since there is no graded answer: {', '.join(done.left_out)}"])
        print_lines([_pages(chosen[0].name)])
        return int(bool(done.left_out))
    if options.close:
        closed = books[0].close_unnamed(options.close)
        print_lines([f"closed: {counted(closed, 'request')} of {printable(options.close)}"])
        return 0
    if options.uphold:
        return _uphold(books[0], *options.uphold)
    print_lines([line for book in books for line in book.lines()] or ["Nothing was graded yet."])
    return 0


def _uphold(book: "RequestBook", about: str, student: str) -> int:
    name, path, new = book.uphold(about, student)
    here, there, them = map(quoted, (book.assignment.name, about, student))
    again = f"gradekit requests {here} --uphold {there} {them}"
    answer = f"gradekit requests {here} --answer {there} TEXT"
    if new:
        print_lines(
            [
                f"The answer is the alternative {name} in {path} now. Read it, since the audit runs it outside of the sandbox.",
                f"Then change the check so that it accepts the answer, and run this again: {again}",
            ]
        )
        return 0
    for command in (["audit", book.assignment.name], ["regrade", book.assignment.name]):
        if code := subprocess.run(
            [sys.executable, "-m", "gradekit", *command], cwd=book.course.root
        ).returncode:
            print_lines(
                [
                    f"{command[0]} ended with {code}, so the request is still open.",
                    f"Change the check so that it accepts the answer, then: {again}",
                    f"If the check is right after all, remove the alternative {name} from {path}, and answer: {answer}",
                ]
            )
            return code
    requests = book.about(about)
    book.close(requests, "upheld")
    upheld = ", ".join(dict.fromkeys(request.student for request in requests))
    print_lines([f"upheld for {upheld}", _pages(book.assignment.name)])
    return 0


def _pages(assignment: str) -> str:
    return f"  to update pages: `nbgrader generate_feedback {quoted(assignment)} --force`, then release them"
