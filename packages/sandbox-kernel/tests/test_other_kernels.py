"""Kernels that are not ipykernel: any installed kernelspec runs in the same sandbox."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode, v4
from traitlets.config import Config

from sandbox_kernel import COLD, SANDBOX
from sandbox_kernel.bubblewrap import SandboxError
from sandbox_kernel.start import StartFailed

README = Path(__file__).parents[1] / "README.md"

#: a kernel whose cells are shell commands; its program lies beside its kernel.json
SHELL = """
import subprocess
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Shell(Kernel):
    implementation = banner = "shell"
    implementation_version = "1"
    language_info = {"name": "sh", "mimetype": "text/x-sh", "file_extension": ".sh"}
    running = None

    def do_execute(self, code, silent, *arguments, **options):
        try:
            self.running = subprocess.Popen(["sh", "-c", code], stdout=-1, stderr=-2, text=True)
            for line in self.running.stdout:
                self.print(line)
            self.print("killed" if self.running.wait() == -9 else "")
        except KeyboardInterrupt:
            self.print("interrupted")
        return {"status": "ok", "execution_count": self.execution_count, "user_expressions": {}}

    def print(self, text):
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": text})

    async def interrupt_request(self, stream, ident, parent):
        self.running.kill()
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

IPKernelApp.launch_instance(kernel_class=Shell)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Installs the kernelspec `shell`, with changes to its kernel.json, and returns its folder."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))

    def install(**changes: object) -> Path:
        folder = tmp_path / "jupyter" / "kernels" / "shell"
        folder.mkdir(parents=True)
        (folder / "shell.py").write_text(SHELL)
        argv = ["python", "{resource_dir}/shell.py", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": "Shell", "language": "sh"}
        (folder / "kernel.json").write_text(json.dumps(spec | changes))
        return folder

    return install


def notebook(*sources: str) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])


def run(*sources: str, kernel: str = COLD, **settings: object) -> list[str]:
    """What each cell prints when nbclient runs it in the kernel `shell`."""
    book = notebook(*sources)
    config = Config(SandboxProvisioner={"kernelspec": "shell", **settings})
    manager = AsyncKernelManager(kernel_name=kernel, config=config)
    NotebookClient(book, km=manager, timeout=60).execute()
    return ["".join(output.text for output in cell.outputs).strip() for cell in book.cells]


@pytest.mark.slow
def test_the_readme_s_example_runs_it(install, tmp_path, monkeypatch):
    install()
    monkeypatch.chdir(tmp_path)
    nbformat.write(notebook("hostname"), "nb.ipynb")
    program = re.search(
        r"### A kernel of another.*?```python\n(.*?)```", README.read_text(), flags=re.DOTALL
    )[1]
    program = program.replace('"bash"', '"shell"') + "print(notebook.cells[0].outputs[0].text)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("sandbox", 0), done.stderr


@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_it_runs_in_the_sandbox_with_the_same_limits(install, kernel):
    install()
    where, status, limits, others = run(
        "hostname; pwd; id -u",
        "grep -E '^(CapPrm|CapEff|NoNewPrivs|Seccomp):' /proc/self/status",
        "grep -E 'open files|processes' /proc/self/limits",
        "cat /etc/passwd; unshare --user true; ls -d /root/* /home/*",
        kernel=kernel,
        open_file_limit=100,
        process_limit=50,
    )
    assert where.split()[:2] == ["sandbox", "/home/user"] and where.split()[2] != "0"
    assert [line.split()[1] for line in status.splitlines()] == ["0" * 16, "0" * 16, "1", "2"]
    assert [line.split()[-2] for line in limits.splitlines()] == ["50", "100"]
    assert "root:" not in others
    assert "Operation not permitted" in others
    assert others.splitlines()[-1] == "/home/user"


def test_its_variables_refer_to_those_of_the_sandbox_and_can_be_replaced(install):
    install(env={"GREETING": "hello ${USER}", "HOME": "/root", "PATH": "/opt/own:${PATH}", "COLOR": "red"})
    (text,) = run('echo "$GREETING, $HOME, $PATH, $COLOR"', environment={"COLOR": "green"})
    greeting, home, path, color = text.split(", ")
    assert (greeting, home, color) == ("hello user", "/home/user", "green")
    assert path.startswith("/opt/own:") and path.endswith("/usr/bin:/bin")


