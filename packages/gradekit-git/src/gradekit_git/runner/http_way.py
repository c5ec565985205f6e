"""The way by HTTP: the source of hand-ins that were taken; results and pages go where those of Git go."""

from pathlib import Path

from traitlets import Integer, Unicode
from traitlets.config import Configurable

from gradekit.grading.running_course import RunningCourse
from gradekit_git.looking import assignments_in
from gradekit_git.runner.keys import read_keys
from gradekit_git.store import GitStore
from gradekit_git.way import GitSink, GitSource
from gradekit_watch.course_settings import WayJob, job_values, require_inside, require_listen, settings_of
from gradekit_watch.hand_in_store import StoredSource
from gradekit_watch.ways import Way

STORE = "http"


class HttpHandIns(Configurable):
    """Where hand-ins by HTTP are taken, and how many."""

    listen = Unicode("127.0.0.1:8767", help="address and port").tag(config=True)
    max_megabytes = Integer(20, min=1, help="size of a hand-in").tag(config=True)
    max_total_megabytes = Integer(500, min=1, help="size of all hand-ins of a student").tag(config=True)
    returned = Unicode("returned", help="folder of the course for results and pages").tag(config=True)

    @classmethod
    def of(cls, course: RunningCourse) -> "HttpHandIns":
        """The settings of a course.

        Raises:
            CourseError: one is unknown or wrong.
        """
        settings = settings_of(cls, course)
        require_inside(cls, course, settings.returned)
        require_listen(cls, course, "listen", settings.listen)
        return settings


class HttpJob(WayJob, frozen=True):
    """What the process that takes hand-ins needs to know."""

    returned: str
    listen: str


def open_http_way(course: RunningCourse, keys: Path) -> Way:
    """The way by HTTP of a course.

    Raises:
        CourseError: a setting or the file with the keys is wrong.
    """
    settings = HttpHandIns.of(course)
    read_keys(keys.absolute(), assignments_in(course.root / course.folders.source_directory))
    values = job_values(course, settings, keys.absolute())
    job = HttpJob(**values, returned=str(course.root / settings.returned), listen=settings.listen)
    store = GitStore(course.root, STORE)
    return Way(HttpSource(course, store, job), GitSink(course, store, settings.returned))


class HttpSource(GitSource):
    """Hand-ins that the process that listens has stored."""

    module, what = "gradekit_git.runner.serving", "hand-ins by HTTP"
    ended = "can't be taken, since the process for this ended"
    corrected = StoredSource.corrected

    def __init__(self, course: RunningCourse, store: GitStore, job: HttpJob) -> None:
        super().__init__(course, store, {"watch": job, "deliver": job})

    def start(self, once: bool) -> None:
        """Listen; with `once`, what was taken before is all there is."""
        if not once:
            super().start(once)
