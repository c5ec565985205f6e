"""Console scripts for the tests, each in a process forked from one that has imported everything and has a sandbox.

A command in a new process imports nbgrader and torch and starts a sandbox of its own, which is nearly all of what it
costs on a tiny course. What a command does when it starts, and how it ends when it is killed, is tested in new processes.
Taking apart all that was imported would cost as much as five such commands, so a fork ends without it.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

#: the modules that commands import
PRELOADED = (
    *("nbgrader.apps.nbgraderapp", "gradekit.cli", "gradekit.nbgrader_plugin", "gradekit_authoring.doctor"),
    *(
        "gradekit.grading.autograde",
        "gradekit_authoring.regrade",
        "gradekit.verdict.grade",
        "gradekit_authoring.audit",
    ),
    *("gradekit.report.class_report", "gradekit.report.table", "gradekit_watch.loop"),
    *("gradekit.cli.autograding", "gradekit.cli.reporting", "gradekit_authoring.cli.authoring"),
    *(
        "gradekit.nbgrader_plugin.generating",
        "gradekit.nbgrader_plugin.collecting",
        "gradekit.page.displayed",
    ),
    *("gradekit_authoring.revise", "gradekit_lms.collector", "gradekit_written.deal"),
    *("pytest", "_pytest.skipping", "alembic.config", "IPython.display"),
    *("traitlets.config.argcomplete_config", "sqlalchemy.dialects.sqlite"),
    *(["torch"] if importlib.util.find_spec("torch") else []),
)
_PR_SET_PDEATHSIG = 1
_DESCRIPTORS = 3


def run_forked(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a console script of this environment as `subprocess.run` does with captured text."""
    script = Path(sys.executable).with_name(str(command[0]))
    arguments = [str(script), *map(str, command[1:])]
    request = {"arguments": arguments, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    control = _server()
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        body.write(json.dumps(request).encode())
        body.flush()
        try:
            socket.send_fds(control, [b"run"], [body.fileno(), out.fileno(), err.fileno()])
            answer = control.recv(100)
            assert answer, "the process that commands are forked from has ended"
        except BaseException:  # such as a test's timeout
            _server.cache_clear()  # or the next command would get this one's answer
            control.close()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(arguments, int(answer), *texts)


def _know_alembic_version() -> None:
    """For each new gradebook, nbgrader asks a command of alembic for its newest version, which takes a second."""
    from alembic.script import ScriptDirectory
    from nbgrader import api, dbutil

    newest = ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head()
    api.get_alembic_version = lambda: newest


def _make_what_commands_share() -> None:
    """What a library makes when it is first used: the code of nbformat's schemas, and SQLAlchemy's tables of nbgrader's classes."""
    import nbformat
    from sqlalchemy.orm import configure_mappers

    for minor in (4, 5):
        nbformat.validate(nbformat.v4.new_notebook(nbformat_minor=minor))
    configure_mappers()


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with theirs:  # a fork of a process with several threads may hang
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=os.environ | one_thread,
        )

    def close() -> None:
        ours.close()
        process.kill()
        process.wait()

    atexit.register(close)
    return ours


def _serve(control: socket.socket) -> None:
    """Fork a process for each command, until the tests have ended."""
    from sandbox_kernel.start import launch_server, use_launched_server

    sandbox = launch_server()  # it imports at the same time
    for module in PRELOADED:
        __import__(module)
    _know_alembic_version()
    _make_what_commands_share()
    assert len(os.listdir("/proc/self/task")) == 1
    gc.freeze()  # forks share pages that nobody writes to
    while True:
        data, files, _, _ = socket.recv_fds(control, 100, _DESCRIPTORS)
        if not data:
            return
        fork = os.fork()
        if fork == 0:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            control.close()
            if sandbox is not None:
                use_launched_server(sandbox)
            _become(*files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(fork, 0)
        with contextlib.suppress(BrokenPipeError):  # the test was interrupted
            control.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: int, out: int, err: int) -> NoReturn:
    """Run the script with its own folder, environment and output, and end with its exit code."""
    from sandbox_kernel.bubblewrap import sandbox_problem

    os.lseek(request, 0, os.SEEK_SET)
    with open(request) as file:
        wanted = json.load(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, own in enumerate((nothing, out, err)):
        os.dup2(own, descriptor)
        os.close(own)
    sandbox_problem.cache_clear()
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    sys.argv = wanted["arguments"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    code: object = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        _serve(listening)
