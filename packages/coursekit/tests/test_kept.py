"""Results that are kept: what they depend on, and what becomes of a damaged file."""

import shutil
from collections.abc import Callable
from dataclasses import replace

import nbformat
import pytest
import torch

from coursekit import kept
from coursekit.attempt import Repeats, grade_unless_kept
from coursekit.checks.reference import Store
from coursekit.checks.results import CheckResult, ExerciseResult, SubmissionResult
from coursekit.course import Course, find_cell
from coursekit.kept import Kept, Key, Results, key_of
from coursekit.kernels import LIMITED, SANDBOX
from coursekit.student.limits import Limits

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
BOTH = {"test_double", "test_half"}


def key(course, notebook=None, limits=None, kernel=SANDBOX):
    assignment = Course(course.root).assignment("01_double")
    released = assignment.released("double")
    found = notebook or course.answer(RIGHT, HALF)
    return key_of(assignment, found, "double", released, limits or Limits(), kernel)


def changed(old: Key, new: Key) -> tuple[bool, set[str]]:
    """Whether all of it is to be graded again, and which exercises are on their own."""
    return old.submission != new.submission, {
        n for n in new.exercises if new.exercises[n] != old.exercises[n]
    }


def append(path, text):
    path.write_text((path.read_text() if path.exists() else "") + text)


def alter_reference(course):
    store = Store.load(course.assignment.checks)
    name = next(name for name in store.tensors if "/expected/" in name)
    store.tensors[name] = store.tensors[name] + torch.ones(())
    store.save()


def add_reference_of_another_kind(course):
    store = Store.load(course.assignment.checks)
    name = next(name for name in store.tensors if "/expected/" in name)
    store.tensors[name] = store.tensors[name].reshape(-1)
    store.save()


def alter_release(course):
    path = course.root / "release" / "01_double" / "double.ipynb"
    path.write_text(path.read_text().replace("Twice one is two.", "Twice one is not one."))


def reword_mistake(course):
    path = course.checks.with_name("mistakes.py")
    path.write_text(path.read_text().replace("You detached", "You cut off"))


