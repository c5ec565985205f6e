"""Grades answers that nobody who wrote checks has seen, and counts what the pages say of them.

python tests/course/unseen/measure.py [ASSIGNMENT ...]

NAME.json has answers that were written with nothing in sight but the released notebook. Each has its `fault`, in its
author's words, and `names`: which known mistakes are true of it, as somebody judged who read both. Nothing is tuned on
them: a fault that they show is mended for its kind, and then they are replaced before anything is measured again.
"""

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from gradekit.checks.variants import Alternative, Variant
from gradekit.course import Assignment, Course
from gradekit.session.values import CheckOutcome
from gradekit.verdict.diagnosis import OR
from gradekit_authoring.grade_variants import grade_variants

FOLDER = Path(__file__).parent
COUNTS = (
    "right",
    "accepted",
    "wrong",
    "caught",
    "named",
    "false",
    "half true",
    "not judged",
    "related",
    "mute",
)
_LINE = "{:26}" + "{:>11}" * len(COUNTS)


@dataclass(frozen=True)
class Answer:
    name: str
    cell: str
    source: str
    right: bool
    fault: str
    visible: bool = False  # it passes the visible tests
    names: dict[str, str] = field(default_factory=dict)  # by known mistake: "true", "half true" or "false"

    @property
    def variant(self) -> Variant:
        """A right answer is graded as an alternative, with all exercises that build on it."""
        kind = Alternative if self.right else Variant
        return kind(self.name, self.cell, source=self.source)


def measure(assignment: Assignment, answers: list[Answer], workers: int) -> tuple[Counter[str], list[dict]]:
    """The counts, and for each answer what its page says."""
    by_name = {answer.name: answer for answer in answers}
    counts, pages = Counter[str](), []
    variants = [answer.variant for answer in answers]
    for name, graded in grade_variants(assignment, variants, workers, thorough=False):
        answer = by_name[name]
        checks = [check for exercise in graded.result.exercises for check in exercise.checks]
        failed = [check for check in checks if check.outcome != CheckOutcome.PASSED]
        said = {check.mistake: check.diagnosis for check in failed if check.mistake}
        judged = {names: _judged(answer, names) for names in said}
        counts["right" if answer.right else "wrong"] += 1
        counts["accepted"] += answer.right and not failed
        if not answer.right:
            related = any(check.relation for check in failed)
            counts["caught"] += bool(failed)
            counts["named"] += bool(said)
            counts["related"] += bool(failed and not said and related)
            counts["mute"] += bool(failed and not said and not related)
        counts.update(verdict for verdict in judged.values() if verdict != "true")
        pages.append(
            {
                "name": name,
                "right": answer.right,
                "fault": answer.fault,
                "failed": [f"{check.name}: {check.message} {check.relation}".strip() for check in failed],
                "names": {names: {"said": said[names], "judged": judged[names]} for names in said},
            }
        )
    return counts, pages


def _judged(answer: Answer, names: str) -> str:
    """Of two that are offered, one has to be true."""
    verdicts = {answer.names.get(name, "not judged") for name in names.split(OR)}
    return next(one for one in ("true", "half true", "not judged", "false") if one in verdicts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--answers", type=Path, default=FOLDER, help="the folder with the answers")
    parser.add_argument("--pages", type=Path, help="a folder to write what the pages say")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    course, total = Course(Path(__file__).parents[3]), Counter[str]()
    print(_LINE.format("", *COUNTS))
    for name in options.assignments or sorted(path.stem for path in options.answers.glob("*.json")):
        answers = [Answer(**one) for one in json.loads((options.answers / f"{name}.json").read_text())]
        counts, pages = measure(course.assignment(name), answers, options.workers)
        if options.pages:
            options.pages.mkdir(parents=True, exist_ok=True)
            (options.pages / f"{name}.json").write_text(json.dumps(pages, indent=1, ensure_ascii=False))
        print(_LINE.format(name, *(counts[one] for one in COUNTS)), flush=True)
        total += counts
    print(_LINE.format("all", *(total[one] for one in COUNTS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
