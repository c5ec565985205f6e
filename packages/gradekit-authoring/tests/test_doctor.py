"""`gradekit doctor`: what it finds, and the remedies it suggests."""

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from gradekit.cli import main
from gradekit_authoring import doctor
from gradekit_authoring.doctor import Finding, examine_course, examine_machine
from sandbox_kernel import bubblewrap, cgroup, users, view


def found(findings, what: str) -> list[Finding]:
    return [finding for finding in findings if finding.what == what]


@pytest.mark.thorough
def test_where_nothing_is_missing_every_kernel_is_started_and_the_exit_code_is_0(generated):
    done = generated.run_new("gradekit", "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line[10:25].strip(): line for line in done.stdout.splitlines()}
    for what in ("Python", "packages", "nbgrader", "alembic", "sandbox", "course", "gradebook"):
        assert lines[what].startswith("ok "), lines[what]
    for kernel in ("sandbox", "sandbox-cold", "limited"):
        assert "ran a cell after" in lines[kernel]
    assert "the sandbox finds every installed package" in lines["imports"]
    assert "01_double: check files belong to test cells" in lines["assignment"]
    assert "0 students" in lines["gradebook"]


@pytest.mark.slow
def test_without_bubblewrap_it_says_what_to_install_and_the_exit_code_is_1(generated, monkeypatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    done = generated.run("gradekit", "doctor")
    assert done.returncode == 1
    assert (
        "missing   sandbox          bubblewrap is missing: install it (`apt-get install bubblewrap`"
        in done.stdout
    )
    assert "note      isolation        none but a memory limit" in done.stdout
    assert "ok        limited" in done.stdout
    assert "Traceback" not in done.stderr


def test_what_the_sandbox_has_here_is_one_line_each(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_kernel", lambda name: Finding(name, "ok", "not started in this test"))
    monkeypatch.setattr(doctor, "missing_inside", list)
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(users, "user_ids_problem", lambda: "")
    monkeypatch.setattr(cgroup, "cgroups_problem", lambda: "no cgroups in this test")
    lines = {finding.what: finding for finding in examine_machine(tmp_path)}
    assert "calls are allowed on x86_64" in lines["system calls"].found
    assert lines["user ids"].found.startswith("one for each kernel, from ")
    assert (lines["cgroups"].state, lines["cgroups"].found) == (
        "optional",
        "none for kernels: no cgroups in this test",
    )


def installed(folder: Path, name: str) -> Path:
    """A package as pip would have installed it; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    information = folder / f"{name}-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (information / "top_level.txt").write_text(name)
    (folder / f"{name}.py").write_text("")
    return folder / f"{name}.py"


def test_packages_that_submissions_can_t_import_are_named_with_the_reason_and_a_remedy(tmp_path, monkeypatch):
    course, empty, home = tmp_path / "course", tmp_path / "course" / "empty", tmp_path / "home"
    of_course, at_home = installed(course / "lib", "of_course"), installed(home, "at_home")
    installed(tmp_path / "elsewhere", "visible")
    empty.mkdir()
    paths = [course / "lib", empty, home, tmp_path / "elsewhere"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SANDBOX_KERNEL_HIDDEN", "")
    view._homes.cache_clear()
    try:
        findings = {finding.found: finding.remedy for finding in doctor._imports(course)}
    finally:
        view._homes.cache_clear()
    copy = "move it elsewhere, or `pip install` it as a copy, without --editable"
    hidden = "is in the course's folder, which submissions must not see"
    assert findings == {
        f"the package at_home ({at_home}) is missing in the sandbox: "
        "it is a home folder, or contains other people's files": "see `gradekit help sandbox`",
        f"the package of_course ({of_course}) {hidden}": copy,
        f"{empty}, from which Python imports, {hidden}": copy,
    }


def test_what_the_sandbox_lacks_here_is_a_note_and_nothing_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_kernel", lambda name: Finding(name, "ok", "not started in this test"))
    monkeypatch.setattr(doctor, "missing_inside", list)
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(users, "user_ids_problem", lambda: "only root can")
    made = SimpleNamespace(controllers=["memory", "pids"], folder="/sys/fs/cgroup/grading.scope")
    monkeypatch.setattr(cgroup, "cgroups_problem", lambda: "")
    monkeypatch.setattr(cgroup, "cgroups", lambda: made)
    lines = {finding.what: finding for finding in examine_machine(tmp_path)}
    assert (lines["system calls"].state, lines["user ids"].state) == ("note", "note")
    assert "no list for riscv64" in lines["system calls"].found
    assert lines["cgroups"].found == "one for each kernel (memory, pids) in /sys/fs/cgroup/grading.scope"


@pytest.mark.slow
def test_packages_of_the_wrong_version_are_named(tmp_path, monkeypatch):
    wanted = ["numpy>=999", "no-such-thing>=1", "pytest>=8", "not-asked-for; extra == 'cluster'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: wanted)
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: "no sandbox in this test")
    (finding,) = found(examine_machine(tmp_path), "packages")
    assert finding.needed
    assert (
        finding.found
        == f"numpy>=999 ({importlib.metadata.version('numpy')}), no-such-thing>=1 (not installed)"
    )
    assert "make setup" in finding.remedy


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("c = get_config()\nc.x = (1,\n", "line 2: SyntaxError"),
        ("c = get_config()\n\nconfigure(c)\n", "line 3: NameError: name 'configure' is not defined"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError"),
    ],
)
def test_a_broken_configuration_is_named_with_its_line(generated, capsys, lines, words):
    path = generated.root / "nbgrader_config.py"
    path.write_text(lines)
    (finding,) = examine_course(generated.root)
    assert finding.needed
    assert finding.found.startswith(f"{path}, {words}")
    assert generated.gradekit("table", "01_double") == 2
    assert capsys.readouterr().err.startswith(f"gradekit: {path}, {words}")


def test_a_configuration_without_gradekit_is_reported(generated):
    (generated.root / "nbgrader_config.py").write_text("c = get_config()\n")
    (finding,) = examine_course(generated.root)
    assert finding.needed
    assert "does not plug gradekit in" in finding.found


def test_a_folder_that_is_not_a_course_is_reported(tmp_path):
    (finding,) = examine_course(tmp_path)
    assert "has no nbgrader_config.py" in finding.found
    assert list(tmp_path.iterdir()) == []


def test_a_test_cell_whose_checks_do_not_fit_is_named(generated):
    generated.checks.write_text(generated.checks.read_text().replace("@points(4)", "@points(5)"))
    (finding,) = found(examine_course(generated.root), "assignment")
    assert finding.needed
    assert "the test cell `test_double` is worth 10 points, but the checks" in finding.found


def test_a_kernel_that_is_not_installed_and_a_damaged_record_are_reported(generated):
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write("\nget_config().RunChecks.student_kernel = 'nope'\n")
    (generated.assignment.checks / "reference.safetensors").write_bytes(b"{}")
    told = "\n".join(finding.found for finding in examine_course(generated.root) if finding.needed)
    assert "names the kernel `nope`, which is not installed" in told
    assert "reference.safetensors can't be read" in told


def test_limits_for_an_assignment_that_does_not_exist_are_reported(generated):
    with (generated.root / "nbgrader_config.py").open("a") as file:
        file.write("\nget_config().RunChecks.per_assignment = {'01_doubel': {'timeout': 9}}\n")
    note, fine = found(examine_course(generated.root), "assignment")
    assert "has limits for 01_doubel, but" in note.found
    assert "01_double: check files belong to test cells" in fine.found


def test_a_course_that_has_not_begun_is_fine(tiny_course):
    path = tiny_course.root / "source" / "02_later" / "later.ipynb"
    path.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(), path)
    findings = list(examine_course(tiny_course.root))
    assert not any(finding.needed for finding in findings)
    assert found(findings, "gradebook")[0].found == "none yet"
    assert [finding.state for finding in found(findings, "assignment")] == ["ok", "note"]
    assert not (tiny_course.root / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://nobody:secret@127.0.0.1:1/none", "can't be opened"),
        ("no url at all", "can't be opened"),
    ],
)
def test_a_gradebook_that_can_t_be_reached_is_reported_without_its_password(generated, url, words):
    path = generated.root / "nbgrader_config.py"
    path.write_text(path.read_text() + f"get_config().CourseDirectory.db_url = {url!r}\n")
    (finding,) = found(examine_course(generated.root), "gradebook")
    assert finding.needed
    assert words in finding.found
    assert "secret" not in finding.found


def test_a_gradebook_of_an_older_nbgrader_is_reported(generated):
    from sqlalchemy import text

    with generated.gradebook() as gradebook:
        gradebook.db.execute(text("UPDATE alembic_version SET version_num = '167914646830'"))
        gradebook.db.commit()
    (finding,) = found(examine_course(generated.root), "gradebook")
    assert finding.needed
    assert "nbgrader db upgrade" in finding.remedy


@pytest.mark.slow
def test_any_folder_gets_an_answer_and_no_traceback(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: "no sandbox in this test")
    assert main(["--course-dir", str(tmp_path), "doctor"]) == 1
    assert "has no nbgrader_config.py" in capsys.readouterr().out


@pytest.mark.parametrize(("setting", "words"), [("True", "start cold"), ("False", "don't start")])
def test_the_fallback_to_cold_kernels_is_named(tiny_course, setting, words):
    with open(tiny_course.root / "nbgrader_config.py", "a") as file:
        file.write(f"\nc.RunChecks.cold_fallback = {setting}\n")
    (finding,) = found(examine_course(tiny_course.root), "fallback")
    assert words in finding.found and "c.RunChecks.cold_fallback" in finding.found


@pytest.mark.parametrize(
    ("name", "odd"), [("123 (abc)", "()"), ("week [1]", "[]"), ("week 1.2", ""), ("a&b", "")]
)
def test_names_of_assignments_that_formgrader_takes_for_patterns_are_noted(tiny_course, name, odd):
    (tiny_course.root / "source" / "01_double").rename(tiny_course.root / "source" / name)
    folder = tiny_course.root / "submitted" / "ada" / name
    folder.mkdir(parents=True)
    config = Config()
    config.CourseDirectory.root = str(tiny_course.root)
    known = NbGraderAPI(config=config).get_submitted_students(name)  # as formgrader asks
    notes = [
        each for each in found(examine_course(tiny_course.root), "assignment") if "formgrader" in each.found
    ]
    assert known == (set() if odd else {"ada"})
    assert [f"names with {odd} for patterns" in note.found for note in notes] == ([True] if odd else [])
