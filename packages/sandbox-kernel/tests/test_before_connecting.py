"""Nothing among the files of a kernel's user runs before its sockets are open outside, and no code can replace them."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator

import pytest
from traitlets.config import Config

from sandbox_kernel import COLD, LIMITED, SANDBOX

BOTH = pytest.mark.parametrize("kernel", [SANDBOX, COLD])
_RAN = "import builtins\nprint(getattr(builtins, '_ran', []))"


@pytest.fixture
def heard() -> Iterator[tuple[str, list[str]]]:
    """The path of a socket of this test's own, and a list that grows with each connection to it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        found: list[str] = []
        listener.bind(f"{folder}/socket")
        listener.listen()

        def listen() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()
                    found.append("connected")

        threading.Thread(target=listen, daemon=True).start()
        yield f"{folder}/socket", found


@BOTH
def test_settings_among_the_files_are_not_read_while_the_kernel_starts(kernel, start_kernel, tmp_path):
    for path in (
        ".ipython/profile_default/startup/00.py",
        ".ipython/profile_default/ipython_kernel_config.py",
        ".jupyter/jupyter_config.py",
        ".local/lib/python3.11/site-packages/usercustomize.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"import builtins\nbuiltins._ran = [{path!r}]\n")
    files = [str(path) for path in tmp_path.iterdir()]
    assert start_kernel(kernel, working_files=files).run(_RAN) == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
def test_files_named_like_folders_of_settings_are_files_like_any_other(kernel, start_kernel, tmp_path):
    names = [".ipython", ".jupyter", ".matplotlib", "settings"]
    for name in names:
        (tmp_path / name).write_text("3")
    found = start_kernel(kernel, working_files=[str(tmp_path / name) for name in names])
    assert found.run(f"print([open(name).read() for name in {names!r}])") == "['3', '3', '3', '3']"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
def test_a_module_beside_the_notebook_is_imported_before_an_installed_one_of_this_name(
    kernel, start_kernel, tmp_path
):
    (tmp_path / "bdb_of_mine.py").write_text("VALUE = 1")
    (tmp_path / "flask.py").write_text("VALUE = 2")
    (tmp_path / "sched.py").write_text("VALUE = 3")
    found = start_kernel(kernel, working_files=[str(path) for path in tmp_path.iterdir()])
    source = (
        "import bdb_of_mine, flask, sched\nprint(bdb_of_mine.VALUE, flask.VALUE, hasattr(sched, 'VALUE'))"
    )
    assert found.run(source) == "1 2 False"  # IPython searches the working folder after the standard library


@BOTH
def test_a_client_that_connects_later_still_reaches_the_kernel_and_no_socket_of_the_host(
    kernel, start_kernel, heard
):
    path, connections = heard
    running = start_kernel(kernel)
    running.run(
        "import glob, os\nfor path in glob.glob('/run/kernel/kernel-*'):\n"
        f"    os.unlink(path)\n    os.symlink({path!r}, path)"
    )
    client = running.manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
    finally:
        client.stop_channels()
    assert connections == []


@pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
def test_a_kernel_inherits_descriptors_under_their_numbers(kernel):
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name=kernel)
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            manager.start_kernel(pass_fds=[number := theirs.fileno()])
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=600)
            client.execute(f"import socket\nsocket.socket(fileno={number}).send(b'hello')")
            ours.settimeout(60)
            assert ours.recv(5) == b"hello"
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert ours.recv(1) == b""  # nobody else holds it


@pytest.mark.parametrize("kernel", [SANDBOX, COLD, LIMITED])
def test_code_in_place_of_a_kernel_is_as_confined_and_ends_with_its_client(kernel, tmp_path):
    from jupyter_client.manager import KernelManager

    ours, theirs = socket.socketpair()
    (tmp_path / "beside.py").write_text("word = b'here'")
    code = f"""
import os, resource, socket, beside
line = socket.socket(fileno={theirs.fileno()})
status = open("/proc/self/status").read()
limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
told = [beside.word.decode(), os.getcwd(), str(os.getpid()), str(limit), status.split("CapEff:")[1].split()[0]]
line.send(" ".join([*told, status.split("Seccomp:")[1].split()[0]]).encode())
line.recv(1)
"""
    settings = {"code": code, "working_files": [str(tmp_path / "beside.py")]}
    connection_file = str(tmp_path / "kernel.json")
    config = Config(WatchedProvisioner=settings)
    manager = KernelManager(
        kernel_name=kernel, transport="ipc", connection_file=connection_file, config=config
    )
    with ours:
        with theirs:
            manager.start_kernel(pass_fds=[theirs.fileno()])
        try:
            ours.settimeout(600)
            word, home, number, limit, rights, filtered = ours.recv(1000).decode().split()
            assert word == "here" and int(limit) > 0
            if kernel != LIMITED:
                assert (home, int(rights, 16), filtered) == ("/home/user", 0, "2")
                assert int(number) < 10
        finally:
            manager.shutdown_kernel(now=True)
        assert ours.recv(1) == b""
