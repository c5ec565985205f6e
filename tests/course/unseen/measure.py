"""Grades wrong answers that the known mistakes were not written for, and counts what the page says of them.

python tests/course/unseen/measure.py [ASSIGNMENT ...]

They were written from the text of the exercises alone. Don't tune checks or mistakes on them: write new ones.
"""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from answers import Unseen  # noqa: E402

from coursekit.checks.results import CheckResult  # noqa: E402
from coursekit.checks.variants import mistakes_of  # noqa: E402
from coursekit.course import Assignment, Course  # noqa: E402
from coursekit.grade_variants import grade_variants  # noqa: E402

SETS = {"02_attention": "attention", "03_attention_modules": "attention_modules", "05_seq2seq": "seq2seq"}


@dataclass
class Figures:
    """How many of the answers were caught, got a name, got a name or a relation, and got a false name."""

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
    sentences = {mistake.name: mistake.sentence for mistake in mistakes_of(assignment)}
    by_name = {answer.name: answer for answer in answers}
    for name, graded in grade_variants(assignment, answers, workers=1, thorough=False):
        answer = by_name[name]
        checks = [check for exercise in graded.result.exercises for check in exercise.checks]
        failed = [check for check in checks if check.outcome != "passed"]
        names = {check.mistake for check in failed if check.mistake}
        related = [check for check in failed if relation_of(check)]
        false = names - set(answer.true_names)
        figures.answers += 1
        figures.caught += bool(failed)
        figures.named += bool(names)
        figures.named_or_related += bool(names or related)
        figures.false += bool(false)
        lost = (
            f"{sum(check.points for check in failed):g} of {sum(check.points for check in checks):g} points"
        )
        print(f"\n{name}: {answer.fault} ({lost})")
        for check in failed:
            print(f"    {check.name}: {check.message} {relation_of(check)}".rstrip())
        for mistake in sorted(names):
            truth = "false" if mistake in false else "true"
            print(f"    named {mistake} ({truth}): {sentences.get(mistake, '')}", flush=True)
    print(f"\n{assignment.name}: {figures}\n", flush=True)
    return figures


def relation_of(check: CheckResult) -> str:
    return getattr(check, "relation", "")


if __name__ == "__main__":
    course = Course(HERE.parents[2])
    for chosen in sys.argv[1:] or SETS:
        measure(course.assignment(chosen), importlib.import_module(SETS[chosen]).UNSEEN)
