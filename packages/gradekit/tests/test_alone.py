"""gradekit without the packages that depend on it: they may be missing, and its own commands are all there."""

import argparse
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gradekit.cli import Commands, main

PACKAGES = Path(__file__).parents[2]
#: hides the packages that bring commands of their own, then imports every module of gradekit and runs a command
ALONE = """
import importlib.metadata, pkgutil, sys

OTHERS = ("gradekit_authoring", "gradekit_integrity", "gradekit_lms", "gradekit_watch", "gradekit_written")


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden())
found = importlib.metadata.entry_points


def entry_points(**wanted):
    return [point for point in found(**wanted) if point.module.split(".")[0] not in OTHERS]


importlib.metadata.entry_points = entry_points
import gradekit

for module in pkgutil.walk_packages(gradekit.__path__, "gradekit."):
    if ".template" not in module.name and not module.name.endswith("__main__"):
        __import__(module.name)
assert not [name for name in sys.modules if name.startswith(OTHERS)]
from gradekit.cli import main

raise SystemExit(main(sys.argv[1:]))
"""
#: in this order, which is that of an instructor's work
TO_BEGIN, TO_LEARN = ("demo", "init"), ("learn",)
OF_A_CLASS = ("return", "lms", "lti", "requests", "similar", "viva", "defend", "written", "deal")
FOR_AUTHORS = ("audit", "record", "earlier", "standalone", "samples", "new", "doctor", "adopt")
FROM_COMPANIONS = {*TO_BEGIN, *TO_LEARN, "watch", *OF_A_CLASS, *FOR_AUTHORS}
COMMANDS = [
    *TO_BEGIN,
    "help",
    *TO_LEARN,
    *("autograde", "regrade", "revise", "deadline", "extend", "watch", "table", "report", "comment"),
    *OF_A_CLASS,
    *FOR_AUTHORS,
]


def commands(shown: str) -> list[str]:
    """The commands that `gradekit --help` lists."""
    lines = [line for line in shown.splitlines() if line.startswith("    ") and line[4:5].strip()]
    return [line.split()[0] for line in lines]


def test_the_commands_of_all_packages_have_one_order(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert commands(capsys.readouterr().out) == COMMANDS


def test_each_entry_point_adds_commands_at_a_place_of_its_own():
    places = [point.name.partition("_")[0] for point in entry_points(group="gradekit.commands")]
    assert len(set(places)) == len(places) and all(len(place) == 3 for place in places)


@pytest.mark.parametrize("point", entry_points(group="gradekit.commands"), ids=lambda point: point.name)
def test_the_name_of_an_entry_point_lists_the_commands_that_it_adds(point):
    parser = argparse.ArgumentParser()
    added = Commands(parser)
    point.load()(added)
    assert added.names == point.name.partition("_")[2].split(".")


@pytest.mark.parametrize("command", ["--help", "table 01_double"])
@pytest.mark.slow
def test_gradekit_needs_none_of_the_packages_that_depend_on_it(command, graded_class):
    run = [sys.executable, "-c", ALONE, *command.split()]
    done = subprocess.run(run, cwd=graded_class.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if command == "--help":
        assert commands(done.stdout) == [name for name in COMMANDS if name not in FROM_COMPANIONS]
    else:
        assert "right" in done.stdout


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("viva 01_double --seed 1 --help", "gradekit-integrity"),
        ("watch --folder", "gradekit-watch"),
        ("lti --status", "gradekit-lms"),
        ("deal 01_double --to ann,bob", "gradekit-written"),
    ],
)
def test_a_command_of_a_package_that_is_missing_says_which_one_it_is(command, package, tmp_path):
    run = [sys.executable, "-c", ALONE, *command.split()]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    metadata = tomllib.loads((PACKAGES / package / "pyproject.toml").read_text())["project"]
    needed = [line.partition(">")[0] for line in metadata["dependencies"] if line.startswith("gradekit-")]
    folders = " ".join(f"./packages/{name}" for name in (*needed, package))
    assert done.stderr == (
        f"gradekit: {command.split()[0]} is a command of {package}, which is not installed: "
        f"`pip install {folders}` in the folder with gradekit's sources\n"
    )
