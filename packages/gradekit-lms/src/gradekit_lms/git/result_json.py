"""A result in the form of Classroom 50, `classroom50/result/v1`.

Its description is schemas/result-v1.schema.json of github.com/foundation50/classroom50. Points there are whole numbers. A result
of which nobody knows the score has 0 of 0 points there.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from gradekit.attempts.rules import AttemptRecord, Shows
from gradekit.page.shown import result_as_shown
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, Status, SubmissionResult
from gradekit_lms.git.store import Fetched

#: if not all points are whole, they are counted in hundredths
_PARTS = 100
_OUTPUT = 1000


def result_document(
    fetched: Fetched,
    record: AttemptRecord,
    results: Mapping[str, SubmissionResult],
    shows: Shows,
    classroom: str,
) -> dict[str, Any]:
    """The document for one hand-in, with no more than its page shows.

    Args:
        results: of each notebook.
        classroom: the course's name.
    """
    graded = could_be_graded(results.values())
    tests = [
        test
        for name, result in results.items()
        for test in _tests(name, result_as_shown(result, shows), len(results))
        if graded
    ]
    score, most = (record.score, record.max_points) if graded else (0.0, 0.0)
    if shows is Shows.EXERCISES:
        score = max(0.0, sum(test[2] for test in tests) - record.penalty)
    values = [score, most, *(points for test in tests for points in test[2:4])]
    parts = 1 if all(float(value).is_integer() for value in values) else _PARTS
    link = fetched.link or commit_link(fetched.remote, fetched.commit)
    handed_in = fetched.handed_in.astimezone(UTC)
    return {
        "schema": "classroom50/result/v1",
        "classroom": classroom or "course",
        "assignment": fetched.assignment,
        "assignment_type": "individual",
        "owner": fetched.student,
        "submission": f"submit/{handed_in:%Y-%m-%dT%H-%M-%SZ}-{fetched.commit[:7]}",
        "commit": link,
        "release": link,
        "review": link,
        "datetime": f"{handed_in:%Y-%m-%dT%H:%M:%SZ}",
        "graded_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": min(round(score * parts), round(most * parts)),
        "max-score": round(most * parts),
        "tests": [
            {
                "test-name": name,
                "passed": passed,
                "score": min(round(earned * parts), round(points * parts)),
                "max-score": round(points * parts),
                **({"output": output} if output else {}),
            }
            for name, passed, earned, points, output in tests
        ],
    }


def could_be_graded(results: Collection[SubmissionResult]) -> bool:
    """False if the score is up to a person: a notebook can't be read, or there is none of the assignment's."""
    without = [result for result in results if result.nothing_graded]
    return len(without) < len(results) and all(result.status == Status.MISSING for result in without)


def commit_link(remote: str, commit: str) -> str:
    """The commit's page, on a host that is reached by https; otherwise the remote and the commit."""
    parts = urlsplit(remote)
    if parts.scheme != "https":
        return f"{remote}#{commit}"
    path = parts.path.rstrip("/").removesuffix(".git")
    return f"https://{parts.netloc}{path}/commit/{commit}"


def _tests(
    notebook: str, result: SubmissionResult, notebooks: int
) -> Iterator[tuple[str, bool, float, float, str]]:
    """Name, whether it passed, score, points and what it says, of each check."""
    for exercise in result.exercises:
        place = f"{notebook}: {exercise.grade_id}" if notebooks > 1 else exercise.grade_id
        for check in exercise.checks:
            name = f"{place}: {check.sentence}" if check.sentence else place
            yield name, check.outcome == CheckOutcome.PASSED, check.earned, check.points, _output(check)


def _output(check: CheckResult) -> str:
    if check.outcome == CheckOutcome.PASSED:
        return ""
    return (check.diagnosis or check.message)[:_OUTPUT]
