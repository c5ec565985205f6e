"""What runs where Linux's modules are missing. This machine is Linux: the tests take the modules and calls away."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradekit import cli
from gradekit.course.operating_system import locked_file

PACKAGES = Path(__file__).parents[2]
#: the only module that may use them
ONE_MODULE = "course/operating_system.py"
#: modules, and names of other modules, that Python doesn't have on Windows
MODULES = ["fcntl", "grp", "pwd", "resource", "termios"]
NAMES = {
    "os": [
        *(
            "chown",
            "fchown",
            "fork",
            "forkpty",
            "fwalk",
            "getegid",
            "geteuid",
            "getgid",
            "getgroups",
            "getuid",
            "killpg",
        ),
        *(
            "lchown",
            "memfd_create",
            "mkfifo",
            "nice",
            "pidfd_open",
            "register_at_fork",
            "sched_getaffinity",
            "setsid",
        ),
        *("setresgid", "setresuid", "statvfs", "sysconf", "uname", "wait4", "WIFSIGNALED", "WTERMSIG"),
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH"),
    ],
    "signal": ["ITIMER_PROF", "SIGHUP", "SIGKILL", "SIGPROF", "SIGUSR1", "pidfd_send_signal", "setitimer"],
    "select": ["epoll", "poll"],
    "multiprocessing.context": ["ForkContext", "ForkServerContext"],
}
#: these exist on Windows, but do less there
DIFFERENT = {
    "os": ["kill", "waitpid"],
    "signal": ["signal"],
    "multiprocessing": ["get_context", "forkserver"],
}
#: the libraries of this system come first, since they ask it for what theirs on Windows doesn't
_AS_ON_WINDOWS = f"""
import importlib, multiprocessing.forkserver, os, select, signal, sys
import matplotlib.pyplot, nbgrader.apps, numpy, psutil, scipy.stats, seaborn
for module, names in {NAMES}.items():
    for name in names:
        if hasattr(importlib.import_module(module), name):
            delattr(sys.modules[module], name)
for name in {MODULES}:
    sys.modules[name] = None  # importing it raises ModuleNotFoundError
"""
_AS_ON_MACOS = """
import contextlib, fcntl, os, platform, resource, signal, socket
with contextlib.suppress(ImportError):
    import torch  # it loads the libraries of this system
