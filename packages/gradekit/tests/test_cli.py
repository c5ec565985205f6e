"""The command's help is quick to print and complete, and where nothing can be graded, it says so."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.cli import _parser, main, progress_bar, progress_lines

#: large packages that no `--help` may import
LARGE = (
    "torch",
    "matplotlib",
    "seaborn",
    "scipy",
    "pandas",
    "nbgrader",
    "nbconvert",
    "sqlalchemy",
    "distributed",
)
COMMANDS = tuple(_parser()._subparsers._group_actions[0].choices)


@pytest.mark.parametrize("arguments", [["--help"], ["table", "--help"]])
def test_help_imports_nothing_large(arguments):
    script = f"""
import sys
from gradekit.cli import main
try:
    main({arguments!r})
finally:
    print(sorted(set({LARGE!r}) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout.startswith("usage: gradekit")


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n    {name} " not in shown] == []


def test_a_misspelt_command_is_answered_with_the_one_that_was_meant(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["autgrade", "01_double"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == ("gradekit: there is no command autgrade. Did you mean `autograde`?\n")


def test_a_misspelt_assignment_is_answered_with_the_one_that_was_meant(generated, capsys):
    assert generated.gradekit("table", "01_duoble") == 2
    assert "has no 01_duoble; it has 01_double. Did you mean `01_double`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("gradekit autog", {"autograde"}),
        ("gradekit autograde --fo", {"--force"}),
        ("gradekit autograde 01", {"01_double"}),
        ("gradekit --course-dir {} deadline 01", {"01_double"}),
    ],
)
def test_bash_completes_commands_options_and_assignments(generated, typed, completed):
    pytest.importorskip("argcomplete")
    line = typed.format(generated.root)
    words = len(line.split()) - 1
    script = f"""
eval "$(register-python-argcomplete gradekit)"
COMP_LINE={shlex.quote(line)}
COMP_POINT={len(line)} COMP_WORDS=({line}) COMP_CWORD={words} COMP_TYPE=9
_python_argcomplete gradekit {shlex.quote(line.split()[-1])} {shlex.quote(line.split()[-2])}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=generated.root,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == completed, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: gradekit {command}" in capsys.readouterr().out


@pytest.mark.slow
def test_workers_can_be_forked_from_a_command_that_has_read_the_configuration(generated):
    script = f"""
import os
import re
from gradekit.cli import main
os.chdir({str(generated.root)!r})
assert main(["table", "01_double"]) == 0
print(os.listdir("/proc/self/task") == [str(os.getpid())])
"""
    own = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=own)
    assert done.stdout.endswith("True\n"), done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "gradekit autograde 01_double",
        pytest.param("gradekit watch --folder --once", marks=pytest.mark.thorough),
        pytest.param("nbgrader autograde 01_double", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.slow
def test_where_bubblewrap_does_not_run_a_sentence_says_so_without_a_traceback(
    generated, monkeypatch, command
):
    broken = generated.root.parent / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: no permissions here' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}{os.pathsep}{os.environ['PATH']}")
    generated.hand_in("ada", generated.answer("def double(x):\n    return 2 * x"))
    done = generated.run_new(*command.split())
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "bubblewrap does not run here (bwrap: no permissions here)" in said
    assert "Traceback" not in said
    assert not (generated.root / "autograded" / "ada" / "01_double").exists(), (
        "nothing half made, which the next command would take for graded"
    )


def test_the_versions_are_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"gradekit \S+, sandbox-kernel \S+, nbgrader 0\.9\.\d+\n", capsys.readouterr().out)


def test_a_name_may_end_with_a_slash_as_the_shell_completes_it(generated, capfd):
    assert generated.gradekit("table", "01_double/") == 0
    assert capfd.readouterr().out.startswith("01_double")


def test_in_a_pipe_there_is_a_line_a_minute_and_no_progress_bar(capfd, monkeypatch):
    now = 0.0
    monkeypatch.setattr("gradekit.cli.time.monotonic", lambda: now)
    with progress_lines("01_double", "submission", 4) as bar:
        for now in (20.0, 65.0, 80.0, 130.0):  # noqa: B007  # read by the clock
            bar.update()
    assert capfd.readouterr().err == (
        "01_double: 0 of 4 submissions\n"
        "01_double: 2 of 4 submissions after 65 s\n"
        "01_double: 4 of 4 submissions after 130 s\n"
    )


@pytest.mark.parametrize(("total", "quiet"), [(None, False), (4, True)])
def test_in_a_pipe_nothing_is_said_of_an_unknown_number_or_quietly(capfd, total, quiet):
    with progress_bar("01_double", "submission", total, quiet) as bar:
        bar.update(2 - bar.n)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("typed", "answer"), [("tabel", "Did you mean `table`?"), ("xyz", "`gradekit --help` lists all")]
)
def test_an_unknown_command_is_answered_in_one_line(capsys, typed, answer):
    with pytest.raises(SystemExit) as ended:
        main([typed])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert answer in said and said.count("\n") == 1
