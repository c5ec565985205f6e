"""Kernels inside and outside the sandbox, as a program that starts kernels sees them."""

import ast
import asyncio
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat import v4
from traitlets import TraitError
from traitlets.config import Config

from sandbox_kernel import COLD, LIMITED, SANDBOX, bubblewrap, sandboxed, start
from sandbox_kernel.environment import WorkingFiles
from sandbox_kernel.inside.places import SETTINGS
from sandbox_kernel.sandboxed import SandboxProvisioner
from sandbox_kernel.start import StartFailed
from sandbox_kernel.watched import LimitedProvisioner

EACH = pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
#: kernels that a test starts itself cost seconds, so most test runs only start the warm one
EACH_STARTED = pytest.mark.parametrize(
    "kernel", [SANDBOX, *(pytest.param(name, marks=pytest.mark.thorough) for name in (COLD, LIMITED))]
)
IN_SANDBOX = pytest.mark.parametrize("kernel", [SANDBOX, COLD])


def run(kernel: str, *sources: str, **options: object) -> list[str]:
    """What each cell prints when nbclient runs it with its defaults."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name=kernel, timeout=60, **options).execute()
    return ["".join(output.get("text", "") for output in cell.outputs).strip() for cell in notebook.cells]


def assert_restarted(manager: KernelManager) -> None:
    """The kernel runs, and a new client finds none of the names that the test has defined or imported."""
    assert manager.is_alive()
    if (
        manager.kernel_name == LIMITED
    ):  # over TCP, a client that connects before the kernel listens may get no reply
        return
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    source = "found = [name for name in ('data', 'time') if name in globals()]"
    reply = client.execute_interactive(source, user_expressions={"found": "found"}, timeout=60)
    client.stop_channels()
    assert reply["content"]["user_expressions"]["found"]["data"]["text/plain"] == "[]"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def manager(request, tmp_path):
    manager = KernelManager(kernel_name=request.param, connection_file=str(tmp_path / "kernel.json"))
    manager.start_kernel()
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture
def client(manager):
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield client
    client.stop_channels()


@EACH_STARTED
def test_any_nbclient_program_can_use_it_by_name(kernel):
    assert run(kernel, "x = 20", "print(2 * x + 2)") == ["", "42"]


@EACH_STARTED
def test_a_kernel_that_was_ended_for_its_memory_can_be_restarted(kernel, tmp_path):
    config = Config(WatchedProvisioner={"memory_limit": 512})
    manager = KernelManager(kernel_name=kernel, connection_file=str(tmp_path / "kernel.json"), config=config)
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        client.execute("data = b'x' * 2**30")
        until(lambda: not manager.is_alive())
        assert manager.provisioner.ended_because == "it used more than 512 MiB of memory"
        manager.restart_kernel(now=True)
        assert_restarted(manager)
        assert not manager.provisioner.ended_because
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_each_limited_kernel_has_its_own_home_which_ends_with_it(start_kernel, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("1,2")
    one, other = (start_kernel("limited", working_files=[str(file)]) for file in (data, tmp_path))
    where = "import os; print(os.getcwd(), oct(os.stat('.').st_mode & 0o777), sorted(os.listdir()))"
    home, mode, names = one.run(where).split(maxsplit=2)
    assert (mode, "data.csv" in names) == ("0o700", True)
    one.run("open('mine', 'w').close()")
    assert "mine" not in other.run(where)
    one.manager.restart_kernel(now=True)
    assert one.manager.is_alive() and Path(home, "mine").exists()
    one.manager.shutdown_kernel(now=True)
    assert not Path(home).exists()


def test_a_server_that_another_thread_has_closed_is_gone():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    with tempfile.TemporaryFile() as errors:
        server = start.Server(ours, None, errors)
    with pytest.raises(start.ServerGone, match=r"has ended$"):
        server.start_kernel({}, WorkingFiles(), 1)
    ours.close()


@EACH
def test_figures_are_displayed(kernel, shared):
    outputs = shared(kernel).outputs("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert any("image/png" in output.get("data", {}) for output in outputs)


@EACH
@pytest.mark.filterwarnings("ignore")
def test_gradients_can_be_taken(kernel, shared):
    pytest.importorskip("torch", reason="torch is not installed")
    source = (
        "import torch\nx = torch.ones(2, requires_grad=True)\n(3 * x).sum().backward()\nprint(x.grad.sum())"
    )
    assert shared(kernel).run(source) == "tensor(6.)"


@IN_SANDBOX
def test_garbage_is_collected_as_in_any_other_kernel(kernel, shared):
    thresholds = [sys.executable, "-c", "import gc; print(gc.isenabled(), *gc.get_threshold())"]
    usual = subprocess.run(thresholds, capture_output=True, text=True, check=True).stdout.strip()
    assert shared(kernel).run("import gc\nprint(gc.isenabled(), *gc.get_threshold())") == usual


@IN_SANDBOX
def test_the_kernel_has_no_privileges_and_sees_no_other_process(kernel, shared):
    status = shared(kernel).run("print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["CapEff"] == fields["CapPrm"] == fields["CapInh"] == fields["CapAmb"] == "0" * 16
    assert fields["NoNewPrivs"] == "1"
    assert fields["Uid"].split()[0] != "0"
    processes = shared(kernel).run("import os\nprint(*filter(str.isdigit, os.listdir('/proc')))")
    assert len(processes.split()) <= 2  # bubblewrap's own first process may be there


@IN_SANDBOX
def test_no_user_namespace_can_be_made_inside(kernel, shared):
    source = "import subprocess\nprint(subprocess.run(['unshare', '--user', 'true'], stderr=-3).returncode)"
    assert shared(kernel).run(source) == "1"


@IN_SANDBOX
def test_only_the_scratch_folders_can_be_written(kernel, shared):
    source = """
