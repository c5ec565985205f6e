"""No advice that fails: every command that a message names exists, and was run in the situation that the message is about.

`ADVICE` has an entry for each. A new message fails the first test until it has one, too.
"""

import ast
import re
import shlex
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import pytest

from gradekit.cli import _parser

from .needs import mostly_thorough
from .tiny_course import RIGHT, TinyCourse

PACKAGES = Path(__file__).parents[2]
#: a file of gradekit is named by its path in it, and others by that in their package's sources
SOURCES = (
    PACKAGES / "gradekit/src/gradekit",
    PACKAGES / "sandbox-kernel/src/sandbox_kernel",
    *sorted(PACKAGES.glob("gradekit-*/src")),
)
#: the tests of the packages that depend on gradekit
GIT = "../../gradekit-git/tests"
LMS = "../../gradekit-lms/tests"
AUTHORING = "../../gradekit-authoring/tests"
WATCH = "../../gradekit-watch/tests"
WRITTEN = "../../gradekit-written/tests"
INTEGRITY = "../../gradekit-integrity/tests"
#: a command in backticks, at the end of a line after a colon, the whole of a string, or on an indented line of its own
COMMAND = re.compile(
    r"`((?:gradekit|nbgrader|pip|make|jupyter|source|apt-get|dnf) [^`]*)`"
    r"|: (nbgrader generate_feedback [^`]*|gradekit (?:report|comment) [^`]*)$"
    r"|\A((?:gradekit|nbgrader) [a-z_]+(?: \{\}| --\w+)+)\Z"
    r"|^ {4}((?:gradekit|nbgrader) [a-z]+ \S.*?)(?: +#.*)?$",
    re.MULTILINE,
)


def text_of(node: ast.expr) -> str:
    """The text of a string, with `{}` for the values of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def messages(tree: ast.Module) -> Iterator[str]:
    """All strings but docstrings."""
    parts, documentation = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in ast.walk(node)} - {id(node)}
        elif isinstance(node, ast.Expr):
            documentation.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts | documentation:
            yield text_of(node)


@cache
def advice() -> frozenset[tuple[str, str]]:
    """Every command in a message, with the module that it is in."""
    return frozenset(
        (str(path.relative_to(source)), next(filter(None, found.groups())).strip())
        for source in SOURCES
        for path in source.rglob("*.py")
        if "template" not in path.parts
        for text in messages(ast.parse(path.read_text()))
        for found in COMMAND.finditer(text)
    )


# ------------------------------------------------------------------------------------------------ situations


@dataclass(frozen=True)
class Situation:
    """What leads to a message: something that happens to a course, and the command that says it.

    The command in the message is run as it is printed, with the name of the assignment for NAME, ASSIGNMENT and the like.
    Then the first command must not say this any more.
    """

    happens: Callable[[TinyCourse], object]
    command: str
    course: str = "generated"


@dataclass(frozen=True)
class Elsewhere:
    """The test, by file and name, that runs this command in this situation."""

    test: str


@dataclass(frozen=True)
class NotRun:
    """Why the command can't be run in a test; only that it exists is tested."""

    why: str


def nothing(course):
    """It is like this from the start."""


def no_release(course):
    shutil.rmtree(course.root / "release")


def no_gradebook(course):
    (course.root / "gradebook.db").unlink()


def empty_gradebook(course):
    no_gradebook(course)
    (course.root / "gradebook.db").touch()


def not_in_gradebook(course):
    with course.gradebook() as gradebook:
        gradebook.remove_assignment("01_double")
        gradebook.add_assignment("00_other")


def older_gradebook(course):
    with sqlite3.connect(course.root / "gradebook.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '167914646830'")
        database.execute("ALTER TABLE student DROP COLUMN lms_user_id")


