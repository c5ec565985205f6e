"""gradekit without the packages that depend on it: they may be missing, and its own commands are all there."""

import argparse
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gradekit.cli import _COMPANIONS, Commands, main
from gradekit_watch.cli import _COMPANIONS as COMPANIONS_OF_WATCH

from .needs import mostly_thorough

PACKAGES = Path(__file__).parents[2]
PROJECTS = [
    tomllib.loads(path.read_text())["project"] for path in sorted(PACKAGES.glob("gradekit-*/pyproject.toml"))
]
#: hides the packages that bring commands of their own
ALONE = """
import importlib.metadata, sys
from importlib.machinery import PathFinder


class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.startswith("gradekit_") else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Hidden
found = importlib.metadata.entry_points


def entry_points(**wanted):
    return [point for point in found(**wanted) if not point.module.startswith("gradekit_")]


importlib.metadata.entry_points = entry_points
"""
RUN = """
from gradekit.cli import main

raise SystemExit(main(sys.argv[1:]))
"""
IMPORT_EVERY_MODULE = """
import gradekit, pkgutil

for module in pkgutil.walk_packages(gradekit.__path__, "gradekit."):
    if ".template" not in module.name and not module.name.endswith("__main__"):
        __import__(module.name)
assert not [name for name in sys.modules if name.startswith("gradekit_")]
"""
#: in this order, which is that of an instructor's work
TO_BEGIN, TO_LEARN = ("demo", "init"), ("learn",)
OF_A_CLASS = ("return", "lms", "lti", "requests", "similar", "viva", "defend", "written", "deal")
CHANGES = ("regrade", "revise")
FOR_AUTHORS = ("audit", "record", "earlier", "standalone", "samples", "new", "doctor", "adopt")
FROM_COMPANIONS = {*TO_BEGIN, *TO_LEARN, *CHANGES, "watch", *OF_A_CLASS, *FOR_AUTHORS}
COMMANDS = [
    *TO_BEGIN,
    "help",
    *TO_LEARN,
    *("autograde", *CHANGES, "deadline", "extend", "watch", "table", "report", "comment"),
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


def test_the_package_of_each_command_is_known_where_it_is_missing():
    brought = {
        command: each["name"]
        for each in PROJECTS
        for point in each["entry-points"].get("gradekit.commands", ())
        for command in point.partition("_")[2].split(".")
    }
    assert brought == _COMPANIONS


@pytest.mark.parametrize("command", mostly_thorough(["table 01_double", "--help"]))
@pytest.mark.slow
def test_gradekit_needs_none_of_the_packages_that_depend_on_it(command, graded_class):
    run = [sys.executable, "-c", ALONE + IMPORT_EVERY_MODULE + RUN, *command.split()]
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
        ("revise 01_double --rename a=b", "gradekit-authoring"),
        ("lti --status", "gradekit-lms"),
        ("deal 01_double --to ann,bob", "gradekit-written"),
    ],
)
def test_a_command_of_a_package_that_is_missing_says_which_one_it_is(command, package, tmp_path):
    assert refusal(ALONE, command, tmp_path) == (
        f"gradekit: {command.split()[0]} is a command of {package}, which is not installed: {remedy(package)}\n"
    )


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("watch 01_double --once --git roster.csv --json", "gradekit-git"),
        ("watch --http=keys.csv", "gradekit-git"),
        ("watch --lti", "gradekit-lms"),
    ],
)
def test_a_way_of_a_package_that_is_missing_says_which_one_it_is(command, package, tmp_path):
    (option,) = re.findall("--(?:git|http|lti)", command)
    script = ALONE.replace("gradekit_", package.replace("-", "_"))
    assert refusal(script, command, tmp_path) == (
        f"gradekit: {option} is an option of {package}, which is not installed: {remedy(package)}\n"
    )


def test_the_package_of_each_way_is_known_where_it_is_missing():
    brought = {
        way: each["name"] for each in PROJECTS for way in each["entry-points"].get("gradekit.ways", ())
    }
    assert brought == COMPANIONS_OF_WATCH


def refusal(script: str, command: str, folder: Path) -> str:
    """What the command says when it ends with the exit code 2."""
    run = [sys.executable, "-c", script + RUN, *command.split()]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    return done.stderr


def remedy(package: str) -> str:
    (lines,) = (each["dependencies"] for each in PROJECTS if each["name"] == package)
    needed = [line.partition(">")[0] for line in lines if line.startswith("gradekit-")]
    folders = " ".join(f"./packages/{name}" for name in (*needed, package))
    return f"`pip install {folders}` in the folder with gradekit's sources"
