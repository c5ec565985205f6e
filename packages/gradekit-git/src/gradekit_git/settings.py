"""The settings of hand-ins by Git, `c.GitHandIns` in nbgrader_config.py."""

from pathlib import Path
from typing import Any

from traitlets import Bool, Enum, Float, Integer, List, Unicode
from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.grading.running_course import RunningCourse
from gradekit_git import TOKEN, WEBHOOK_SECRET
from gradekit_watch.course_settings import (
    WayJob,
    job_values,
    require_inside,
    require_listen,
    secret_in,
    settings_of,
)


class GitHandIns(Configurable):
    """How repositories are fetched, and how results are returned."""

    interval = Float(60.0, min=1.0, help="seconds between two looks at a repository").tag(config=True)
    branch = Unicode("main", help="the branch that is fetched, where the roster names none").tag(config=True)
    protocols = List(Unicode(), ["https", "ssh"], help="protocols that remotes may have").tag(config=True)
    max_megabytes = Integer(50, min=1, help="size of the newest commit as it is sent, and of a hand-in").tag(
        config=True
    )
    max_total_megabytes = Integer(500, min=1, help="size of all hand-ins of a student").tag(config=True)
    max_files = Integer(1000, min=1, help="files of a hand-in").tag(config=True)
    seconds = Integer(60, min=1, help="the longest that a fetch may take").tag(config=True)
    at_once = Integer(4, min=2, help="repositories that are fetched at a time").tag(config=True)
    host = Unicode(
        "", help="where the token is sent, such as https://github.com; it is sent nowhere else"
    ).tag(config=True)
    token_file = Unicode("", help=f"file with the token, unless ${TOKEN} has it").tag(config=True)
    report = Enum(
        ("", "github", "gitlab", "forgejo"), "", help="the kind of host that is told results of commits"
    ).tag(config=True)
    report_public = Bool(False, help="also tell results where everybody can read the repository").tag(
        config=True
    )
    returned = Unicode("returned", help="folder of the course for results and pages").tag(config=True)
    webhook = Unicode("", help="address and port for webhooks, such as 127.0.0.1:8765").tag(config=True)
    webhook_secret_file = Unicode(
        "", help=f"file with the webhooks' secret, unless ${WEBHOOK_SECRET} has it"
    ).tag(config=True)

    @classmethod
    def of(cls, course: RunningCourse) -> "GitHandIns":
        """The settings of a course.

        Raises:
            CourseError: one is unknown, or two don't belong together.
        """
        settings = settings_of(cls, course)
        for name in ("report", "token_file"):
            if getattr(settings, name) and not settings.host.startswith(("https://", "http://127.0.0.1:")):
                raise CourseError(
                    f"{course.last_file}: c.GitHandIns.{name} needs the host that the token is for: "
                    'c.GitHandIns.host = "https://…"'
                )
        require_inside(cls, course, settings.returned)
        if settings.webhook:
            require_listen(cls, course, "webhook", settings.webhook)
        return settings


class Job(WayJob, frozen=True):
    """What the process that fetches needs to know. It gets it on its standard input, where nobody else can read it.

    Args:
        mode: "watch" until the parent ends, "once" for one look at each repository, "deliver" for results only.
    """

    mode: str
    interval: float
    branch: str
    protocols: list[str]
    max_files: int
    seconds: int
    at_once: int
    host: str
    report: str
    report_public: bool
    webhook: str
    token: str
    webhook_secret: str

    def __repr__(self) -> str:  # a log must not have the token
        return f"Job({self.root!r}, {self.mode!r})"


def job_for(
    course: RunningCourse, settings: GitHandIns, roster: Path, mode: str, secrets: dict[str, str]
) -> Job:
    """The job for a course, with its secrets.

    Raises:
        CourseError: a secret is missing, or others can read its file.
    """
    token = secrets.get(TOKEN) or secret_in(course.root, settings.token_file)
    webhook_secret = secrets.get(WEBHOOK_SECRET) or secret_in(course.root, settings.webhook_secret_file)
    if settings.report and not token:
        raise CourseError(f"c.GitHandIns.report needs a token: in ${TOKEN}, or c.GitHandIns.token_file")
    if token and not settings.host:
        raise CourseError("the token is sent only to its host, which is missing: c.GitHandIns.host = …")
    if settings.webhook and len(webhook_secret) < 16:
        raise CourseError(
            f"c.GitHandIns.webhook needs a secret of at least 16 characters: in ${WEBHOOK_SECRET}, or "
            "c.GitHandIns.webhook_secret_file"
        )
    shared = set(Job.__struct_fields__).intersection(GitHandIns.class_trait_names(config=True))
    values: dict[str, Any] = {name: getattr(settings, name) for name in shared}
    values |= job_values(course, settings, roster)
    return Job(**values, mode=mode, token=token, webhook_secret=webhook_secret)
