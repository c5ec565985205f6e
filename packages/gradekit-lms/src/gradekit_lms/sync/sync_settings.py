"""The settings of `gradekit lms sync`, `c.LmsSync` in nbgrader_config.py."""

from traitlets import Bool, Dict, Enum, Integer, Unicode
from traitlets.config import Configurable

from gradekit.course import Assignment, CourseError
from gradekit.course.printing import did_you_mean
from gradekit.grading.running_course import RunningCourse
from gradekit_lms.course_settings import require_known
from gradekit_lms.given_files import secret_in
from gradekit_lms.sync import LMS_TOKEN


class LmsSync(Configurable):
    """Which course in Canvas or Moodle belongs to this one, and what is exchanged."""

    product = Enum(("", "canvas", "moodle"), "", help="the LMS").tag(config=True)
    address = Unicode(
        "", help="its address, such as https://canvas.example.edu; the token is sent nowhere else"
    ).tag(config=True)
    course = Integer(0, help="the course's number, in the address of its page").tag(config=True)
    assignments = Dict(
        value_trait=Integer(),
        help="the number of each assignment that is exchanged, in the address of its page",
    ).tag(config=True)
    token_file = Unicode("", help=f"file with the token, unless ${LMS_TOKEN} has it").tag(config=True)
    max_megabytes = Integer(100, min=1, help="size of a file that is downloaded").tag(config=True)
    pages = Bool(True, help="send the feedback page with the score").tag(config=True)
    scale = Bool(False, help="convert scores, where the LMS has other maximum points").tag(config=True)

    @classmethod
    def of(cls, course: RunningCourse) -> "LmsSync":
        """The settings of a course.

        Raises:
            CourseError: one is unknown, missing, or names an assignment that there isn't.
        """
        require_known(cls, course)
        settings = cls(config=course.config)
        for name, example in {
            "product": '"canvas"',
            "address": '"https://canvas.example.edu"',
            "course": "123",
            "assignments": '{"01_intro": 456}',
        }.items():
            if not getattr(settings, name):
                raise CourseError(
                    f"{course.last_file} must say where to exchange: c.LmsSync.{name} = {example}"
                )
        if not settings.address.startswith(("https://", "http://127.0.0.1:")):
            raise CourseError(f"{course.last_file}: c.LmsSync.address must begin with https://")
        names = [assignment.name for assignment in course.layout.assignments()]
        for name in settings.assignments:
            if name not in names:
                raise CourseError(
                    f"{course.last_file}: c.LmsSync.assignments has {name}, which the course doesn't have"
                    f"{did_you_mean(name, names)}"
                )
        return settings

    def token(self, course: RunningCourse, given: str) -> str:
        """The token that was given in the environment, or that of the file.

        Raises:
            CourseError: there is none, or others can read its file.
        """
        token = given.strip() or secret_in(course.root, self.token_file)
        if not token:
            raise CourseError(
                f"{self.product.title()} needs a token: in ${LMS_TOKEN}, or in a file that only you can read, "
                'c.LmsSync.token_file = "token.txt"'
            )
        return token

    def number_of(self, assignment: Assignment) -> int:
        """The number of an assignment in the LMS.

        Raises:
            CourseError: it has none.
        """
        if assignment.name not in self.assignments:
            raise CourseError(
                f"c.LmsSync.assignments has no {assignment.name}: add its number, from the address of its page"
            )
        return int(self.assignments[assignment.name])
