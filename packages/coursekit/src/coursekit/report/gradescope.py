"""A result as Gradescope's autograders report it.

The format is that of gradescope-autograders.readthedocs.io, "Autograder Specifications", "Output format".
"""

from collections.abc import Sequence
from typing import Any

from coursekit.checks.results import STATUSES, CheckResult, SubmissionResult
from coursekit.course import exercise_name


def results_of(results: Sequence[SubmissionResult], score: float, remark: str = "") -> dict[str, Any]:
    """The content of `results.json`.

    Args:
        results: one for each notebook of the submission.
        score: overrides the sum of the tests; written answers and penalties are in it.
        remark: what else is to be said, in words.
    """
    said = [remark, *(STATUSES[result.status] for result in results), *(n for r in results for n in r.notes)]
    return {
        "score": score,
        "execution_time": round(sum(result.seconds for result in results), 3),
        "output": "\n".join(filter(None, said)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _test(f"{number}.{place}", exercise_name(exercise.grade_id), check)
            for number, exercise in enumerate((e for result in results for e in result.exercises), 1)
            for place, check in enumerate(exercise.checks, 1)
        ],
    }


def _test(number: str, exercise: str, check: CheckResult) -> dict[str, Any]:
    mistake = f"Likely mistake: {check.diagnosis}" if check.diagnosis else ""
    why = check.outcome if check.outcome not in ("passed", "failed") else ""
    return {
        "name": f"{exercise}: {check.sentence}",
        "number": number,
        "score": check.earned,
        "max_score": check.points,
        "status": "passed" if check.outcome == "passed" else "failed",
        "output": "\n".join(filter(None, [why, check.message, mistake])),
        "output_format": "text",
        "visibility": "visible",
    }
