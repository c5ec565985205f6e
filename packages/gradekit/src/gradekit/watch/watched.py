"""A course that is watched, with its current settings: where hand-ins arrive, and everything that grades them."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gradekit.attempts.rules import AttemptRules, Counts
from gradekit.course import Assignment, CourseError, stamp_of
from gradekit.course.files import Stamp, files_stamp
from gradekit.course.kernels import libraries_of
from gradekit.course.printing import quoted
from gradekit.grading.autograde import ClassGrading, GradingOptions
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.task import LocalWorkers, local_workers
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.nbgrader_plugin.steps import RunChecks
from gradekit.watch.arrivals import Submitted
from gradekit.watch.exchange import ExchangeOf, ExchangeSink, ExchangeSource, put_all_back
from gradekit.watch.pipeline import Heard, History, Pipeline
from gradekit.watch.ways import OpensWay, Sink, Way


@dataclass(frozen=True)
class WatchOptions:
    """The options of `gradekit watch`.

    Without `assignments`, all are watched. With `folder`, hand-ins arrive in submitted/ instead of the exchange, and
    with `way`, as a package has it.
    """

    course_dir: Path | None
    assignments: tuple[str, ...]
    folder: bool
    grading: GradingOptions
    way: OpensWay | None = None


class Gradings:
    """The grading of each assignment that is handed in. All of them share their workers."""

    def __init__(self, course: RunningCourse, options: GradingOptions) -> None:
        self._course, self._options = course, options
        self._workers = None if options.scheduler else self._made_workers()
        self._gradings: dict[str, tuple[ClassGrading, Stamp]] = {}

    def _made_workers(self) -> LocalWorkers:
        libraries = libraries_of(self._course.layout.assignments())
        return local_workers(self._options.workers, self._course.layout, libraries)

    def of(self, assignment: Assignment) -> ClassGrading:
        """The grading of an assignment, a new one if its files have changed.

        Raises:
            CourseError: something is wrong in these files.
        """
        stamp = stamp_of(assignment)
        grading, started_with = self._gradings.get(assignment.name, (None, None))
        if grading is None or stamp != started_with:
            self.drop(assignment.name)
            grading = ClassGrading(self._course, assignment, self._options, self._workers)
            grading.require_bound()  # before anything is collected
            self._gradings[assignment.name] = grading, stamp
        return grading

    def is_current(self, assignment: Assignment) -> bool:
        """Whether the files are those that the assignment's grading started with."""
        _, stamp = self._gradings.get(assignment.name, (None, None))
        return stamp == stamp_of(assignment)

    def drop(self, name: str) -> None:
        """Close a grading, if there is one, and end the workers, which may have read its files."""
        if name in self._gradings:
            self._gradings.pop(name)[0].close()
            self._end_workers()

    def close(self) -> None:
        for grading, _ in self._gradings.values():
            grading.close()
        self._gradings.clear()
        self._end_workers()

    def _end_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()


class WatchedCourse:
    """The course, the place where hand-ins arrive, and the pipeline, all with the same settings.

    Raises:
        CourseError: a setting is wrong.
    """

    def __init__(self, course: RunningCourse, options: WatchOptions) -> None:
        self.course, self._options = course, options
        heard = Heard()
        way = self._way(heard)
        self.source, self.sink = way.source, way.sink
        self.rules = AttemptRules(config=course.config)
        plugin = second_chance_of(course.config)
        self.chance = plugin.chance if plugin else None
        if not self.source.keeps_all:
            self._require_exchange_for_rules()
        self.history = History(course, self.source.keeps_all, self.sink)
        self.gradings = Gradings(course, options.grading)
        if options.grading.kernel_name:  # for the writers, too
            course.config.RunChecks.student_kernel = options.grading.kernel_name
        self.pipeline = Pipeline(course, way, self.rules, self.history, heard.sentences)
        self.configuration = self._configuration_stamp()

    def repair(self) -> None:
        """Undo the unfinished steps of a command that was killed."""
        with self.course.alone():
            for assignment in self.course.layout.assignments():
                put_all_back(self.course.folders, assignment.name)

    def assignments(self) -> dict[str, Assignment]:
        """The assignments to watch that exist and have been generated."""
        chosen, generated = self._options.assignments, self.course.assignments()
        return {
            found.name: found
            for found in self.course.layout.assignments()
            if found.name in generated and (not chosen or found.name in chosen)
        }

    def is_chosen(self, assignment: str) -> bool:
        """Whether hand-ins for it are watched, if there is such an assignment."""
        return not self._options.assignments or assignment in self._options.assignments

    def why_unknown(self, assignment: str) -> str:
        """Why an assignment that is not among `assignments` can't be graded."""
        if any(found.name == assignment for found in self.course.layout.assignments()):
            return (
                f"it has not been generated: run `nbgrader generate_assignment {quoted(assignment)} --force`"
            )
        return f"{self.course.layout.source}/ has no such assignment"

    def unknown_rules(self) -> list[str]:
        """Sentences about assignments that have rules or limits, but are not in the course."""
        there = {found.name for found in self.course.layout.assignments()}
        limits = RunChecks(config=self.course.config).per_assignment
        return [
            f"c.{place}.per_assignment has {what} for {name}, but {self.course.layout.source}/ has no such assignment"
            for place, what, names in (
                ("AttemptRules", "rules", self.rules.per_assignment),
                ("RunChecks", "limits", limits),
            )
            for name in names
            if name not in there
        ]

    def reopened(self) -> "WatchedCourse | None":
        """The course with its new settings, if the configuration has changed.

        Raises:
            CourseError: the new configuration is wrong; raised once.
        """
        stamp = self._configuration_stamp()
        if stamp == self.configuration:
            return None
        self.configuration = stamp
        course = RunningCourse.open(self._options.course_dir)
        if not course.plugged_in:
            raise CourseError(f"{course.last_file} no longer ends with configure(c)")
        found = WatchedCourse(course, self._options)
        self.close()
        return found

    def close(self) -> None:
        self.source.close()
        self.gradings.close()

    def _way(self, heard: Heard) -> Way:
        if self._options.way is not None:
            return self._options.way(self.course)
        if self._options.folder:
            place = self.course.root / self.course.folders.submitted_directory
            return Way(Submitted(self._submitted, place=place), Sink())
        log = logging.getLogger(__name__)
        log.handlers, log.propagate = [heard], False
        exchange = ExchangeOf(self.course.config, self.course.folders, log)
        exchange.require_folders()
        return Way(ExchangeSource(exchange), ExchangeSink(exchange))

    def _require_exchange_for_rules(self) -> None:
        """Raise CourseError if a rule needs earlier hand-ins: submitted/ has only the last."""
        rules = [self.rules.of(name) for name in ("", *self.rules.per_assignment)]
        best = any(rule.counts is Counts.BEST for rule in rules)
        for needs, setting in (
            (best, "c.AttemptRules.counts = 'best'"),
            (self.chance, "c.AssignLatePenalties.plugin_class = SecondChance"),
        ):
            if needs:
                raise CourseError(
                    f"{self.course.last_file}: {setting} needs nbgrader's exchange, which keeps all hand-ins: "
                    "remove the line, or watch without --folder"
                )

    def _configuration_stamp(self) -> Stamp:
        return files_stamp({*self.course.files, self.course.root / "nbgrader_config.py"})

    def _submitted(self) -> Iterator[tuple[str, str, Path]]:
        """The submissions in submitted/: student, assignment, folder."""
        for name in self.assignments():
            for student in self.course.handed_in(name):
                yield student, name, self.course.submitted(student, name)
