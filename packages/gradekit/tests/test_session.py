"""A session runs one notebook in one kernel and answers requests about it."""

import os
import random
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from nbformat import v4

from gradekit.course import CourseError
from gradekit.session import proxy
from gradekit.session import session as session_module
from gradekit.session.kernel import NotStarted
from gradekit.session.limits import Limits
from gradekit.session.proxy import Module, Student, begin_check
from gradekit.session.session import Session
from gradekit.session.values import Opaque, StudentError
from gradekit.submission.submission import Submission
from sandbox_kernel import COLD, LIMITED, SANDBOX, sandboxed
from sandbox_kernel.environment import WorkingFiles
from sandbox_kernel.start import StartFailed

torch = pytest.importorskip("torch", reason="torch is not installed")

ROOT = Path(__file__).parents[3]
CELLS = {
    "imports": "import os, sys, time, torch\nfrom torch import nn",
    "plain": "def double(x):\n    return 2 * x\n\ncount = 3",
    "module": "class Scale(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.factor = nn.Parameter(torch.tensor(2.0))\n"
    "    def forward(self, x):\n        return self.factor * x",
    "failing": "def fail(x):\n    wrong = x + 1\n    raise ValueError('no such thing')",
    "looping": "def loop():\n    while True:\n        pass",
    "dying": "def die():\n    os._exit(7)",
    "surroundings": "def surroundings():\n    return {'environment': dict(os.environ), 'path': sys.path, 'folder': os.getcwd(),"
    " 'arguments': sys.argv, 'pid': os.getpid()}",
    "noisy": "def noisy():\n    print('x' * 1000)\n    sys.stderr.write('y')\n    return 1",
    "forging": "def forging():\n    import comm\n    return object()",
    "seen": "def sees_gradekit_tests():\n    import gradekit\n    return list(gradekit.__path__)",
}

NUMBERS = "import random, numpy, torch\nnumbers = [random.random(), float(numpy.random.rand()), torch.rand(1).item()]"


def notebook(cells: dict[str, str]):
    return v4.new_notebook(
        cells=[
            v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "solution": True}})
            for name, source in cells.items()
        ]
    )


def open_session(cells: dict[str, str], **limits: float) -> tuple[Session, Student]:
    book = notebook(cells)
    session = Session(book, Limits(**{"call_seconds": 3, **limits}))
    session.run_cells()
    return session, Student(session, Submission(book))


@pytest.fixture(scope="module")
def student():
    session, student = open_session(CELLS)
    with closing(session):
        yield student


def test_functions_variables_and_modules_are_reached_by_name(student):
    assert torch.equal(student.double(torch.ones(2)), torch.full((2,), 2.0))
    assert student.get("count") == 3
    scale = student.Scale()
    assert isinstance(scale, Module)
    assert scale(torch.tensor(3.0)) == 6
    scale.load_state({"factor": torch.tensor(5.0)})
    assert scale.state()["factor"] == 5
    scale.load_state({"other": torch.tensor(1.0)})
    with pytest.raises(StudentError, match="`Scale` raised KeyError: 'the module has no other'"):
        student.double(torch.ones(2))
    assert scale.load_state({"other": torch.tensor(1.0)}, strict=False).state()["factor"] == 5
    assert scale.to(torch.float64)(torch.ones(1, dtype=torch.float64)).dtype == torch.float64


def test_a_handle_can_be_an_argument(student):
    helper = student.define("def apply(module, x):\n    return module(x)")
    assert helper.apply(student.Scale(), torch.tensor(4.0)) == 8


def test_what_a_helper_defines_can_be_an_argument(student):
    helper = student.define("def apply(f, x):\n    return f(x)\n\ndef three_times(x):\n    return 3 * x")
    assert helper.apply(helper.named("three_times"), 4) == 12


def test_gradients_of_inputs_and_parameters(student):
    found = student.Scale().gradients(torch.ones(3))
    assert found.inputs[0].shape == (3,)
    assert found.parameters["factor"] is not None


def test_an_exception_is_reported_with_cell_and_line(student):
    with pytest.raises(
        StudentError, match=r"raised ValueError: no such thing in line 3 of the cell `failing`"
    ):
        student.fail(1)


def test_an_object_that_cannot_be_sent_stays_in_the_kernel(student):
    assert isinstance(student.forging(), Opaque)


