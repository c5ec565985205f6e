"""The way by Git: the source of hand-ins that were fetched, and the sink for results and pages."""

import json
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gradekit.attempts import AttemptRecord, Shows
from gradekit.course import CourseError
from gradekit.course.printing import counted, quoted
from gradekit.grading.running_course import RunningCourse
from gradekit.page.check_table import result_as_shown
from gradekit.session.values import CheckOutcome
from gradekit.verdict.results import CheckResult, Status, SubmissionResult, score_in_words
from gradekit_git.looking import assignments_in
from gradekit_git.roster import read_roster
from gradekit_git.settings import GitHandIns, job_for
from gradekit_git.store import Fetched, GitStore, Outgoing
from gradekit_watch.course_settings import WayJob
from gradekit_watch.hand_in_store import in_utc
from gradekit_watch.way_process import ProcessSource, end_process
from gradekit_watch.ways import HandIn, Look, PageOf, Refusal, Sink, Way

RESULT_FILE = "result.json"
_DELIVER_SECONDS = 120.0
#: if not all points are whole, they are counted in hundredths
_PARTS = 100
_OUTPUT = 1000


def open_way(course: RunningCourse, roster: Path, given: dict[str, str]) -> Way:
    """The way by Git of a course.

    Args:
        given: secrets from the environment.

    Raises:
        CourseError: a setting or the roster is wrong.
    """
    settings = GitHandIns.of(course)
    roster = roster.absolute()
    read_roster(
        roster,
        settings.branch,
        settings.protocols,
        assignments_in(course.root / course.folders.source_directory),
    )
    if shutil.which("git") is None:
        raise CourseError("hand-ins by Git need git, which is not installed")
    store = GitStore(course.root)
    jobs = {mode: job_for(course, settings, roster, mode, given) for mode in ("watch", "once", "deliver")}
    reports = bool(settings.report)
    return Way(GitSource(course, store, jobs, reports), GitSink(course, store, settings.returned, reports))


class GitSource(ProcessSource[Fetched]):
    """Hand-ins that the process that fetches has stored.

    Args:
        reports: whether results are sent somewhere else.
    """

    module, what = "gradekit_git.fetching", "repositories"
    ended = "could not be fetched, since the process for this ended"
    corrected = " and {}"

    def __init__(
        self, course: RunningCourse, store: GitStore, jobs: Mapping[str, WayJob], reports: bool = False
    ) -> None:
        super().__init__(course, store, jobs)
        self._store, self._reports = store, reports
        self.place = Path(jobs["watch"].roster)
        self._once = False

    def start(self, once: bool) -> None:
        self._once = once
        if not once:
            return super().start(once)
        if code := self._started("once").wait():
            raise CourseError(f"the repositories could not be fetched ({code}): see {self._store.log}")

    def close(self) -> None:
        super().close()
        if self._once and self._reports and self._store.outgoing():
            process = self._started("deliver")
            try:
                process.wait(_DELIVER_SECONDS)
            except subprocess.TimeoutExpired:
                end_process(process)  # what is left is sent by the next command

    def look(self) -> Look:
        look = super().look()
        if self._store.not_sent.is_dir() and (count := len(list(self._store.not_sent.iterdir()))):
            place, outbox = quoted(self._store.not_sent), quoted(self._store.outbox)
            reason = (
                f"refused by the host: see {self._store.log}; to send again what it takes now, "
                f"`mv {place}/* {outbox}`"
            )
            look.refused.append(Refusal(self.place, reason, name=counted(count, "result")))
        return look

    def _hand_in(self, folder: Path, kept: Fetched) -> HandIn:
        return replace(super()._hand_in(folder, kept), left_out=kept.left_out)

    def accepting(self, hand_in: HandIn) -> str:
        fetched = self._store.at(hand_in.student, hand_in.assignment, hand_in.handed_in)
        before = fetched.not_before if fetched else None
        since = f"it was not there yet at {in_utc(before)}; " if before else ""
        return since + super().accepting(hand_in)


class GitSink(Sink):
    """Results and pages, in a folder for each commit; they are told to the host, if that is set."""

    done = "returned"

    def __init__(self, course: RunningCourse, store: GitStore, returned: str, report: bool = False) -> None:
        self._course, self._store, self._report = course, store, report
        self._returned = course.root / returned

    def complete(self, page: PageOf) -> None:
        fetched = self._fetched(page)
        if fetched is None:
            return  # the instructor has collected it in another way
        names = self._course.assignment(page.assignment).released_names()
        results = {name: self._course.result(page.student, page.assignment, name) for name in names}
        graded = {name: result for name, result in results.items() if result is not None}
        document = result_document(fetched, page.record, graded, page.shows, self._course.folders.course_id)
        (page.pages / RESULT_FILE).write_text(
            json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    def release(self, page: PageOf) -> None:
        fetched = self._fetched(page)
        if fetched is None or not (page.pages / RESULT_FILE).is_file():
            return
        place = self._returned / page.student / page.assignment / fetched.commit
        self._store.show([*page.pages.glob("*.html"), page.pages / RESULT_FILE], place)
        if self._report:
            document = json.loads((place / RESULT_FILE).read_text(encoding="utf-8"))
            score, most = document["score"], document["max-score"]
            graded = bool(most or not page.record.max_points)
            text = "it could not be graded, see the page"
            if graded:
                scale = page.record.max_points / most if most else 1.0
                text = score_in_words(round(score * scale, 2), page.record.max_points)
            if fetched.left_out:
                text += f"; {len(fetched.left_out)} files were left out, see the page"
            right = graded and score >= most
            outgoing = Outgoing(fetched.remote, fetched.commit, page.assignment, right, text)
            self._store.post(f"{page.student}\0{page.assignment}\0{fetched.commit}", outgoing)

    def _fetched(self, page: PageOf) -> Fetched | None:
        return self._store.at(page.student, page.assignment, page.record.handed_in)


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
