"""The result cache: what results depend on, and what happens to a damaged file."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace

import nbformat
import pytest

from gradekit.checks.reference import Store
from gradekit.course import Course
from gradekit.course.cells import find_cell
from gradekit.course.kernels import LIMITED, SANDBOX
from gradekit.grading.running_course import RunningCourse
from gradekit.nbgrader_plugin.course_folders import Stop
from gradekit.nbgrader_plugin.feedback import _result
from gradekit.session.limits import Limits
from gradekit.submission.extra_files import own_files
from gradekit.verdict import result_cache
from gradekit.verdict.opened import GradingJob, HowToRun
from gradekit.verdict.result_cache import CachedResult, CacheKey, ResultCache, key_of
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

from . import one_notebook

torch = pytest.importorskip("torch", reason="torch is not installed")

RIGHT, HALF = "def double(x):\n    return 2 * x", "def half(x):\n    return x / 2"
BOTH = {"test_double", "test_half"}


def key(course, notebook=None, limits=None, kernel=SANDBOX, own=None):
    assignment = Course(course.root).assignment("01_double")
    released = assignment.released("double")
    found = notebook or course.answer(RIGHT, HALF)
    files = own_files(own, assignment.course.ignore) if own else ()
    return key_of(
        GradingJob(assignment, "double", found, released, HowToRun(limits or Limits(), kernel), files)
    )


def changed(old: CacheKey, new: CacheKey) -> tuple[bool, set[str]]:
    """Whether the whole notebook is graded again, and which exercises have changed checks."""
    return old.submission != new.submission, {
        n for n in new.exercises if new.exercises[n] != old.exercises[n]
    }


def append(path, text):
    path.parent.mkdir(exist_ok=True)
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


def split(course, catalogue):
    """Move `mistakes.py` or `alternatives.py` into a folder of this name."""
    folder = course.checks.with_name(catalogue)
    folder.mkdir()
    folder.with_suffix(".py").rename(folder / "double.py")
    return folder / "double.py"


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
    "a package of helpers": (
        lambda course: append(course.checks.with_name("helpers") / "sizes.py", "x = 1\n"),
        (False, BOTH),
    ),
    "a recorded value": (alter_reference, (False, {"test_double"})),
    "the shape of a recorded value": (add_reference_of_another_kind, (False, {"test_double"})),
    "the sentence of a mistake": (reword_mistake, (False, {"test_double"})),
    "known mistakes and other right answers, moved into folders": (
        lambda course: [split(course, "mistakes"), split(course, "alternatives")],
        (False, set()),
    ),
    "other right answers": (
        lambda course: append(course.checks.with_name("alternatives.py"), "\n"),
        (False, set()),
    ),
    "the release": (alter_release, (True, set())),
    "a file beside the notebook": (
        lambda course: append(course.root / "source" / "01_double" / "data.txt", "1"),
        (True, set()),
    ),
    "what pytest reads above the checks": (
        lambda course: append(course.root / "tests" / "conftest.py", "\n"),
        (False, BOTH),
    ),
    "a data file in the folder of the checks": (
        lambda course: append(course.checks.with_name("right.csv"), "1"),
        (False, BOTH),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_regrades_what_depends_on_it(empty_class, name):
    change, expected = CHANGES[name]
    before = key(empty_class)
    change(empty_class)
    assert changed(before, key(empty_class)) == expected


def test_the_sentence_of_a_mistake_in_a_folder_regrades_its_exercise(empty_class):
    path = split(empty_class, "mistakes")
    before = key(empty_class)
    path.write_text(path.read_text().replace("You detached", "You cut off"))
    assert changed(before, key(empty_class)) == (False, {"test_double"})


def test_files_that_students_do_not_get_change_nothing(empty_class):
    folder = empty_class.root / "source" / "01_double" / "data"
    append(folder / "numbers.txt", "1")
    before = key(empty_class)
    append(folder / "module.pyc", "1")
    assert changed(before, key(empty_class)) == (False, set())


def test_limits_and_kernel_belong_to_the_key(empty_class):
    before = key(empty_class)
    assert changed(before, key(empty_class, limits=Limits(cell_seconds=31))) == (True, set())
    assert changed(before, key(empty_class, kernel=LIMITED)) == (True, set())


def test_versions_belong_to_the_key(empty_class, monkeypatch):
    before = key(empty_class)
    monkeypatch.setattr(result_cache, "versions", lambda: {"Python": "3.99"})
    assert changed(before, key(empty_class)) == (True, set())


def test_packages_with_codecs_are_among_the_versions():
    assert {"gradekit", "gradekit_data", "sandbox_kernel"} <= result_cache.versions().keys()


def test_of_the_submission_only_sources_marks_and_tags_count(empty_class):
    before = key(empty_class)
    same = empty_class.answer(RIGHT, HALF)
    same.metadata["gradekit"] = {"status": "graded"}
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


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "tool.sh").chmod(0o755),
        lambda folder: (folder / "magic").mkdir(),
        lambda folder: (folder / "data" / "magic").mkdir(),
        lambda folder: (folder / "data" / "numbers.txt").chmod(0o744),
    ],
)
def test_what_code_sees_of_the_students_own_files_counts_also_without_content(empty_class, tmp_path, change):
    folder = tmp_path / "own"
    append(folder / "tool.sh", "1")
    append(folder / "data" / "numbers.txt", "1")
    before = key(empty_class, own=folder)
    (folder / "tool.sh").touch()
    assert changed(before, key(empty_class, own=folder)) == (False, set())
    change(folder)
    assert changed(before, key(empty_class, own=folder)) == (True, set())


def test_the_place_of_the_course_does_not_count(empty_class, tmp_path):
    before = key(empty_class)
    shutil.move(empty_class.root, tmp_path / "moved")
    empty_class.root = tmp_path / "moved"
    assert changed(before, key(empty_class)) == (False, set())


def made_up(key: CacheKey) -> CachedResult:
    exercises = [
        ExerciseResult(name, [CheckResult("test_it", "It.", 3, "passed")], digest)
        for name, digest in key.exercises.items()
    ]
    return CachedResult(
        SubmissionResult("graded", exercises=exercises, key=key.submission), {1: [{"text": "1"}]}
    )


KEY = CacheKey("abc", {"test_a": "1", "test_b": "2"})


def test_a_stored_result_is_found_again(tmp_path):
    cache = ResultCache(tmp_path)
    assert cache.find("01", KEY).missing(KEY) == ["test_a", "test_b"]
    cache.store("01", KEY, made_up(KEY))
    assert cache.find("01", KEY) == made_up(KEY)
    assert cache.find("02", KEY) == cache.find("01", replace(KEY, submission="abd")) == CachedResult()
    assert cache.find("01", KEY).missing(replace(KEY, exercises={"test_a": "1", "test_b": "3"})) == ["test_b"]


def older(result):
    result["schema"] = 0


def newer(result):
    result |= {"schema": 99, "percentile": 50}


def without_schema(result):
    del result["schema"]


def with_a_field(result):
    result["exercises"][0]["checks"][0]["color"] = "red"


def without_a_field(result):
    del result["exercises"][0]["checks"][0]["message"]


def with_a_wrong_type(result):
    result["exercises"][0]["checks"][0]["points"] = "three"


def with_no_list(result):
    result["exercises"] = 3


def with_an_unknown_status(result):
    result["status"] = "postponed"


CHANGED_RECORDS = [
    *(older, newer, without_schema, with_a_field, without_a_field),
    *(with_a_wrong_type, with_no_list, with_an_unknown_status),
]


@pytest.mark.parametrize("change", CHANGED_RECORDS)
def test_a_record_of_another_version_or_with_other_fields_is_not_used(tmp_path, change):
    cache = ResultCache(tmp_path)
    cache.store("01", KEY, made_up(KEY))
    (path,) = tmp_path.rglob("*.json")
    stored = json.loads(path.read_text())
    change(stored["record"]["result"])
    path.write_text(json.dumps(stored))
    assert cache.find("01", KEY) == CachedResult()
    stored["digest"] = result_cache._digest(stored["record"])  # as another version would have written it
    path.write_text(json.dumps(stored))
    assert cache.find("01", KEY) == CachedResult()
    cache.store("01", KEY, made_up(KEY))
    assert cache.find("01", KEY) == made_up(KEY)


GARBAGE = ["", "[]", "{}", "5", "null", "\0\1", '{"record": 3, "digest": ""}', "[" * 100_000]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_a_file_with_garbage_is_not_used(tmp_path, text):
    cache = ResultCache(tmp_path)
    cache.store("01", KEY, made_up(KEY))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(text)
    assert cache.find("01", KEY) == CachedResult()


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: data.replace(b"1", b"7")]
)
def test_a_damaged_file_is_not_used(tmp_path, damage):
    cache = ResultCache(tmp_path)
    cache.store("01", KEY, made_up(KEY))
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(damage(path.read_bytes()))
    assert cache.find("01", KEY) == CachedResult()


def autograded_with(course, result):
    """An autograded notebook of ann that holds `result`."""
    folder = course.root / "autograded" / "ann" / "01_double"
    folder.mkdir(parents=True)
    notebook = course.answer(RIGHT, HALF)
    notebook.metadata["gradekit"] = result
    nbformat.write(notebook, folder / "double.ipynb")
    return notebook


@pytest.mark.parametrize("change", CHANGED_RECORDS)
def test_an_autograded_notebook_of_another_version_counts_as_not_graded(empty_class, change):
    """A feedback page can't show it, and says which command to run."""
    result = made_up(KEY).result.as_dict()
    change(result)
    notebook = autograded_with(empty_class, result)
    assert RunningCourse.open(empty_class.root).result("ann", "01_double", "double") is None
    with pytest.raises(Stop, match="Run `gradekit autograde`"):
        _result(notebook)