def test_printing_and_standard_error_do_no_harm(student):
    assert student.noisy() == 1


def test_the_kernel_gets_no_path_into_the_course_folder(student):
    environment = Path(sys.prefix)
    found = student.surroundings()
    texts = [*found["environment"].values(), *found["path"], found["folder"], *found["arguments"]]
    parts = [Path(part) for text in texts for part in text.split(os.pathsep) if part]
    inside = [part for part in parts if part.is_relative_to(ROOT) and not part.is_relative_to(environment)]
    assert inside == []
    assert found["pid"] != os.getpid()


def test_the_grader_s_environment_does_not_reach_the_kernel(monkeypatch):
    monkeypatch.setenv("GRADER_SECRET", "canary-5d1f")
    session, student = open_session({"imports": CELLS["imports"], "it": CELLS["surroundings"]})
    with closing(session):
        assert "canary-5d1f" not in str(student.surroundings())


def test_a_loop_is_interrupted_and_the_kernel_stays_alive():
    session, student = open_session(CELLS, call_seconds=1)
    with closing(session):
        for _ in range(2):
            with pytest.raises(StudentError, match="ran for more than 1 s"):
                student.loop()
        with pytest.raises(StudentError, match="Not run"):
            student.loop()
        assert student.double(2) == 4
        assert session.timed_out
        assert not session.crashed


def test_only_a_timeout_by_sleep_is_suspect_not_one_by_cpu_time():
    cells = {"imports": CELLS["imports"], "loop": CELLS["looping"], "wait": "def wait():\n    time.sleep(60)"}
    session, student = open_session(cells, call_seconds=0.5)
    with closing(session):
        with pytest.raises(StudentError, match=r"`loop` ran for more than 0\.5 s and was stopped"):
            student.loop()
        assert session.suspect == []
        with pytest.raises(StudentError, match="`wait` slept or waited for more than 1 s and was stopped"):
            student.wait()
        assert session.suspect == ["a call slept or waited for more than 1 s"]


def test_time_in_a_check_s_helper_does_not_count_as_the_student_s():
    session, student = open_session({"double": CELLS["plain"]}, call_seconds=0.3)
    with closing(session):
        slow = "import time\ndef run(f):\n    end = time.process_time() + 1\n    while time.process_time() < end: pass\n"
        assert student.define(slow + "    return f(2)").run(student.get("double")) == 4


@pytest.mark.parametrize(
    "leave", ["exit()", "quit()", "exit", "get_ipython().kernel.do_shutdown(False)", "raise SystemExit"]
)
def test_a_cell_that_asks_the_kernel_to_exit_ends_only_itself(leave):
    session, student = open_session({"first": "def one():\n    return 1", "leave": leave, **CELLS})
    with closing(session):
        assert session.runs[1].state == "error"
        assert "SystemExit" in session.runs[1].error
        assert student.one() == 1 and student.double(2) == 4
        assert not session.crashed


@pytest.mark.parametrize(
    "silence",
    [
        "sys.stderr = None",
        "sys.stdout = sys.stderr = None",
        "sys.stdout.close()",
        "sys.stderr.close(); sys.stdout.close()",
        "get_ipython = display = None",
        "def exit(): return 1\nquit = print = input = exit",
    ],
)
def test_a_notebook_may_close_its_streams_and_redefine_jupyter_s_names(silence):
    session, student = open_session({"imports": CELLS["imports"], "it": silence, "plain": CELLS["plain"]})
    with closing(session):
        assert [session.runs[index].state for index in range(3)] == ["ok"] * 3
        assert student.double(2) == 4


def test_torch_s_global_settings_are_reset_before_each_call():
    cells = {
        "imports": CELLS["imports"],
        "settings": "torch.set_num_threads(4); torch.set_grad_enabled(False)\n"
        "torch.set_default_dtype(torch.float64)",
        "look": "def look():\n    return [torch.get_num_threads(), torch.is_grad_enabled(), torch.ones(1)]",
    }
    session, student = open_session(cells)
    with closing(session):
        threads, gradients, ones = student.look()
        assert (threads, gradients, ones.dtype) == (1, True, torch.float32)


@pytest.mark.slow
def test_a_compiled_answer_is_called_uncompiled():
    source = CELLS["plain"].replace("def double", "@torch.compile\ndef double")
    session, student = open_session({"imports": CELLS["imports"], "plain": source})
    with closing(session):
        assert torch.equal(student.double(torch.ones(2)), torch.full((2,), 2.0))


