"""How a shell gets the commands of this environment."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradekit_authoring.environment import activation, as_typed


class TestActivation:
    """`gradekit demo`, `init` and `doctor` say how a shell finds the commands."""

    @pytest.fixture
    def environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """An environment with both commands, in which this process runs as far as it can see."""
        return self.made(tmp_path / "an environment", monkeypatch)

    def made(self, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        (prefix / "bin").mkdir(parents=True)
        for name in ("python", "gradekit", "nbgrader"):
            (prefix / "bin" / name).touch(0o755)
        monkeypatch.setattr(sys, "prefix", str(prefix))
        monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        return prefix

    def test_nothing_has_to_be_done_if_the_shell_finds_them(self, environment, monkeypatch):
        monkeypatch.setenv("PATH", f"{environment}/bin:/usr/bin:/bin")
        assert activation() == ""

    @pytest.mark.parametrize("script", [True, False])
    def test_the_command_makes_a_shell_find_them(self, environment, script):
        if script:
            (environment / "bin" / "activate").write_text(f"PATH='{environment}/bin':$PATH\n")
        found = ["bash", "-ec", f"{activation()}; command -v gradekit nbgrader"]
        done = subprocess.run(found, capture_output=True, text=True, check=True)
        assert done.stdout.split("\n")[:2] == [f"{environment}/bin/gradekit", f"{environment}/bin/nbgrader"]

    def test_conda_activates_its_own(self, environment):
        (environment / "conda-meta").mkdir()
        assert activation() == f"conda activate '{environment}'"

    def test_uvx_has_an_environment_for_one_command_only(self, tmp_path, monkeypatch):
        prefix = self.made(tmp_path / "uv" / "archive-v0" / "x", monkeypatch)
        monkeypatch.setenv("PATH", f"{prefix}/bin:/usr/bin:/bin")  # as uvx sets it
        assert activation().startswith("uv venv && source .venv/bin/activate && uv pip install ")
        assert as_typed("gradekit") == f"{prefix}/bin/gradekit"

    def test_a_command_that_the_shell_does_not_find_is_shown_with_its_folder(self, environment, monkeypatch):
        assert as_typed("gradekit") == f"'{environment}/bin/gradekit'"
        monkeypatch.setenv("PATH", f"{environment}/bin:/usr/bin:/bin")
        assert as_typed("gradekit") == "gradekit"
