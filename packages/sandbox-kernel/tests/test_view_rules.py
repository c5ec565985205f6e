"""Which folders Python imports from, and which of them the sandbox leaves out: the rules, without a kernel."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_kernel import compare, view
from sandbox_kernel.view import HIDDEN, SandboxError, hide, program_view, python_view


class TestFoldersLeftOut:
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        (tmp_path / "home").mkdir()
        monkeypatch.delenv(HIDDEN, raising=False)
        view._homes.cache_clear()

    def refused(self, *entries: object, hidden: str = "") -> dict[str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", os.pathsep.join(map(str, entries)))
            return dict(python_view(sys.executable, hidden=[hidden] if hidden else []).refused)

    def test_home_folders_and_those_that_everybody_uses(self, tmp_path):
        entries = [tmp_path / "home", tmp_path, Path("/tmp"), Path("/"), Path("/home"), Path("/opt")]
        entries = [entry for entry in entries if entry.exists()]
        reason = "it is a home folder, or contains other people's files"
        assert self.refused(*entries) == dict.fromkeys(map(str, entries), reason)

    def test_folders_of_the_system_and_of_settings(self, tmp_path):
        settings = tmp_path / "home" / ".ssh"
        settings.mkdir()
        found = self.refused("/etc", "/proc/self", settings)
        assert found == {
            "/etc": "it belongs to the system",
            "/proc/self": "it belongs to the system",
            str(settings): "it is a folder of settings",
        }

    def test_a_hidden_folder_all_in_it_and_all_that_contains_it_by_any_spelling(self, tmp_path):
        course = tmp_path / "teaching" / "course"
        (course / "lib").mkdir(parents=True)
        link = tmp_path / "link"
        link.symlink_to(course / "lib")
        found = self.refused(course, course / "lib", course.parent, link, hidden=str(course))
        assert list(found) == [str(course), str(course / "lib"), str(course.parent), str(link)]
        assert {text.partition("hidden")[0] for text in found.values()} == {
            "it is in a folder that is ",
            "it contains a folder that is ",
        }
        other = tmp_path / "other-spelling"
        other.symlink_to(course)
        assert str(course / "lib") in self.refused(course / "lib", hidden=str(other))

    def test_a_folder_once_hidden_stays_hidden_in_child_processes(self, tmp_path, monkeypatch):
        monkeypatch.setenv(HIDDEN, "/srv/other")
        (tmp_path / "course").mkdir()
        hide(tmp_path / "course")
        hide(tmp_path / "course")
        assert os.environ[HIDDEN] == f"/srv/other{os.pathsep}{tmp_path / 'course'}"
        assert str(tmp_path / "course") in self.refused(tmp_path / "course")

    def test_what_is_refused_can_t_be_shown_by_a_setting(self, tmp_path):
        with pytest.raises(SandboxError, match="home can't be shown to a kernel: it is a home folder"):
            python_view(sys.executable, [str(tmp_path / "home")])

    def test_what_does_not_exist_can_t_be_shown(self, tmp_path):
        with pytest.raises(SandboxError, match=r"gone can't be shown to a kernel: it does not exist"):
            python_view(sys.executable, [str(tmp_path / "gone")])

    def test_an_environment_in_the_course_folder_itself_shows_only_its_own_parts(self, tmp_path):
        course = tmp_path / "course"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(course)], check=True)
        (course / "gradebook.db").write_text("it")
        found = python_view(str(course / "bin" / "python"), hidden=[str(course)]).paths
        own = [path for path in found if Path(path).is_relative_to(course)]
        assert own and not {str(course), str(course / "gradebook.db")} & set(own)
        site_packages = Path(site.__file__).parent.name
        assert f"{course}/lib/{site_packages}/site-packages" in own or f"{course}/lib/{site_packages}" in own

    def test_a_path_that_the_variable_can_t_hold_is_hidden_with_its_parent(self, tmp_path, monkeypatch):
        monkeypatch.setenv(HIDDEN, "")
        hide(tmp_path / "physics: term 1" / "course")
        assert os.environ[HIDDEN] == str(tmp_path)

    def test_a_python_that_does_not_run_is_named(self, tmp_path):
        with pytest.raises(SandboxError, match="python can't report where it imports from"):
            python_view(str(tmp_path / "python"))

    def test_a_program_in_a_folder_of_many_is_seen_alone(self, tmp_path):
        program = tmp_path / "home" / ".local" / "bin" / "some-kernel"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        assert program_view(str(program), []).paths == (str(program),)


def test_nothing_is_imported_from_the_folder_in_which_a_client_is(tmp_path, monkeypatch):
    for name in ("json", "sysconfig", "importlib"):
        (tmp_path / f"{name}.py").write_text("open('found', 'w')\nraise SystemExit")
    monkeypatch.chdir(tmp_path)
    python_view.__globals__["_ask"].cache_clear()
    assert python_view(sys.executable).paths
    compare.missing_inside()
    assert not (tmp_path / "found").exists()


def test_an_empty_entry_of_pythonpath_is_no_folder_to_import_from(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("open('found', 'w')\nraise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{os.pathsep}/nowhere")
    assert python_view(sys.executable).paths
    compare.missing_inside()
    assert not (tmp_path / "found").exists()


class TestFoldersOfTheSystem:
    """Hidden ones below /usr, for which a folder of the test's own stands."""

    @pytest.fixture
    def system(self, tmp_path, monkeypatch):
        monkeypatch.setattr(view, "SYSTEM", (*view.SYSTEM, str(tmp_path / "usr")))
        (tmp_path / "usr" / "src" / "course" / "exchange").mkdir(parents=True)
        return tmp_path / "usr"

    def test_are_hidden_once_even_if_one_lies_in_another(self, system):
        course = str(system / "src" / "course")
        found = python_view(sys.executable, hidden=[course, f"{course}/exchange", f"{course}/not-there"])
        assert found.hidden == (course,)

    def test_are_hidden_although_python_imports_from_there(self, system, monkeypatch):
        course = str(system / "src" / "course")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([f"{course}/exchange", str(system / "src")]))
        found = python_view(sys.executable, hidden=[course])
        assert found.hidden == (course,)
        assert dict(found.refused) == {f"{course}/exchange": "it is in a folder that is hidden from kernels"}
        assert dict(found.variables)["PYTHONPATH"] == str(system / "src")

    def test_show_an_environment_that_lies_in_one_of_them(self, system):
        course = system / "src" / "course"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(course / ".venv")], check=True)
        (course / "gradebook.db").write_text("it")
        found = python_view(str(course / ".venv" / "bin" / "python"), hidden=[str(course)])
        assert found.hidden == (str(course),)
        assert [path for path in found.paths if Path(path).is_relative_to(course)] == [f"{course}/.venv"]