def test_the_result_in_an_autograded_notebook_is_read_as_it_was_written(empty_class):
    notebook = autograded_with(empty_class, made_up(KEY).result.as_dict())
    result = RunningCourse.open(empty_class.root).result("ann", "01_double", "double")
    assert result == _result(notebook) == made_up(KEY).result


@pytest.mark.parametrize("garbage", [5, [], "graded", None, {}, {"schema": 1}])
def test_garbage_in_an_autograded_notebook_counts_as_not_graded(empty_class, garbage):
    autograded_with(empty_class, garbage)
    assert RunningCourse.open(empty_class.root).result("ann", "01_double", "double") is None


def test_storing_on_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        ResultCache(tmp_path).store("01_double", CacheKey("k", {}), CachedResult())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_storing_leaves_no_other_file(tmp_path):
    ResultCache(tmp_path).store("01", KEY, made_up(KEY))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_newly_graded_exercise_joins_those_from_the_cache():
    newer_key = replace(KEY, exercises={"test_a": "1", "test_b": "3"})
    newer = made_up(newer_key)
    newer.result.exercises = [newer.result.exercises[1]]
    newer.result.exercises[0].checks[0].outcome = "timed out"
    newer.result.status = "timed out"
    both = made_up(KEY).updated(newer, newer_key)
    assert [exercise.grade_id for exercise in both.result.exercises] == ["test_a", "test_b"]
    assert (both.result.earned, both.result.status) == (3, "timed out")
    assert both.missing(newer_key) == []
    fixed = made_up(newer_key)
    fixed.result.exercises = [fixed.result.exercises[1]]
    assert both.updated(fixed, newer_key).result.status == "graded"


def test_grading_uses_the_cache_and_fills_in_the_outputs(empty_class):
    assignment = empty_class.assignment
    released = assignment.released("double")
    cache = ResultCache(empty_class.root)

    def grade(fresh=False):
        notebook = empty_class.answer("print('hello')\n" + RIGHT, HALF)
        job = GradingJob(assignment, "double", notebook, released)
        found = one_notebook.grade(job, cache, fresh)
        return found.result, find_cell(notebook, "double").outputs, empty_class.gradings()

    first, outputs, graded = grade()
    assert (first.earned, set(graded)) == (15, BOTH)
    assert "hello" in outputs[0]["text"]
    assert grade() == (first, outputs, {})
    append(empty_class.checks.with_name("test_half.py"), "\n")
    second, outputs, graded = grade()
    assert (second.earned, graded, outputs[0]["text"]) == (15, {"test_half": 1}, "hello\n")
    assert set(grade(fresh=True)[2]) == BOTH