def test_its_folder_is_visible_and_nothing_beside_it(install, tmp_path):
    folder = install()
    (tmp_path / "secret.txt").write_text("it")
    listed, written, secret = run(
        f"ls {folder}", f"echo x > {folder}/x", f"ls {tmp_path}; cat {tmp_path}/secret.txt"
    )
    assert listed.split() == ["kernel.json", "shell.py"]
    assert "Read-only file system" in written
    assert secret.splitlines()[0] == "jupyter"
    assert "No such file" in secret


def test_a_program_that_is_installed_in_a_folder_of_its_own_is_visible_with_that_folder(install, tmp_path):
    program = tmp_path / "language" / "bin" / "language"
    program.parent.mkdir(parents=True)
    (tmp_path / "language" / "lib.txt").write_text("the library")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    link = tmp_path / "links" / "language"
    link.parent.mkdir()
    link.symlink_to(program)
    folder = install()
    spec = json.loads((folder / "kernel.json").read_text())
    (folder / "kernel.json").write_text(json.dumps(spec | {"argv": [str(link), *spec["argv"][1:]]}))
    assert run(f"cat {tmp_path}/language/lib.txt") == ["the library"]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "said"), [("signal", "interrupted"), ("message", "killed")])
def test_it_is_interrupted_as_its_kernelspec_says(install, mode, said):
    install(interrupt_mode=mode)

    async def printed() -> list[str]:
        manager = AsyncKernelManager(
            kernel_name=COLD, config=Config(SandboxProvisioner={"kernelspec": "shell"})
        )
        await manager.start_kernel()
        client = manager.client()
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=60)
            client.execute("echo begins; exec sleep 600")
            texts: list[str] = []
            while len(texts) < 2:
                message = await client.get_iopub_msg(timeout=60)
                if message["msg_type"] == "stream":
                    texts.append(message["content"]["text"])
                    if texts == ["begins\n"]:
                        await manager.interrupt_kernel()
            return texts
        finally:
            client.stop_channels()
            await manager.shutdown_kernel(now=True)

    assert asyncio.run(printed()) == ["begins\n", said]


@pytest.mark.slow
def test_large_outputs_arrive_whole(install):
    install()
    (text,) = run("head -c 20000000 /dev/zero | tr '\\0' x")
    assert len(text) == 20_000_000


def test_a_kernel_that_ends_at_once_is_a_failed_start_with_the_last_line_that_it_printed(install):
    install(argv=["python", "-m", "no_such_kernel", "{connection_file}"])
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(
        StartFailed, match=r"kernel of `shell` failed to start: it ended at once: .*no_such_kernel"
    ):
        run("x")
    deadline = time.monotonic() + 10  # threads of earlier kernels may open and close files meanwhile
    while len(os.listdir("/proc/self/fd")) > len(before) + 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(os.listdir("/proc/self/fd")) <= len(before) + 1  # the one that lists them


def test_a_program_that_can_t_be_run_is_a_failed_start(install, tmp_path):
    broken = tmp_path / "programs" / "broken"
    broken.parent.mkdir()
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    install(argv=[str(broken), "{connection_file}"])
    with pytest.raises(StartFailed, match="broken: No such file or directory"):
        run("x")


def test_a_kernel_that_never_listens_is_a_failed_start(install):
    install(argv=["sleep", "600"])
    with pytest.raises(StartFailed, match="not ready within 2 s"):
        run("x", start_seconds=2)


def test_a_kernelspec_or_a_program_that_is_not_installed_is_named(install):
    with pytest.raises(SandboxError, match=r"the kernelspec `shell` is not installed"):
        run("x")
    folder = install(argv=["no-such-program", "{connection_file}"])
    with pytest.raises(
        SandboxError, match=f"starts `no-such-program`, which is not installed.*{folder}/kernel.json"
    ):
        run("x")