def other_points(course):
    """The instructor changed points in source/ and in the checks, and has not released them yet."""
    course.checks.write_text(course.checks.read_text().replace("@points(4)", "@points(5)"))
    change(course, lambda notebook: notebook.cells[2].metadata.nbgrader.update(points=11))
    course.hand_in("ada", course.answer(RIGHT))


def another_cell(course):
    def add(notebook):
        cell = notebook.cells[-1].copy()
        cell["id"], cell.metadata = "more", nbformat.from_dict(dict(cell.metadata))
        cell.metadata.nbgrader.grade_id = "more"
        notebook.cells.append(cell)

    change(course, add)


def other_points_and_another_cell(course):
    other_points(course)
    another_cell(course)
    (course.root / "graded.txt").unlink(missing_ok=True)


def change(course, edit):
    path = course.root / "source/01_double/double.ipynb"
    notebook = nbformat.read(path, as_version=4)
    edit(notebook)
    course.write_source(notebook)


def handed_in(course):
    notebook = course.answer(RIGHT)
    notebook.cells[-1].source = "My own words."
    course.hand_in("ada", notebook)


def handed_in_without_release(course):
    handed_in(course)
    no_release(course)


def no_row(course):
    """Somebody has removed one grade from the database."""
    with course.gradebook() as gradebook:
        gradebook.db.delete(gradebook.find_grade("test_double", "double", "01_double", "right"))
        gradebook.db.commit()


def no_records(course):
    (course.checks.parent / "reference.safetensors").unlink()
    course.hand_in("ada", course.answer(RIGHT))


def damaged_records(course):
    (course.checks.parent / "reference.safetensors").write_bytes(b"nothing")
    course.hand_in("ada", course.answer(RIGHT))


def misread_deadline(course):
    from datetime import datetime

    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment("01_double", duedate=datetime(2026, 7, 9, 23, 55, 40))


def other_version(course):
    """A student was graded before gradekit was updated."""
    path = course.root / "autograded/right/01_double/double.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["gradekit"]["schema"] = 0
    path.chmod(0o644)
    nbformat.write(notebook, path)