CHANGES: dict[str, tuple[Callable, tuple[bool, set[str]]]] = {
    "nothing": (lambda course: None, (False, set())),
    "the checks of one exercise": (
        lambda course: append(course.checks.with_name("test_half.py"), "\n# a remark\n"),
        (False, {"test_half"}),
    ),
    "what both exercises' checks share": (
        lambda course: append(course.checks.with_name("conftest.py"), "\n"),
        (False, BOTH),
    ),
    "a helper of the checks": (
        lambda course: append(course.checks.with_name("tools.py"), "x = 1\n"),
        (False, BOTH),
    ),
    "a recorded value": (alter_reference, (False, {"test_double"})),
    "the shape of a recorded value": (add_reference_of_another_kind, (False, {"test_double"})),
    "the sentence of a mistake": (reword_mistake, (False, {"test_double"})),
    "other right answers": (
        lambda course: append(course.checks.with_name("alternatives.py"), "\n"),
        (False, set()),
    ),
    "the release": (alter_release, (True, set())),
    "a file beside the notebook": (
        lambda course: append(course.root / "source" / "01_double" / "data.txt", "1"),
        (True, set()),
    ),
    "notes in the folder of the checks": (
        lambda course: append(course.checks.with_name("notes.txt"), "1"),
        (False, set()),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_has_graded_again_what_depends_on_it(empty_class, name):
    change, expected = CHANGES[name]
    before = key(empty_class)
    change(empty_class)
    assert changed(before, key(empty_class)) == expected


def test_limits_and_kernel_belong_to_the_key(empty_class):
    before = key(empty_class)
    assert changed(before, key(empty_class, limits=Limits(cell_seconds=31))) == (True, set())
    assert changed(before, key(empty_class, kernel=LIMITED)) == (True, set())


def test_versions_belong_to_the_key(empty_class, monkeypatch):
    before = key(empty_class)
    monkeypatch.setattr(kept, "versions", lambda: ["3.99"])
    assert changed(before, key(empty_class)) == (True, set())


def test_of_the_submission_only_sources_marks_and_tags_count(empty_class):
    before = key(empty_class)
    same = empty_class.answer(RIGHT, HALF)
    same.metadata["coursekit"] = {"status": "graded"}
    same.metadata["kernelspec"] = {"name": "other"}
    cell = find_cell(same, "double")
    cell.outputs = [nbformat.v4.new_output("stream", text="noise")]
    cell.execution_count = 7
    assert changed(before, key(empty_class, same)) == (False, set())
    for source in (RIGHT + " ", RIGHT.replace("2 * x", "x + x")):
        assert changed(before, key(empty_class, empty_class.answer(source, HALF))) == (True, set())
    tagged = empty_class.answer(RIGHT, HALF)
    find_cell(tagged, "double").metadata["tags"] = ["demo"]
    assert changed(before, key(empty_class, tagged)) == (True, set())


def test_the_place_of_the_course_does_not_count(empty_class, tmp_path):
    before = key(empty_class)
    shutil.move(empty_class.root, tmp_path / "moved")
    empty_class.root = tmp_path / "moved"
    assert changed(before, key(empty_class)) == (False, set())


def made_up(key: Key) -> Kept:
    exercises = [
        ExerciseResult(name, [CheckResult("test_it", "It.", 3, "passed")], digest)
        for name, digest in key.exercises.items()
    ]
    return Kept(SubmissionResult("graded", exercises=exercises, key=key.submission), {1: [{"text": "1"}]})


KEY = Key("abc", {"test_a": "1", "test_b": "2"})


def test_what_was_kept_is_found_again(tmp_path):
    results = Results(tmp_path)
    assert results.find("01", KEY).missing(KEY) == ["test_a", "test_b"]
    results.keep("01", KEY, made_up(KEY))
    assert results.find("01", KEY) == made_up(KEY)
    assert results.find("02", KEY) == results.find("01", replace(KEY, submission="abd")) == Kept()
    assert results.find("01", KEY).missing(replace(KEY, exercises={"test_a": "1", "test_b": "3"})) == [
        "test_b"
    ]


@pytest.mark.parametrize(
    "damage", [lambda text: text[: len(text) // 2], lambda _: "", lambda _: "[]", lambda _: "{}"]
)
def test_a_damaged_file_counts_as_nothing_and_is_written_anew(tmp_path, damage):
    results = Results(tmp_path)
    results.keep("01", KEY, made_up(KEY))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damage(path.read_text()))
    assert results.find("01", KEY) == Kept()
    results.keep("01", KEY, made_up(KEY))
    assert results.find("01", KEY) == made_up(KEY)


def test_no_other_file_is_left_after_keeping(tmp_path):
    Results(tmp_path).keep("01", KEY, made_up(KEY))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_graded_exercise_is_put_beside_those_that_were_kept():
    newer_key = replace(KEY, exercises={"test_a": "1", "test_b": "3"})
    newer = made_up(newer_key)
    newer.result.exercises = [newer.result.exercises[1]]
    newer.result.exercises[0].checks[0].outcome = "timed out"
    newer.result.status = "timed out"
    both = made_up(KEY).with_newer(newer, newer_key)
    assert [exercise.grade_id for exercise in both.result.exercises] == ["test_a", "test_b"]
    assert (both.result.earned, both.result.status) == (3, "timed out")
    assert both.missing(newer_key) == []
    mended = made_up(newer_key)
    mended.result.exercises = [mended.result.exercises[1]]
    assert both.with_newer(mended, newer_key).result.status == "graded"


def test_grading_takes_what_is_kept_and_gives_the_cells_their_outputs(empty_class):
    assignment = empty_class.assignment
    released = assignment.released("double")
    results = Results(empty_class.root)

    def grade(fresh=False):
        notebook = empty_class.answer("print('hello')\n" + RIGHT, HALF)
        usable = (lambda kept: False) if fresh else (lambda kept: True)
        found = grade_unless_kept(
            results, assignment, notebook, "double", released, Limits(), SANDBOX, Repeats(), usable
        )
        return found, find_cell(notebook, "double").outputs, empty_class.gradings()

    first, outputs, graded = grade()
    assert (first.earned, set(graded)) == (15, BOTH)
    assert "hello" in outputs[0]["text"]
    assert grade() == (first, outputs, {})
    append(empty_class.checks.with_name("test_half.py"), "\n")
    second, outputs, graded = grade()
    assert (second.earned, graded, outputs[0]["text"]) == (15, {"test_half": 1}, "hello\n")
    assert set(grade(fresh=True)[2]) == BOTH
