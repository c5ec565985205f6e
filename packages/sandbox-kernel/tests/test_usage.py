"""What is counted of a kernel's processes, with plain processes in place of a kernel."""

import subprocess
import sys
import time

import pytest

from sandbox_kernel.usage import LinuxFamily, PortableFamily, family_of

BURN = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""
FAMILIES = [LinuxFamily, PortableFamily] if sys.platform == "linux" else [PortableFamily]


@pytest.fixture
def start():
    running = []

    def start(source: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", f"{BURN}\n{source}\nprint('ready', flush=True)\nsys.stdin.read()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", FAMILIES)
def test_processor_time_is_that_of_the_process_and_of_its_living_children(start, kind):
    family = kind(start("burn(0.3)\nif os.fork() == 0:\n    burn(0.4)").pid)
    end = time.monotonic() + 60
    while family.usage().cpu < 0.6 and time.monotonic() < end:
        time.sleep(0.05)
    assert 0.6 <= family.usage().cpu < 10


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processor_time_of_children_that_have_ended_stays_counted(start):
    family = LinuxFamily(start("if os.fork() == 0:\n    burn(0.5)\n    os._exit(0)\nos.wait()").pid)
    assert family.usage().cpu >= 0.45


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_cgroup_counts_what_nobody_waited_for(start, tmp_path):
    (tmp_path / "cpu.stat").write_text("usage_usec 7500000\nuser_usec 7000000\nsystem_usec 500000\n")
    process = start("")
    assert family_of(process.pid, tmp_path).usage().cpu == 7.5
    assert family_of(process.pid, tmp_path / "gone").usage().cpu < 7.5


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_family_that_is_gone_keeps_what_was_counted(start, kind):
    process = start("burn(0.2)")
    family = kind(process.pid)
    before = family.usage()
    process.kill()
    process.wait()
    assert family.usage().cpu >= before.cpu > 0
    assert family.memory(0) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_forks_share_counts_once_where_it_would_be_too_much(start):
    forks = (
        "block = bytearray(b'x' * 2**26)\nfor _ in range(4):\n    if os.fork() == 0:\n        time.sleep(600)"
    )
    process = start(forks + "\ntime.sleep(0.2)")
    family = family_of(process.pid)
    simple = family.memory(2**40)
    assert simple > 5 * 2**26
    assert family.memory(2**20) < simple / 2
    subprocess.run(["pkill", "-KILL", "-P", str(process.pid)], check=False)