GENERATE = "nbgrader generate_assignment {} --force"
#: by module and command; several entries if several commands of a module give the advice
ADVICE: dict[tuple[str, str], Situation | Elsewhere | NotRun | tuple[Situation | Elsewhere, ...]] = {
    ("course/__init__.py", GENERATE): Situation(handed_in_without_release, "nbgrader autograde 01_double"),
    ("course/__init__.py", "gradekit record {}"): Situation(damaged_records, "gradekit autograde"),
    ("checks/reference.py", "gradekit record {}"): Situation(no_records, "gradekit autograde"),
    ("gradekit_authoring/audit.py", "gradekit record {}"): Elsewhere(f"{AUTHORING}/test_audit.py"),
    ("grading/running_course.py", GENERATE): Situation(not_in_gradebook, "gradekit autograde 01_double"),
    ("grading/running_course.py", "nbgrader generate_assignment NAME --force"): Situation(
        no_gradebook, "gradekit table"
    ),
    ("cli/autograding.py", "nbgrader generate_assignment NAME --force"): Situation(
        empty_gradebook, "gradekit autograde"
    ),
    ("cli/reporting.py", GENERATE): Situation(not_in_gradebook, "gradekit deadline 01_double"),
    ("cli/reporting.py", "gradekit autograde {} --force"): Elsewhere(
        "test_exchange.py::test_both_grading_commands_deduct_the_same_for_lateness"
    ),
    ("gradekit_authoring/cli/changing.py", GENERATE): Situation(
        not_in_gradebook, "gradekit revise 01_double"
    ),
    ("gradekit_authoring/cli/changing.py", "gradekit autograde {} --force"): Elsewhere(
        f"{AUTHORING}/test_revise.py::test_what_people_wrote_stays_when_the_submissions_are_graded_again"
    ),
    ("gradekit_authoring/cli/changing.py", "nbgrader generate_assignment"): NotRun(
        "what the command replaces"
    ),
    ("cli/reporting.py", "gradekit autograde"): Situation(handed_in, "gradekit report"),
    ("gradekit_written/cli.py", "gradekit autograde"): Situation(
        handed_in, "gradekit deal 01_double --to a,b"
    ),
    ("cli/reporting.py", "nbgrader generate_feedback {} --force"): NotRun(
        "test_comment.py writes the comments"
    ),
    ("gradekit_written/cli.py", "gradekit report {}"): NotRun("test_deal.py deals"),
    ("gradekit_authoring/cli/authoring.py", "gradekit record {}"): Elsewhere(f"{AUTHORING}/test_new.py"),
    ("gradekit_authoring/cli/authoring.py", "gradekit audit {}"): Elsewhere(f"{AUTHORING}/test_new.py"),
    ("gradekit_authoring/cli/authoring.py", "gradekit new NAME"): Elsewhere(f"{AUTHORING}/test_new.py"),
    ("gradekit_authoring/cli/authoring.py", "gradekit adopt"): Elsewhere(f"{AUTHORING}/test_adopt.py"),
    ("gradekit_authoring/cli/authoring.py", "nbgrader autograde"): NotRun("what has always been so"),
    ("grading/grades.py", 'gradekit deadline {} "{}"'): Situation(misread_deadline, "gradekit table"),
    ("grading/grades.py", "gradekit deadline {} TIME"): Elsewhere(
        "test_deadlines.py::test_the_command_sets_and_shows_deadlines_and_extensions"
    ),
    **dict.fromkeys(
        [
            ("cli/autograding.py", "gradekit regrade {}"),
            ("cli/autograding.py", "gradekit regrade {} --dry-run"),
        ],
        Elsewhere(
            "test_course_folders.py::test_what_nbgrader_graded_itself_keeps_its_scores_until_it_is_regraded"
        ),
    ),
    ("grading/write.py", "nbgrader db student add {}"): Elsewhere(
        "test_course_folders.py::test_a_student_who_may_not_be_added_is_graded_when_added_as_advised"
    ),
    ("grading/grades.py", "nbgrader db student add {}"): Elsewhere(
        "test_advice.py::test_a_student_who_is_added_as_advised_gets_the_extension"
    ),
    ("nbgrader_plugin/bind.py", GENERATE): Situation(other_points, "gradekit autograde"),
    ("nbgrader_plugin/bind.py", "gradekit revise {}"): Situation(
        other_points_and_another_cell, "gradekit autograde", "graded_class"
    ),
    ("nbgrader_plugin/generating.py", "gradekit revise {}"): Situation(
        another_cell, "nbgrader generate_assignment 01_double --force", "graded_class"
    ),
    ("nbgrader_plugin/steps.py", "gradekit revise {}"): Situation(
        no_row, "gradekit autograde", "graded_class"
    ),
    ("nbgrader_plugin/course_folders.py", "nbgrader db upgrade"): Situation(
        older_gradebook, "gradekit table"
    ),
    ("cli/autograding.py", "gradekit table"): Elsewhere("test_written_answers.py"),
    ("grading/autograde.py", "nbgrader autograde {} --no-execute"): Elsewhere("test_no_execute.py"),
    ("gradekit_watch/hand_in_store.py", "gradekit deadline {} TIME --student {}"): (
        Elsewhere(f"{GIT}/test_git_watch.py"),
        Elsewhere(f"{LMS}/test_lti_watch.py"),
    ),
    ("gradekit_watch/hand_in_store.py", "gradekit deadline ASSIGNMENT TIME --student STUDENT"): (
        Elsewhere(f"{GIT}/test_git_watch.py"),
        Elsewhere(f"{LMS}/test_lti_watch.py"),
    ),
    ("gradekit_watch/hand_in_store.py", "nbgrader db student add {}"): Elsewhere(
        f"{GIT}/test_git_misuse.py::test_a_name_like_one_in_the_gradebook_is_left_to_a_person"
    ),
    ("cli/__init__.py", "gradekit init"): Elsewhere("test_starting.py"),
    ("course/language.py", "gradekit requests"): Elsewhere(f"{AUTHORING}/test_requests.py"),
    ("gradekit_integrity/cli/defend.py", "gradekit defend {}"): Elsewhere(f"{INTEGRITY}/test_defend.py"),
    ("gradekit_integrity/cli/defend.py", "nbgrader generate_feedback {} --force"): Elsewhere(
        f"{INTEGRITY}/test_defend.py"
    ),
    ("gradekit_written/cli.py", "gradekit autograde {}"): Elsewhere(f"{WRITTEN}/test_written.py"),
    ("gradekit_written/cli.py", "gradekit table {}"): (
        Elsewhere(f"{WRITTEN}/test_written.py"),
        Elsewhere(f"{WRITTEN}/test_answers_as_read.py"),
    ),
    ("gradekit_written/written_answers.py", "gradekit autograde"): Elsewhere(
        f"{WRITTEN}/test_answers_as_read.py"
    ),
    ("gradekit_integrity/cli/defend.py", "gradekit viva {}{}"): Elsewhere(f"{INTEGRITY}/test_viva.py"),
    ("gradekit_integrity/cli/defend.py", "gradekit defend {} {} --exercise {}"): Elsewhere(
        f"{INTEGRITY}/test_defend_marking.py"
    ),
    ("gradekit_authoring/cli/answering.py", "gradekit requests {} --uphold {} {}"): Elsewhere(
        f"{AUTHORING}/test_requests.py"
    ),
    ("gradekit_authoring/cli/answering.py", "nbgrader generate_feedback {} --force"): Elsewhere(
        f"{AUTHORING}/test_requests.py"
    ),
    ("gradekit_lms/cli/options_of_watch.py", "gradekit lti"): Elsewhere(f"{LMS}/test_lti_watch.py"),
    ("gradekit_authoring/requests.py", "gradekit autograde"): Situation(
        handed_in, "gradekit requests 01_double"
    ),
    ("gradekit_lms/sync/incoming.py", "nbgrader db student add ID --lms-user-id NUMBER"): Elsewhere(
        f"{LMS}/test_sync.py"
    ),
    ("gradekit_lms/sync/incoming.py", "nbgrader db student import new.csv"): (
        Elsewhere(
            f"{LMS}/test_sync.py::test_a_student_with_a_new_number_is_matched_again_as_advised_and_keeps_the_name"
        ),
        Elsewhere(f"{LMS}/test_sync_misuse.py::test_a_login_like_one_of_the_gradebook_is_not_added_unasked"),
    ),
    ("gradekit_lms/sync/syncing.py", "gradekit autograde {}"): Elsewhere(f"{LMS}/test_sync.py"),
    ("gradekit_lms/sync/syncing.py", "gradekit lms sync"): Elsewhere(f"{LMS}/test_sync.py"),
    ("gradekit_lms/cli/serving_lti.py", "gradekit lti"): Elsewhere(f"{LMS}/test_lti_watch.py"),
    ("gradekit_lms/lti/lti_store.py", "gradekit lti --send {}"): Elsewhere(
        f"{LMS}/test_lti_watch.py::test_a_grade_that_was_not_taken_is_named_until_it_replaces_the_later_one_of_the_lms"
    ),
    ("gradekit_lms/lti/people.py", "gradekit lti --user {} {} {}"): (
        Elsewhere(f"{LMS}/test_lti_launch.py::test_who_a_user_is_stays_and_must_be_certain"),
        Elsewhere(
            f"{LMS}/test_lti_launch.py::test_a_student_with_a_new_id_in_the_lms_gets_in_again_and_the_old_one_does_not"
        ),
    ),
    ("gradekit_lms/lti/service.py", "gradekit lti"): Elsewhere(
        f"{LMS}/test_lti_launch.py::test_only_the_courses_in_the_settings_may_use_the_tool"
    ),
    ("gradekit_lms/returning.py", "nbgrader generate_feedback {}"): Elsewhere(f"{LMS}/test_return.py"),
    ("gradekit_lms/returning.py", "nbgrader generate_feedback {} --force"): Elsewhere(
        f"{LMS}/test_return.py"
    ),
    ("gradekit_lms/returning.py", "nbgrader zip_collect {} --force"): Elsewhere(f"{LMS}/test_return.py"),
    ("nbgrader_plugin/converters.py", "gradekit autograde %s --force"): Elsewhere("test_leaving.py"),
    ("nbgrader_plugin/converters.py", "nbgrader db student add %s"): Elsewhere("test_leaving.py"),
    ("nbgrader_plugin/course_folders.py", "nbgrader db student add {}"): Elsewhere("test_alike_names.py"),
    ("nbgrader_plugin/course_folders.py", "nbgrader db student remove {} --force"): Elsewhere(
        "test_alike_names.py"
    ),
    ("nbgrader_plugin/collecting.py", "gradekit return {}"): Elsewhere(f"{LMS}/test_return.py"),
    ("report/table.py", "gradekit autograde {} --force"): Elsewhere("test_leaving.py"),
    ("report/table.py", "nbgrader db student add {}"): Elsewhere("test_leaving.py"),
    ("report/table.py", "gradekit autograde {}"): Elsewhere("test_alike_names.py"),
    ("nbgrader_plugin/feedback.py", "gradekit autograde"): Situation(
        other_version, "nbgrader generate_feedback 01_double --force", "graded_class"
    ),
    ("report/class_report.py", "gradekit autograde {}"): Situation(handed_in, "gradekit report 01_double"),
    ("report/class_report.py", "gradekit report {}"): Elsewhere("test_groups.py"),
    ("report/comments.py", "gradekit report ASSIGNMENT"): NotRun("it prints the ids and the checks"),
    ("report/comments.py", 'gradekit comment GROUP "the comment"'): Elsewhere("test_comment.py"),
    ("gradekit_written/deal.py", "gradekit deal"): Elsewhere(f"{WRITTEN}/test_deal.py"),
    ("gradekit_authoring/doctor.py", GENERATE): Situation(no_release, "gradekit doctor"),
    ("gradekit_authoring/doctor.py", "nbgrader generate_assignment NAME --force"): Situation(
        no_gradebook, "gradekit doctor"
    ),
    ("gradekit_authoring/doctor.py", "gradekit report"): NotRun("what an extra is for"),
    ("gradekit_authoring/doctor.py", "gradekit new 01_my_topic"): Elsewhere(f"{AUTHORING}/test_new.py"),
    ("gradekit_authoring/samples.py", GENERATE): Situation(no_release, "gradekit samples 01_double"),
    ("gradekit_authoring/standalone.py", GENERATE): Situation(no_release, "gradekit standalone 01_double"),
    ("gradekit_authoring/mutants/survivors.py", "gradekit audit {}"): Elsewhere(
        f"{AUTHORING}/test_mutants.py"
    ),
    ("gradekit_authoring/earlier.py", "gradekit earlier {}"): Elsewhere(f"{AUTHORING}/test_earlier.py"),
    ("gradekit_authoring/adopt/text.py", "gradekit adopt --write"): Elsewhere(
        f"{AUTHORING}/test_adopt_addition.py"
    ),
    ("gradekit_authoring/adopt/text.py", "gradekit adopt --compare"): Elsewhere(
        f"{AUTHORING}/test_autograder_comparison.py"
    ),
    ("gradekit_authoring/adopt/text.py", "gradekit autograde"): Elsewhere("test_quickstart.py"),
    ("gradekit_authoring/adopt/config_file.py", "nbgrader db upgrade"): Elsewhere("test_gradebook_state.py"),
    ("gradekit_authoring/adopt/survey.py", "nbgrader update {}"): Elsewhere(f"{AUTHORING}/test_adopt.py"),
    ("gradekit_authoring/adopt/autograder_comparison.py", "nbgrader generate_assignment {}"): NotRun(
        "says that it fails, and why"
    ),
    ("gradekit_authoring/adopt/autograder_comparison.py", "gradekit doctor"): Elsewhere(
        f"{AUTHORING}/test_doctor.py"
    ),
    ("gradekit_authoring/new/__init__.py", "gradekit init"): Elsewhere("test_starting.py"),
    ("gradekit_authoring/new/__init__.py", "gradekit adopt --write"): Elsewhere(
        f"{AUTHORING}/test_adopt_addition.py"
    ),
    ("gradekit_authoring/new/__init__.py", "gradekit new NAME"): Elsewhere(f"{AUTHORING}/test_new.py"),
    ("gradekit_authoring/samples.py", "gradekit demo FOLDER"): Elsewhere("test_starting.py"),
    ("gradekit_authoring/doctor.py", "gradekit init"): Elsewhere("test_starting.py"),
    ("cli/help.py", "gradekit help {}"): Elsewhere("test_starting.py"),
    ("gradekit_authoring/cli/learning.py", "nbgrader db student remove {} --force"): Elsewhere(
        f"{AUTHORING}/test_learning.py"
    ),
    ("gradekit_authoring/cli/beginning.py", "gradekit help checks"): Elsewhere("test_starting.py"),
    ("gradekit_authoring/cli/authoring.py", "gradekit help checks"): Elsewhere("test_starting.py"),
    ("gradekit_authoring/cli/beginning.py", "gradekit report"): NotRun("what an extra is for"),
    ("gradekit_authoring/cli/beginning.py", "gradekit doctor"): Elsewhere(f"{AUTHORING}/test_doctor.py"),
    ("gradekit_authoring/doctor.py", "gradekit help sandbox"): Elsewhere("test_starting.py"),
    ("cli/__init__.py", "gradekit help sandbox"): Elsewhere("test_other_systems.py"),
    ("gradekit_authoring/doctor.py", "gradekit help scaling"): Elsewhere("test_starting.py"),
    ("gradekit_lms/claims.py", "nbgrader db student import students.csv"): Elsewhere(
        f"{LMS}/test_collect.py"
    ),
    ("gradekit_lms/claims.py", "nbgrader db student add ID"): Elsewhere(f"{LMS}/test_collect.py"),
    ("gradekit_lms/collector.py", GENERATE): Elsewhere(f"{LMS}/test_collect.py"),
    ("gradekit_lms/exports.py", GENERATE): Situation(
        empty_gradebook,
        "nbgrader export --exporter=gradekit_lms.CanvasExport --to=x.csv --assignment=01_double",
    ),
    ("attempts/__init__.py", "gradekit watch"): Elsewhere(f"{WATCH}/test_watch_best.py"),
    ("gradekit_watch/exchange.py", "nbgrader release_assignment NAME"): Elsewhere("test_exchange.py"),
    ("gradekit_watch/status.py", "gradekit watch --status"): Elsewhere("test_deadlines.py"),
    ("gradekit_watch/exchange.py", "nbgrader collect {} --student={} --update"): Elsewhere(
        "test_exchange.py"
    ),
    ("verdict/tries.py", "gradekit regrade {}"): Elsewhere("test_check_at_fault.py"),
    ("gradekit_watch/waiting.py", GENERATE): Elsewhere(f"{WATCH}/test_watch_gradings.py"),
}
ENTRIES = [
    (module, command, entry)
    for (module, command), found in ADVICE.items()
    for entry in (found if isinstance(found, tuple) else (found,))
]
#: they would change this environment or this machine
FOREIGN = ("pip ", "make ", "jupyter ", "source ", "apt-get ", "dnf ")


