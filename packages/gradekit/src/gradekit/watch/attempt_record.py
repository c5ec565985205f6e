"""The record of an attempt that has just been graded, from autograded/ and the gradebook."""

import hashlib
from pathlib import Path

from gradekit.attempts.counted_attempt import is_in_time
from gradekit.attempts.records import AttemptRecord, Attempts, outcomes_of
from gradekit.attempts.rules import AttemptRules, turns
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.page.shown import deadline_of
from gradekit.submission.renamed import is_notebook
from gradekit.verdict.grade import points_of
from gradekit.watch.arrivals import HandIn


def record_of(course: RunningCourse, rules: AttemptRules, hand_in: HandIn) -> AttemptRecord:
    """The record of a hand-in that is in autograded/ and in the gradebook; its page is held at first."""
    assignment, rule = course.assignment(hand_in.assignment), rules.of(hand_in.assignment)
    results = {
        name: course.result(hand_in.student, hand_in.assignment, name) for name in assignment.released_names()
    }
    found = {name: result for name, result in results.items() if result is not None}
    with course.gradebook() as book:
        penalty = book.find_submission(hand_in.assignment, hand_in.student).late_submission_penalty
        deadline = deadline_of(book, hand_in.assignment, hand_in.student)
    late = not is_in_time(rule, hand_in.handed_in, deadline)
    second_chance = late and second_chance_of(course.config) is not None
    earlier = Attempts.load(course.root, hand_in.assignment, hand_in.student).records
    times = sorted({*(record.handed_in for record in earlier), hand_in.handed_in})
    turn = turns(rule, times, deadline)[times.index(hand_in.handed_in)]
    return AttemptRecord(
        handed_in=hand_in.handed_in,
        earned={name: result.earned for name, result in found.items()},
        max_points=sum(sum(points_of(assignment.released(name)).values()) for name in results),
        penalty=penalty or 0.0,
        notebooks={name: outcomes_of(result) for name, result in found.items()},
        due=hand_in.handed_in if second_chance else turn.due,
        second_chance=second_chance,
        digest=digest_of(course.submitted(hand_in.student, hand_in.assignment)),
    )


def digest_of(folder: Path) -> str:
    """A digest of the notebooks in a folder, whatever their names; links are left out.

    Raises:
        OSError: one can't be read.
    """
    notebooks = [file for file in folder.iterdir() if is_notebook(file.name)]
    contents = [file.read_bytes() for file in notebooks if file.is_file() and not file.is_symlink()]
    digests = sorted({hashlib.sha256(content).hexdigest() for content in contents})
    return hashlib.sha256("".join(digests).encode()).hexdigest()
