"""A cgroup for each kernel, on a tree of plain files that behaves like the system's where it matters."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

from sandbox_kernel import SANDBOX, cgroup, sandboxed
from sandbox_kernel.cgroup import Cgroups, NoCgroups


class Tree(Cgroups):
    """New folders have the files that the system would put there, and a folder with those can be removed."""

    def enclose(self, pid: int, memory: int, processes: int) -> Path | None:
        make = Path.mkdir

        def mkdir(path: Path, *arguments: object, **options: object) -> None:
            make(path, *arguments, **options)
            fill(path, self.controllers)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "mkdir", mkdir)
            return super().enclose(pid, memory, processes)

    def _rmdir(self, path: Path) -> None:
        shutil.rmtree(path)


def fill(folder: Path, controllers: list[str]) -> None:
    names = {"cpu": ["cpu.weight"], "memory": ["memory.max", "memory.oom.group"], "pids": ["pids.max"]}
    own = ["cgroup.procs", "cgroup.type", "cgroup.kill", "cgroup.subtree_control", "cpu.stat"]
    for name in [*own, *(name for each in controllers for name in names[each])]:
        (folder / name).write_text("")


@pytest.fixture
def mount(tmp_path):
    """The tree as a container sees it: its top is the container's own."""
    fill(tmp_path, [])
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return tmp_path


def test_a_kernel_gets_a_cgroup_with_limits_which_is_removed(mount):
    groups = Tree(mount, "/", managed=True)
    assert set((mount / "cgroup.subtree_control").read_text().split()) == {"+cpu", "+memory", "+pids"}
    path = groups.enclose(4711, memory=1 << 30, processes=129)
    assert path == mount / f"sandbox-kernel-{os.getpid()}-4711"
    found = {
        name: (path / name).read_text() for name in ("cgroup.procs", "memory.max", "pids.max", "cpu.weight")
    }
    assert found == {
        "cgroup.procs": "4711",
        "memory.max": str(1 << 30),
        "pids.max": "129",
        "cpu.weight": "50",
    }
    groups.remove(path)
    assert not path.exists()


def test_only_the_controllers_that_are_there_are_used(mount):
    (mount / "cgroup.controllers").write_text("pids\n")
    groups = Tree(mount, "/", managed=True)
    path = groups.enclose(4711, memory=1 << 30, processes=129)
    assert (path / "pids.max").read_text() == "129"
    assert not (path / "memory.max").exists()


def test_a_limit_that_can_t_be_set_means_no_cgroup_and_no_error(mount):
    groups = Cgroups(mount, "/", managed=True)  # its new folders are empty, so nothing can be written
    assert groups.enclose(4711, memory=1 << 30, processes=129) is None
    assert list(mount.glob("sandbox-kernel-*")) == []


def test_the_client_s_processes_are_moved_if_the_system_requires_it(mount, monkeypatch):
    scope = mount / "user.slice" / "client.scope"
    scope.mkdir(parents=True)
    fill(scope, [])
    (scope / "cgroup.controllers").write_text("memory pids")
    (scope / "cgroup.procs").write_text("100\n101\n")
    write, moved = Path.write_text, []

    def as_the_system_does(path: Path, text: str) -> int:
        if path.name == "cgroup.subtree_control" and len(moved) < 2:
            raise OSError(errno.EBUSY, "Device or resource busy")
        if path.parent.name == "sandbox-kernel-host":
            moved.append(text)
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", as_the_system_does)
    monkeypatch.setattr(os, "getxattr", lambda folder, name: b"1" if folder == scope else b"0")
    groups = Tree(mount, "/user.slice/client.scope", managed=True)
    assert moved == ["100", "101"]
    assert groups.folder == scope
    # the next process of the client starts in the new cgroup
    assert Tree(mount, "/user.slice/client.scope/sandbox-kernel-host", managed=True).folder == scope


@pytest.mark.parametrize(
    ("own", "controllers", "words"),
    [
        ("/user.slice", "cpu memory", "isn't delegated to this program: start the program with `systemd-run"),
        ("/", "", "cgroups v2 has none"),
        ("/no/such", "cpu", "can't be seen"),
    ],
)
def test_where_none_can_be_made_one_sentence_says_why(mount, own, controllers, words):
    (mount / "user.slice").mkdir()
    for folder in (mount, mount / "user.slice"):
        fill(folder, [])
        (folder / "cgroup.controllers").write_text(controllers)
    with pytest.raises(NoCgroups, match=words) as found:
        Cgroups(mount, own, managed=True)
    assert "\n" not in str(found.value)


def test_the_top_of_a_machine_is_left_to_systemd(mount):
    (mount / "cgroup.type").unlink()
    with pytest.raises(NoCgroups, match="isn't delegated"):
        Cgroups(mount, "/", managed=True)
    assert Cgroups(mount, "/", managed=False).folder == mount


def test_a_kernel_that_the_system_ended_for_its_memory_is_recognized(tmp_path):
    assert not cgroup.ran_out_of_memory(tmp_path)
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\n")
    assert cgroup.ran_out_of_memory(tmp_path)


def test_a_kernel_is_enclosed_before_its_first_cell_and_released_at_its_end(mount, monkeypatch):
    groups = Tree(mount, "/", managed=True)
    monkeypatch.setattr(sandboxed.cgroup, "cgroups_problem", lambda: "")
    monkeypatch.setattr(sandboxed.cgroup, "cgroups", lambda: groups)
    manager = KernelManager(kernel_name=SANDBOX, transport="ipc")
    manager.start_kernel()
    (path,) = mount.glob("sandbox-kernel-*")
    assert (path / "memory.max").read_text() == str((2048 + 512) << 20)
    manager.shutdown_kernel(now=True)
    assert list(mount.glob("sandbox-kernel-*")) == []
