"""What the settings of all ways have in common: a misspelt one, or one that can't be used, gets a sentence."""

from pathlib import Path

from traitlets.config import Configurable

from gradekit.course import CourseError
from gradekit.course.printing import did_you_mean
from gradekit.grading.running_course import RunningCourse


def require_known(cls: type[Configurable], course: RunningCourse) -> None:
    """Raise CourseError if a setting is unknown."""
    known = cls.class_trait_names(config=True)
    for name in course.config.get(cls.__name__, {}):
        if name not in known:
            raise CourseError(
                f"{course.last_file}: there is no setting c.{cls.__name__}.{name}{did_you_mean(name, known)}"
            )


def require_listen(cls: type[Configurable], course: RunningCourse, name: str, value: str) -> None:
    """Raise CourseError if a setting isn't an address and a port."""
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise CourseError(
            f'{course.last_file}: c.{cls.__name__}.{name} must be an address and a port, such as "127.0.0.1:8766"'
        )


def require_inside(cls: type[Configurable], course: RunningCourse, name: str) -> None:
    """Raise CourseError if the folder for results isn't one of the course."""
    returned = Path(name)
    if returned.is_absolute() or ".." in returned.parts or returned == Path("."):
        raise CourseError(f"{course.last_file}: c.{cls.__name__}.returned must be a folder of the course")