def test_each_command_in_a_message_has_a_situation_in_which_it_was_run():
    found = {entry for entry in advice() if not entry[1].startswith(FOREIGN)}
    assert sorted(found - ADVICE.keys()) == [], "new advice: add a situation in which a test runs it"
    assert sorted(ADVICE.keys() - found) == [], "no message says this any more"


def test_the_other_tests_run_the_command_that_they_are_named_for():
    for module, command, entry in ENTRIES:
        if isinstance(entry, Elsewhere):
            file, _, name = entry.test.partition("::")
            text = Path(__file__).parent.joinpath(file).read_text()
            assert f"def {name}" in text, (module, command)
            assert command.split()[1] in text, (module, command)


def test_the_commands_exist_with_their_options():
    """Also those that no test can run."""
    pyproject = tomllib.loads((PACKAGES / "gradekit/pyproject.toml").read_text())
    extras, makefile = (
        pyproject["project"]["optional-dependencies"],
        (PACKAGES.parent / "Makefile").read_text(),
    )
    parser = _parser()
    for _, command in sorted(advice()):
        words = shlex.split(command.replace("{}", "1"))
        if words[0] == "gradekit":
            options = [word for word in words[1:] if word != "--status"] if len(words) > 2 else words[1:]
            with_values = {
                "new": ["new", "1"],
                "comment": ["comment", "1", "2"],
                "deal": ["deal", "1", "--to", "a"],
            }
            parser.parse_args(with_values.get(options[0], options))
        elif words[0] == "make":
            assert f"\n{words[1]}:" in makefile
        elif words[0] == "pip" and "[" in command:
            assert re.search(r"\[(\w+)\]", command)[1] in extras


