"""Grades wrong answers that the known mistakes were not written for, and counts what the page says of them.

python tests/course/unseen/measure.py [ASSIGNMENT ...]

They were written from the text of the exercises alone. Don't tune checks or mistakes on them: write new ones. A name that is
new here has to be judged by a person, in judged.py.
"""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

from answers import Unseen
from judged import TRUE_NAMES

from gradekit.authoring.grade_variants import grade_variants
from gradekit.course import Assignment, Course
from gradekit.verdict.diagnosis import OR

SETS = {
    "00_warm_up": "warm_up",
    "01_positional_encoding": "positional_encoding",
    "02_attention": "attention",
    "03_attention_modules": "attention_modules",
    "04_transformer": "transformer",
    "05_seq2seq": "seq2seq",
    "06_text_recovery": "text_recovery",
    "07_inside_pretrained": "inside_pretrained",
    "08_modern": "modern",
    "09_heads": "heads",
    "10_after_pretraining": "after_pretraining",
}


@dataclass
class Figures:
    """How many of the answers were caught, got a name (or two to choose from), a name or a relation, a false name."""

    answers: int = 0
    caught: int = 0
    named: int = 0
    named_or_related: int = 0
    false: int = 0

    def __str__(self) -> str:
        return (
            f"{self.caught} of {self.answers} caught; {self.named} named, {self.named_or_related} named or related; "
            f"{self.false} with a false name"
        )


def measure(assignment: Assignment, answers: list[Unseen]) -> Figures:
    """Grade the answers, and print what their pages say."""
    figures = Figures()
    by_name = {answer.name: answer for answer in answers}
    for name, graded in grade_variants(assignment, answers, workers=1, thorough=False):
        answer = by_name[name]
        checks = [check for exercise in graded.result.exercises for check in exercise.checks]
        failed = [check for check in checks if check.outcome != "passed"]
        offered = {check.mistake for check in failed if check.mistake}
        related = any(check.relation for check in failed)
        # of two that are offered, one has to be true
        false = {names for names in offered if not set(names.split(OR)) & set(TRUE_NAMES.get(name, ()))}
        figures.answers += 1
        figures.caught += bool(failed)
        figures.named += bool(offered)
        figures.named_or_related += bool(offered or related)
        figures.false += bool(false)
        lost = (
            f"{sum(check.points for check in failed):g} of {sum(check.points for check in checks):g} points"
        )
        print(f"\n{name}: {answer.fault} ({lost})")
        for check in failed:
            print(f"    {check.name}: {check.message} {check.relation}".rstrip())
        for names in sorted(offered):
            said = next(check.diagnosis for check in failed if check.mistake == names)
            print(f"    named {names} ({'false' if names in false else 'true'}): {said}", flush=True)
    print(f"\n{assignment.name}: {figures}\n", flush=True)
    return figures


if __name__ == "__main__":
    course = Course(Path(__file__).parents[3])
    for chosen in sys.argv[1:] or SETS:
        measure(course.assignment(chosen), importlib.import_module(SETS[chosen]).UNSEEN)