@pytest.mark.slow
def test_a_wary_session_blames_the_cell_whose_thread_ends_the_kernel():
    cells = {
        "imports": CELLS["imports"],
        "bomb": "import threading\nthreading.Timer(0.2, lambda: os._exit(1)).start()",
        **{f"good_{n}": f"value_{n} = {n}" for n in range(3)},
    }
    book = notebook(cells)
    session = Session(book, wary=True)
    session.run_cells()
    with closing(session):
        assert session.runs[1].state == "kernel died"
        assert Student(session, Submission(book)).get("value_2") == 2


@pytest.mark.parametrize(
    "kernel", ["sandbox", *(pytest.param(k, marks=pytest.mark.slow) for k in ("sandbox-cold", "limited"))]
)
def test_preloaded_statements_have_run_in_every_kernel(kernel):
    book = notebook({"look": "import sys\nfound = 'colorsys' in sys.modules"})
    session = Session(book, Limits(preload=("import colorsys",)), kernel_name=kernel)
    session.run_cells()
    with closing(session):
        assert Student(session, Submission(book)).get("found") is True


def test_a_failing_preload_statement_is_a_course_error():
    with pytest.raises(
        CourseError, match=r"c\.RunChecks\.preload: `import no_such` stops with ModuleNotFoundError"
    ):
        Session(notebook({}), Limits(preload=("import no_such",))).run_cells()


def test_a_kernel_that_fails_to_start_raises_not_started(monkeypatch):
    def refuse(*_: object) -> None:
        raise StartFailed("Too many references")

    monkeypatch.setattr(sandboxed, "start_warm", refuse)
    monkeypatch.setattr(sandboxed, "start_cold", refuse)
    monkeypatch.setattr(sandboxed, "cold_because", [])
    with pytest.raises(NotStarted, match=r"the kernel failed to start: .*Too many references"):
        Session(notebook(CELLS)).run_cells()


def _refuse_to_fork(*_: object) -> None:
    raise StartFailed("no namespaces")


@pytest.mark.slow
def test_a_kernel_that_starts_cold_because_none_can_be_forked_is_reported(monkeypatch):
    monkeypatch.setattr(sandboxed, "start_warm", _refuse_to_fork)
    monkeypatch.setattr(sandboxed, "warm_start_works", lambda kind: False)
    monkeypatch.setattr(sandboxed, "cold_because", [])
    for _ in range(2):  # the second doesn't try to fork
        with closing(Session(notebook({"plain": "1 + 1"}))) as session:
            session.run_cells()
            assert (session.runs[0].state, session.cold_because) == ("ok", "no namespaces")


def test_where_kernels_must_not_start_cold_nothing_is_graded_if_none_can_be_forked(monkeypatch):
    monkeypatch.setattr(sandboxed, "start_warm", _refuse_to_fork)
    monkeypatch.setattr(sandboxed, "warm_start_works", lambda kind: False)
    monkeypatch.setattr(sandboxed, "cold_because", ["another course allows it"])
    with pytest.raises(
        CourseError, match=r"can't be forked here \(no namespaces\).*`cold_fallback` is False"
    ):
        Session(notebook({"plain": "1 + 1"}), Limits(cold_fallback=False)).run_cells()


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_no_module_beside_the_notebook_is_imported_before_its_first_cell(kernel, tmp_path):
    for name in ("numpy", "torch", "safetensors", "stack_data", "matplotlib", "jedi", "debugpy"):
        (tmp_path / f"{name}.py").write_text("import builtins\nbuiltins._ran = __name__\nraise ImportError")
    (tmp_path / "mine.py").write_text("VALUE = 3")
    files = WorkingFiles([str(path) for path in tmp_path.iterdir()])
    cells = {"first": "import builtins, mine\nprint(hasattr(builtins, '_ran'), mine.VALUE)"}
    with closing(Session(notebook(cells), kernel_name=kernel, files=files)) as session:
        session.run_cells()
        assert session.notebook.cells[0].outputs[0]["text"] == "False 3\n"


