"""Temporary folders whose owner was killed are removed by the next program; those of living ones stay."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_kernel import LIMITED
from sandbox_kernel.folders import HeldFolder

_HOLDS = """
import os, sys, time
from pathlib import Path
from sandbox_kernel.folders import HeldFolder
folder = HeldFolder("kind-")
(folder.path / "file").touch()
if not sys.argv[1:] or os.fork() == 0:
    print(folder.path, os.getpid(), flush=True)
time.sleep(600)
"""
_STARTS = """
import sys, time
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name=sys.argv[1])
manager.start_kernel()
print("started", flush=True)
time.sleep(600)
"""


def _run(script: str, folder: Path, *arguments: str) -> tuple[subprocess.Popen, list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def _kill(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where temporary files are made, by this process and by others."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_is_removed_by_the_next_that_makes_one(folder):
    killed, (abandoned, _) = _run(_HOLDS, folder)
    living, (kept, _) = _run(_HOLDS, folder)
    _kill(killed)
    assert Path(abandoned).exists()
    try:
        with HeldFolder("kind-") as mine:
            assert sorted(folder.iterdir()) == sorted([Path(kept), mine])
        assert list(folder.iterdir()) == [Path(kept)]
    finally:
        _kill(living)


def test_a_forked_child_does_not_keep_the_folder_of_its_killed_parent(folder):
    killed, (abandoned, child) = _run(_HOLDS, folder, "fork")
    _kill(killed)
    try:
        with HeldFolder("kind-"):
            assert not Path(abandoned).exists()
    finally:
        os.kill(int(child), signal.SIGKILL)


def test_folders_of_another_kind_and_links_are_left_alone(folder):
    (folder / "other-1.held").mkdir(mode=0o700)
    (folder / "kind-link.held").symlink_to(folder / "other-1.held")
    with HeldFolder("kind-"):
        assert (folder / "other-1.held").is_dir() and (folder / "kind-link.held").is_symlink()


@pytest.mark.parametrize("kernel", [LIMITED, pytest.param("sandbox", marks=pytest.mark.thorough)])
def test_nothing_is_left_of_a_killed_program_once_another_has_started_a_kernel(kernel, folder, start_kernel):
    killed, _ = _run(_STARTS, folder, kernel)
    _kill(killed)
    abandoned = [path for path in folder.glob("*.held")]
    assert abandoned
    start_kernel(kernel)
    assert not any(path.exists() for path in abandoned)