import os
def writable(folder):
    try:
        open(f"{folder}/it", "w").close()
    except OSError:
        return False
    return True
print([folder for folder, _, _ in os.walk("/") if not folder.startswith("/proc") and writable(folder)])
"""
    found = ast.literal_eval(shared(kernel).run(source))
    own = {folder for folder in found if not folder.startswith(("/home/user/", f"{SETTINGS}/"))} - {SETTINGS}
    # an environment below one of them is mounted in folders made for this
    above = {str(parent) for prefix in (sys.prefix, sys.base_prefix) for parent in Path(prefix).parents}
    assert own - (above - set(bubblewrap.WRITABLE)) == set(bubblewrap.WRITABLE)


@EACH_STARTED
def test_environment_adds_variables_to_one_kernel_and_replaces_defaults(kernel, start_kernel, shared):
    source = "import os\nprint(*map(os.environ.get, ['COLOR', 'OMP_NUM_THREADS', 'USER', 'HOME']))"
    settings = {"COLOR": "green", "OMP_NUM_THREADS": "2"}
    color, threads, user, home = start_kernel(kernel, environment=settings).run(source).split()
    assert (color, threads, user) == ("green", "2", "user")
    other = shared(kernel).run(source).split()
    assert other[:3] == ["None", "1", "user"]
    if kernel != LIMITED:
        assert home == other[3] == "/home/user"


def test_a_limited_kernel_imports_what_its_client_can(start_kernel, tmp_path, monkeypatch):
    (tmp_path / "by_variable.py").write_text("VALUE = 3")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert start_kernel(LIMITED).run("import by_variable\nprint(by_variable.VALUE)") == "3"


@pytest.mark.parametrize("provisioner", [SandboxProvisioner, LimitedProvisioner])
@pytest.mark.parametrize("name", ["HOME", "TMPDIR", "PATH"])
def test_environment_refuses_the_variables_that_a_kernel_depends_on(provisioner, name):
    with pytest.raises(TraitError, match=f"can't replace {name}: list only the variables"):
        provisioner(environment={"COLOR": "green", name: "/"})


def test_a_request_that_is_too_long_is_a_failed_start_and_the_server_goes_on(start_kernel, shared):
    shared(SANDBOX)
    (before,) = start._warm.values()
    with pytest.raises(StartFailed, match="`environment` and `preload` are too long"):
        start_kernel(SANDBOX, environment={"LONG": "x" * 2**16})
    assert before.alive
    assert shared(SANDBOX).run("print(1)") == "1"


@pytest.mark.parametrize(
    "manager",
    [
        SANDBOX,
        pytest.param(COLD, marks=pytest.mark.thorough),
        pytest.param(LIMITED, marks=pytest.mark.thorough),
    ],
    indirect=True,
)
def test_an_interrupt_and_a_restart_do_what_they_should(manager, client):
    reply = client.execute_interactive(
        "import time\nprint('it runs', flush=True)\nwhile True: time.sleep(0.01)",
        timeout=60,
        output_hook=lambda message: message["msg_type"] == "stream" and manager.interrupt_kernel(),
    )
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    manager.restart_kernel(now=True)
    assert_restarted(manager)


@pytest.mark.parametrize("manager", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)], indirect=True)
def test_no_process_is_left_when_the_kernel_ends(manager, client):
    inside = Path(f"/proc/{manager.provisioner._started.pid}")
    namespace = (inside / "ns" / "pid").readlink()

    def running() -> int:
        return sum(_link(other) == namespace for other in Path("/proc").glob("[0-9]*/ns/pid"))

    before = running()
    source = "import os, time\nif os.fork() == 0: os.setsid(); os.fork(); time.sleep(1000)"
    assert client.execute_interactive(source, timeout=60)["content"]["status"] == "ok"
    until(lambda: running() == before + 2)
    manager.shutdown_kernel(now=True)
    until(lambda: running() == 0)  # the last of them may end a moment later


def _link(path: Path) -> Path | None:
    try:
        return path.readlink()
    except OSError:
        return None


@pytest.mark.parametrize("mode", ["warm", "cold"])
def test_the_environment_of_the_client_is_hidden(mode, monkeypatch):
    monkeypatch.setenv("SECRET", "it")
    server = start.Server.launch(mode, 1)
    try:
        # bubblewrap is the first process inside, where a kernel of the same user can read this
        environment = Path(f"/proc/{server.process.pid}/environ")
        until(lambda: environment.read_text() != "")  # bubblewrap has started
        names = {line.partition("=")[0] for line in environment.read_text().split("\0")}
    finally:
        server.close()
    assert names == {"PATH", ""}


def test_a_dead_server_is_started_again():
    run(SANDBOX, "1")
    (server,) = start._warm.values()
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    assert run(SANDBOX, "print(1)") == ["1"]
    (other,) = start._warm.values()
    assert other is not server


def test_a_font_list_that_is_newer_than_the_server_stops_no_warm_start(monkeypatch):
    def refuse(*arguments: object) -> None:
        raise AssertionError("the kernel was not forked")

    assert run(SANDBOX, "print(1)") == ["1"]
    lists = [*bubblewrap.font_lists(), Path("/another/matplotlib/fontlist-v0.json")]
    monkeypatch.setattr(bubblewrap, "font_lists", lambda: lists)
    monkeypatch.setattr(sandboxed, "start_cold", refuse)
    assert run(SANDBOX, "print(2)") == ["2"]


def test_font_lists_are_found_where_matplotlib_keeps_them():
    matplotlib = pytest.importorskip("matplotlib")
    folder = Path(matplotlib.get_cachedir())
    assert bubblewrap.font_lists() == sorted(folder.glob("fontlist-*.json"))


def test_where_no_warm_start_is_possible_kernels_start_cold(monkeypatch):
    def refuse(*arguments: object) -> None:
        raise StartFailed("no namespaces")

    start.stop_servers()
    monkeypatch.setattr(sandboxed, "start_warm", refuse)
    monkeypatch.setattr(sandboxed, "cold_because", reasons := [])
    assert run(SANDBOX, "print(1)") == ["1"]
    assert reasons == ["no namespaces"]


def test_without_bubblewrap_nothing_is_started_and_one_sentence_says_what_to_install(monkeypatch):
    start.stop_servers()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    bubblewrap.sandbox_problem.cache_clear()
    try:
        with pytest.raises(bubblewrap.SandboxError, match=r"apt-get install bubblewrap"):
            run(SANDBOX, "1")
        assert run(LIMITED, "print(1)") == ["1"]
    finally:
        bubblewrap.sandbox_problem.cache_clear()


def test_where_bubblewrap_fails_in_a_container_the_reason_says_what_the_container_needs(
    tmp_path, monkeypatch
):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bwrap: no namespaces >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(bubblewrap, "_IN_CONTAINERS", (str(tmp_path / "containerenv"),))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    problem = bubblewrap.sandbox_problem.__wrapped__
    assert problem().endswith("(bwrap: no namespaces); unprivileged user namespaces may be switched off")
    (tmp_path / "containerenv").touch()
    assert "with podman, `--security-opt seccomp=unconfined --security-opt unmask=ALL`" in problem()


def test_the_event_loop_goes_on_while_a_kernel_starts():
    async def ticks() -> int:
        from jupyter_client.manager import AsyncKernelManager

        manager, count = AsyncKernelManager(kernel_name=COLD), 0
        starting = asyncio.ensure_future(manager.start_kernel())
        while not starting.done():
            await asyncio.sleep(0.01)
            count += 1
        await manager.shutdown_kernel(now=True)
        return count

    assert asyncio.run(ticks()) > 5


_STARTS_A_KERNEL = """
import time
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name={name!r}, transport="ipc")
manager.start_kernel()
print(manager.ip, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("name", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_a_kernel_does_not_outlive_a_process_that_is_killed(name):
    starter = subprocess.Popen(
        [sys.executable, "-c", _STARTS_A_KERNEL.format(name=name)], stdout=subprocess.PIPE, text=True
    )
    kernel = Path("/proc", Path(starter.stdout.readline()).parts[2])
    assert kernel.exists()
    starter.kill()
    starter.communicate()
    until(lambda: not kernel.exists())


@pytest.mark.slow
@pytest.mark.skipif(bubblewrap.sandbox_problem() != "", reason="needs bubblewrap")
def test_a_server_that_is_closed_while_it_sets_up_leaves_no_process():
    scratch = 61  # no other test has it, so it names the processes of this one
    for number in range(20):
        server = start.Server.launch("cold", scratch)
        time.sleep(0.002 * number)
        server.close()
    size = str(scratch * 2**20)
    until(lambda: not any(size in said_by(process) for process in Path("/proc").glob("[0-9]*/cmdline")))


def said_by(command_line: Path) -> list[str]:
    """The arguments of a process; none if it has ended."""
    try:
        return command_line.read_text().split("\0")
    except OSError:
        return []


@pytest.mark.slow
def test_a_warm_kernel_shares_the_server_s_memory_in_huge_pages():
    huge = Path("/sys/kernel/mm/transparent_hugepage").exists()
    if not huge or tuple(map(int, platform.release().split(".")[:2])) < (6, 1):
        pytest.skip("the system can't store memory in huge pages on request")
    source = "print(*(line for line in open('/proc/self/smaps_rollup') if line.startswith('AnonHuge')))"
    # large and never written to; the memory of small libraries is copied in small pages as their objects are counted
    preload = ["import builtins; builtins.shared_bytes = b'x' * 2**25"]
    (found,) = run(SANDBOX, source, config=Config({"SandboxProvisioner": {"preload": preload}}))
    assert int(found.split()[1]) > 10_000
