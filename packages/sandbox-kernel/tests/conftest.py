"""Kernels for the tests, of which those that don't need a fresh one share one of each kind."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from traitlets.config import Config

#: a very busy machine may take minutes for what usually takes seconds
SECONDS = 600


class RunningKernel:
    """A kernel and a client of it; `settings` are traits of its provisioner."""

    def __init__(self, name: str, **settings: object) -> None:
        self._folder = tempfile.TemporaryDirectory()  # in which a limited kernel has its home
        self.manager = KernelManager(
            kernel_name=name,
            connection_file=str(Path(self._folder.name) / "kernel.json"),
            config=Config(WatchedProvisioner=settings),
        )
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def outputs(self, source: str) -> list[dict]:
        """The contents of the messages that a cell sends."""
        found: list[dict] = []
        reply = self.client.execute_interactive(
            source, timeout=SECONDS, output_hook=lambda message: found.append(message["content"])
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return found

    def run(self, source: str) -> str:
        """What a cell prints."""
        return "".join(
            output["text"] for output in self.outputs(source) if output.get("name") == "stdout"
        ).strip()

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self._folder.cleanup()


@pytest.fixture
def start_kernel() -> Iterator[Callable[..., RunningKernel]]:
    """Starts kernels, which end with the test."""
    running: list[RunningKernel] = []

    def start(name: str, **settings: object) -> RunningKernel:
        running.append(RunningKernel(name, **settings))
        return running[-1]

    yield start
    for kernel in running:
        kernel.close()


@pytest.fixture(scope="session")
def shared() -> Iterator[Callable[[str], RunningKernel]]:
    """Returns the running kernel of a name. A test may define names in it, and must leave it usable."""
    running: dict[str, RunningKernel] = {}

    def get(name: str) -> RunningKernel:
        if name in running and not running[name].manager.is_alive():  # a test has ended its server
            running.pop(name).close()
        if name not in running:
            running[name] = RunningKernel(name)
        return running[name]

    yield get
    for kernel in running.values():
        kernel.close()
