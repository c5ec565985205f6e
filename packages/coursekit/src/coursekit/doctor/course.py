"""The course folder: its configuration, its assignments, its gradebook."""

from collections.abc import Iterator
from pathlib import Path

from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from coursekit.checks.reference import Store
from coursekit.course import CourseError, refuse_pattern
from coursekit.doctor.finding import MISSING, NOTE, OK, Finding
from coursekit.grading.folders import RunningCourse
from coursekit.kernels import require_kernel
from coursekit.nbgrader_plugin.bind import require_bound
from coursekit.nbgrader_plugin.run_checks import RunChecks

_CONFIGURATION = "nbgrader_config.py"
_PLUG_IN = "end it with configure(c), from coursekit.nbgrader_plugin import configure"


def examine_course(root: Path) -> Iterator[Finding]:
    """What `root` holds, without changing any of it."""
    try:
        refuse_pattern(root)
        course = RunningCourse.open(root)
    except CourseError as error:
        yield Finding("course", MISSING, str(error), "mend that")
        return
    if not (root / _CONFIGURATION).exists():
        yield Finding("course", MISSING, f"{root} has no {_CONFIGURATION}", "go to the folder of the course")
        return
    if "pre_convert_hook" not in course.config.Autograde:
        yield Finding("course", MISSING, f"{root / _CONFIGURATION} does not plug coursekit in", _PLUG_IN)
        return
    checks = RunChecks(config=course.config)
    try:
        require_kernel(checks.student_kernel)
    except CourseError as error:
        yield Finding("course", MISSING, str(error), "mend that")
    limits = f"{checks.limits.cell_seconds:g} s for a cell, {checks.memory_limit} MiB for a kernel"
    yield Finding("course", OK, f"{course.folders.course_id or 'without course_id'}, {limits}")
    yield from _assignments(course)
    yield _gradebook(course)


def _assignments(course: RunningCourse) -> Iterator[Finding]:
    source = course.root / course.folders.source_directory
    names = sorted({path.parent.name for path in source.glob("*/*.ipynb")})
    if not names:
        yield Finding("assignments", NOTE, f"{source} has none", "`coursekit new 01_my_topic` writes one")
    for name in names:
        assignment = course.assignment(name)
        if not assignment.released_names():
            generate = f"`nbgrader generate_assignment {name} --force`"
            yield Finding("assignment", NOTE, f"{name} was not released", generate)
            continue
        try:
            require_bound(assignment)
            Store.load(assignment.checks)
        except CourseError as error:
            first, *more = str(error).splitlines()
            yield Finding(
                "assignment", MISSING, first + (f" (and {len(more)} more)" if more else ""), "mend that"
            )
        else:
            yield Finding("assignment", OK, f"{name}: every test cell has its checks, and their points agree")


def _gradebook(course: RunningCourse) -> Finding:
    url = course.folders.db_url
    try:
        engine = create_engine(url)
        place = engine.url.render_as_string(hide_password=True)
        if engine.url.database and url.startswith("sqlite") and not Path(engine.url.database).exists():
            return Finding("gradebook", NOTE, "none yet", "`nbgrader generate_assignment` makes it")
        with engine.connect() as connection:
            if "alembic_version" not in inspect(connection).get_table_names():
                return Finding(
                    "gradebook", NOTE, f"{place} is empty", "`nbgrader generate_assignment` fills it"
                )
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            students = connection.execute(text("SELECT count(*) FROM student")).scalar()
    except (SQLAlchemyError, ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        return Finding(
            "gradebook",
            MISSING,
            f"can't be opened: {reason}",
            "look at c.CourseDirectory.db_url, or restore the file from a copy",
        )
    if version != _newest_schema():
        return Finding("gradebook", MISSING, f"{place} is of another nbgrader", "`nbgrader db upgrade`")
    return Finding("gradebook", OK, f"{place}, {students} students")


def _newest_schema() -> str:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", ALEMBIC_DIR)
    return ScriptDirectory.from_config(config).get_current_head()