def test_after_a_death_the_other_cells_run_in_a_new_kernel():
    session, student = open_session(CELLS)
    with closing(session):
        with pytest.raises(StudentError, match="it ended the Python process"):
            student.die()
        begin_check(student, "plain")
        assert student.double(2) == 4
        with pytest.raises(StudentError, match="`die` could not finish: it ended the Python process"):
            student.die()
        assert session.crashed


@pytest.mark.slow
def test_later_answers_are_called_however_many_functions_end_the_kernel():
    bad = {f"bad_{n}": f"def die_{n}():\n    os._exit(8)" for n in range(4)}
    session, student = open_session({**CELLS, **bad})
    with closing(session):
        for n in range(4):
            begin_check(student, f"bad_{n}")
            with pytest.raises(StudentError, match="ended the Python process"):
                student.call(f"die_{n}")
        begin_check(student, "plain")
        assert student.double(2) == 4
        assert session.not_reached == set()


def test_the_number_of_kernels_is_limited(monkeypatch):
    monkeypatch.setattr(session_module, "MAX_DEATHS", 2)
    monkeypatch.setattr(proxy, "MAX_DEATHS", 2)
    cells = {**CELLS, "again": "def die_again():\n    os._exit(8)"}
    session, student = open_session(cells)
    with closing(session):
        for name in ("die", "die_again"):
            begin_check(student, "plain")
            with pytest.raises(StudentError):
                student.call(name)
        with pytest.raises(StudentError, match="was ended 2 times before this check"):
            begin_check(student, "plain")
        assert session.not_reached == {"plain"}


def test_a_cell_that_kills_the_kernel_is_left_out_of_a_second_try():
    session, student = open_session(
        {"imports": CELLS["imports"], "die": "os._exit(1)", "plain": CELLS["plain"]}
    )
    with closing(session):
        assert student.double(2) == 4
        assert session.runs[1].state == "kernel died"


def test_exceeding_the_memory_limit_ends_the_kernel():
    grow = "def grow():\n    hoard = []\n    while True:\n        hoard.append(bytearray(b'x' * 2**24))"
    session, student = open_session({"imports": CELLS["imports"], "grow": grow}, memory=700, call_seconds=20)
    with closing(session), pytest.raises(StudentError, match="more than 700 MiB of memory"):
        student.grow()


def test_a_huge_allocation_raises_memory_error():
    session, student = open_session({"f": "def grow():\n    return len(bytearray(2**40))"})
    with closing(session), pytest.raises(StudentError, match="raised MemoryError"):
        student.grow()


def test_a_submission_that_takes_too_long_as_a_whole_is_stopped():
    slow = {f"slow_{n}": "time.sleep(0.6)" for n in range(4)}
    session, student = open_session(
        {"imports": CELLS["imports"], **slow, "late": "count = 4"}, submission_seconds=1.5
    )
    with closing(session):
        assert session.timed_out
        states = [session.runs[index].state for index in sorted(session.runs)]
        assert states[-1] == "timed out" and len(states) < 7
        # on a busy machine, the wall time can be over first
        late = r"the whole submission (slept or waited for more than 1\.5 s|took more than 4\.5 s in all)"
        with pytest.raises(StudentError, match=late):
            student.get("count")
        with pytest.raises(StudentError, match=f"Not run: {late}"):
            begin_check(student, "plain")


def test_a_forged_reply_ends_only_the_kernel():
    forge = """\
def f():
    import gc, socket
    for other in gc.get_objects():
        if isinstance(other, socket.socket) and other.family == socket.AF_UNIX:
            try:
                other.sendall(b"\\xff" * 64)
            except OSError:
                pass
    return 1"""
    session, student = open_session({"f": forge, "plain": CELLS["plain"]})
    with closing(session):
        with pytest.raises(StudentError, match="can't be read"):
            student.f()
        begin_check(student, "plain")
        assert student.double(2) == 4


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(LIMITED, marks=pytest.mark.thorough)])
def test_every_notebook_begins_with_the_same_random_numbers(kernel):
    numbers = []
    for _ in range(2):
        session = Session(notebook({"numbers": NUMBERS}), Limits(), kernel)
        with closing(session):
            session.run_cells()
            numbers.append(Student(session, Submission(session.notebook)).get("numbers"))
    random.seed(0)
    expected, seeded = random.random(), torch.Generator().manual_seed(0)
    assert (
        numbers == [[expected, np.random.RandomState(0).rand(), torch.rand(1, generator=seeded).item()]] * 2
    )
