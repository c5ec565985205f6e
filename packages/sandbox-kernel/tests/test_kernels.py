"""Kernels in and out of the sandbox, as any program that starts kernels sees them."""

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat import v4

from sandbox_kernel import COLD, LIMITED, SANDBOX, bubblewrap, sandboxed, start
from sandbox_kernel.start import StartFailed

EACH = pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
IN_SANDBOX = pytest.mark.parametrize("kernel", [SANDBOX, COLD])


def run(kernel: str, *sources: str, **options: object) -> list[str]:
    """The printed output of cells that nbclient runs, with its own defaults."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name=kernel, timeout=60, **options).execute()
    return ["".join(output.get("text", "") for output in cell.outputs).strip() for cell in notebook.cells]


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


@EACH
def test_any_nbclient_program_can_use_it_by_name(kernel):
    assert run(kernel, "x = 20", "print(2 * x + 2)") == ["", "42"]


@EACH
def test_figures_are_displayed(kernel):
    notebook = v4.new_notebook(cells=[v4.new_code_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")])
    NotebookClient(notebook, kernel_name=kernel, timeout=60).execute()
    assert "image/png" in notebook.cells[0].outputs[-1].data


@EACH
@pytest.mark.filterwarnings("ignore")
def test_gradients_can_be_taken(kernel):
    source = (
        "import torch\nx = torch.ones(2, requires_grad=True)\n(3 * x).sum().backward()\nprint(x.grad.sum())"
    )
    assert run(kernel, source) == ["tensor(6.)"]


@IN_SANDBOX
def test_the_kernel_has_no_privileges_and_sees_no_other_process(kernel):
    status, processes = run(
        kernel,
        "print(open('/proc/self/status').read())",
        "import os\nprint(*(name for name in os.listdir('/proc') if name.isdigit()))",
    )
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["CapEff"] == fields["CapPrm"] == fields["CapInh"] == fields["CapAmb"] == "0" * 16
    assert fields["NoNewPrivs"] == "1"
    assert fields["Uid"].split()[0] != "0"
    assert len(processes.split()) <= 2  # bubblewrap's own first process, if it is there


@IN_SANDBOX
def test_no_user_namespace_can_be_made_inside(kernel):
    (printed,) = run(kernel, "!unshare --user true; echo ended with $?")
    assert "ended with 1" in printed


@IN_SANDBOX
def test_only_the_scratch_folders_can_be_written(kernel):
    source = """\
    import os
    def writable(folder):
        try:
            open(f"{folder}/it", "w").close()
        except OSError:
            return False
        return True
    print(sorted(folder for folder, _, _ in os.walk("/") if not folder.startswith("/proc") and writable(folder)))
    """
    (found,) = run(kernel, "\n".join(line[4:] for line in source.splitlines()))
    assert {folder for folder in eval(found) if not folder.startswith("/home/user/")} == set(
        bubblewrap.writable_folders()
    )


def test_python_is_found_inside_even_if_it_lies_in_the_folder_for_temporary_files(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/tmp/course/.venv")
    assert bubblewrap.writable_folders() == ["/home/user", "/dev/shm", "/run/kernel"]
    assert "--tmpfs /tmp" not in " ".join(bubblewrap.bubblewrap_command("warm", 1))


@pytest.mark.parametrize("manager", [SANDBOX, COLD, LIMITED], indirect=True)
def test_an_interrupt_and_a_restart_do_what_they_should(manager, client):
    client.execute("import time\nprint('it runs', flush=True)\nwhile True: time.sleep(0.01)")
    while client.get_iopub_msg(timeout=60)["content"].get("text") != "it runs\n":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=60)
    while reply["content"].get("status") != "error":  # the answer to a question of `wait_for_ready`
        reply = client.get_shell_msg(timeout=60)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    manager.restart_kernel(now=True)
    assert manager.is_alive()


@pytest.mark.parametrize("manager", [SANDBOX, COLD], indirect=True)
def test_no_process_is_left_when_the_kernel_ends(manager, client):
    inside = Path(f"/proc/{manager.provisioner._started.pid}")
    client.execute("import os, time\nif os.fork() == 0: os.setsid(); os.fork(); time.sleep(1000)")
    client.get_shell_msg(timeout=20)
    namespace = (inside / "ns" / "pid").readlink()
    manager.shutdown_kernel(now=True)
    deadline = time.monotonic() + 60  # the last of them end a moment later
    while any(_link(other) == namespace for other in Path("/proc").glob("[0-9]*/ns/pid")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _link(path: Path) -> Path | None:
    try:
        return path.readlink()
    except OSError:
        return None


def test_a_dead_server_is_started_again():
    run(SANDBOX, "1")
    (server,) = start._warm.values()
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    assert run(SANDBOX, "print(1)") == ["1"]
    (other,) = start._warm.values()
    assert other is not server


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


@pytest.mark.parametrize("name", [SANDBOX, COLD])
def test_a_kernel_does_not_outlive_a_process_that_is_killed(name):
    starter = subprocess.Popen(
        [sys.executable, "-c", _STARTS_A_KERNEL.format(name=name)], stdout=subprocess.PIPE, text=True
    )
    kernel = Path("/proc", Path(starter.stdout.readline()).parts[2])
    assert kernel.exists()
    starter.kill()
    starter.communicate()
    deadline = time.monotonic() + 10
    while kernel.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not kernel.exists()