platform.system = lambda: "Darwin"
os.process_cpu_count = os.cpu_count  # Python 3.13's own does without `sched_getaffinity` there
for module, names in {
    fcntl: ["F_OFD_SETLK"],
    os: ["O_PATH", "memfd_create", "pidfd_open", "sched_getaffinity", "setresgid", "setresuid"],
    resource: ["RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING", "prlimit"],
    signal: ["pidfd_send_signal"],
    socket: ["AF_NETLINK"],
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
#: commands in a graded class, with their exit codes
READING = {
    "--help": 0,
    "--version": 0,
    "help sandbox": 0,
    "table": 0,
    "table 01_double --csv table.csv": 0,
    "report": 0,
    "similar 01_double": 0,
    "written 01_double": 0,
    "return 01_double": 2,  # nobody was collected from an LMS
    "lti --status": 2,  # it has no settings
    "lms sync": 2,  # no LMS is set
    "requests": 0,
    "adopt": 0,
    "deadline 01_double": 0,
    "extend 01_double right --days 2": 2,  # there is no deadline
    "comment no-group text": 2,
    "deal 01_double --to ann,bob": 2,  # it has no written answers
    "watch --status": 1,  # it isn't running
    "earlier": 0,
    "standalone": 0,
    "learn --no-open": 0,
}
NEED_LINUX = [
    *(
        "autograde --force",
        "regrade",
        "revise 01_double",
        "watch --once",
        "viva 01_double",
        "defend 01_double",
        "audit",
        "record",
    ),
    *("samples 01_double", "new 02_triple", "doctor", "init ../begun", "demo ../shown"),
]
_RUN_ALL = """
import contextlib, io, json
from gradekit.cli import main
done = {}
for command in COMMANDS:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(command.split())
        except SystemExit as ended:
            code = ended.code
    done[command] = code, out.getvalue(), errors.getvalue()
print(json.dumps(done))
"""


def gradekit_on(system: str, cwd: Path, *commands: str) -> dict[str, tuple[int, str, str]]:
    """The exit code and the outputs of each command, one after another in one process, as on another system."""
    program = f"{system}\nCOMMANDS = {commands}\n{_RUN_ALL}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return {command: tuple(found) for command, found in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def windows(four_times_original, tmp_path_factory) -> tuple[Path, dict[str, tuple[int, str, str]]]:
    """A graded class, and what all commands print and do there as on Windows."""
    course = Path(shutil.copytree(four_times_original, tmp_path_factory.mktemp("windows") / "course"))
    return course, gradekit_on(_AS_ON_WINDOWS, course, *READING, *NEED_LINUX)


@pytest.mark.parametrize("command", READING)
@pytest.mark.slow
def test_windows_reads(windows, command):
    code, out, errors = windows[1][command]
    assert (code, "Linux" in errors, "Traceback" in errors) == (READING[command], False, False), errors
    assert out or errors or command == "earlier"


@pytest.mark.slow
def test_windows_writes_the_same_table_and_report(windows, four_times):
    course, printed = windows
    assert four_times.run("gradekit", "table").stdout == printed["table"][1]
    shown, same = (
        json.loads((root / "reports/01_double/report.json").read_text()) for root in (course, four_times.root)
    )
    assert shown["groups"] == same["groups"] != []


@pytest.mark.parametrize("command", NEED_LINUX)
@pytest.mark.slow
def test_on_windows_other_commands_say_in_one_sentence_where_they_run(windows, command):
    course, printed = windows
    code, out, errors = printed[command]
    assert (code, out, errors.count("\n")) == (2, "", 1), errors
    assert errors.startswith("gradekit: this needs Linux") and "gradekit's image" in errors
    assert "`gradekit help sandbox`" in errors and "there is an image" in printed["help sandbox"][1]
    assert [path.name for path in course.parent.iterdir()] == ["course"]
    assert sorted(path.name for path in (course / "source").iterdir()) == ["01_double"]


def test_every_command_is_tried():
    tried = {command.split()[0] for command in (*READING, *NEED_LINUX)}
    assert set(cli._parser().commands.names) <= tried


def test_without_fcntl_one_process_at_a_time_has_a_lock_and_a_killed_one_has_none(tmp_path, monkeypatch):
    path = tmp_path / "state" / "lock"
    hold = "from gradekit.course.operating_system import locked_file\nfrom pathlib import Path\n"
    hold += f"held = locked_file(Path({str(path)!r}))\nprint('locked', flush=True)\ninput()"
    command = [sys.executable, "-c", "import sys\nsys.modules['fcntl'] = None\n" + hold]
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(BlockingIOError):
            locked_file(path, wait=False)
        holder.kill()
    with locked_file(path), pytest.raises(BlockingIOError):
        locked_file(path, wait=False)
    locked_file(path).close()
    assert path.read_bytes() == b""


@pytest.mark.thorough
def test_macos_reads_and_records_and_doctor_says_that_there_is_no_sandbox(four_times):
    for command in ("report", "record --workers 1", "doctor"):  # some fork: each in its own process
        (done,) = gradekit_on(_AS_ON_MACOS, four_times.root, command).values()
        assert done[0] == 0 or command == "doctor", done[2]
    assert "the sandbox needs Linux, this is Darwin" in done[1], done[2]


def asked_of_the_system(path: Path) -> Iterator[str]:
    """The places in a file that use what not every system has."""
    names = {
        f"{module}.{name}" for kind in (NAMES, DIFFERENT) for module, found in kind.items() for name in found
    }
    for node in ast.walk(ast.parse(path.read_text())):
        used = []
        if isinstance(node, ast.Import):
            used = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            used = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute):
            used = [ast.unparse(node)]
        elif isinstance(node, ast.Constant) and str(node.value).startswith("/proc/"):
            used = [str(node.value)]
        for name in used:
            if (
                name in names
                or name.split(".")[0] in (*MODULES, "ctypes", "/proc/")
                or name.startswith("/proc/")
            ):
                yield f"{path}:{node.lineno}: {name}"


def test_only_one_module_asks_for_what_not_every_system_has():
    """Except for what runs in the sandbox, or as a program of its own, such as Git's launcher, which is text."""
    sources = [
        path
        for package in PACKAGES.glob("gradekit*")
        for path in (package / "src").rglob("*.py")
        if not {"inside", "template"} & set(path.parts)
    ]
    found = {path: list(asked_of_the_system(path)) for path in sources}
    assert [line for path, lines in found.items() if not path.match(ONE_MODULE) for line in lines] == []
    assert len(next(lines for path, lines in found.items() if path.match(ONE_MODULE))) > 20