#: last come those that record and those of the doctor, which take seconds: one of them is an example
STAGED = sorted(
    (row for row in ENTRIES if isinstance(row[2], Situation)),
    key=lambda row: ("record" in row[1]) + 2 * ("doctor" in row[0]),
)
QUICK = sum("record" not in command and "doctor" not in module for module, command, _ in STAGED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "situation"),
    mostly_thorough([row[1:] for row in STAGED], QUICK + 1),
    ids=[f"{module}-{template}" for module, template, _ in STAGED],
)
def test_the_advice_works(request, template, situation):
    course = request.getfixturevalue(situation.course)
    for slow in ("exception", "exits", "loop", "broken"):
        shutil.rmtree(course.root / "submitted" / slow, ignore_errors=True)
    situation.happens(course)
    pattern = re.escape(template).replace(r"\{\}", ".+?").replace("%s", ".+?")
    pattern = re.compile(f"`?({pattern})(?:`|$)", re.MULTILINE)
    said = course.run(*shlex.split(situation.command))
    found = pattern.search(said.stdout + said.stderr)
    assert found, said.stdout + said.stderr
    remedy = [re.sub(r"^(NAME|ASSIGNMENT)$", "01_double", word) for word in shlex.split(found[1])]
    done = course.run(*remedy)
    assert done.returncode == 0, done.stdout + done.stderr
    again = course.run(*shlex.split(situation.command))
    assert not pattern.search(again.stdout + again.stderr), again.stdout + again.stderr
    assert "Traceback" not in again.stderr


def test_a_student_who_is_added_as_advised_gets_the_extension(generated, capsys):
    assert generated.gradekit("deadline", "01_double", "2026-07-09 23:59") == 0
    extend = ("deadline", "01_double", "2026-07-11 12:00", "--student", "zoe")
    assert generated.gradekit(*extend) == 2
    (command,) = re.findall(r"`(nbgrader [^`]+)`", capsys.readouterr().err)
    assert generated.run(*shlex.split(command)).returncode == 0
    assert generated.gradekit(*extend) == 0
