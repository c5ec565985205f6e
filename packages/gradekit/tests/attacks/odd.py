"""Attacks by the files that nbgrader reads beside a notebook, and by notebooks that are costly to read or repair."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from .attack import NBGRADER, NONE, WRONG, Attack, HandIn, any_of, goes_ungraded, takes

BOTH = (NONE, NBGRADER)
_TIME, _SECRET = "timestamp.txt", "submission_secret.txt"


def beside(name: str, put: Callable[[Path], object]) -> HandIn:
    """A wrong notebook, and something beside it."""

    def hand_in(course: Any, student: str) -> None:
        course.hand_in(student, course.answer(WRONG))
        put(course.folder(student) / name)

    return hand_in


def written(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**30)


def _folder(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def _deep(path: Path) -> None:
    path.joinpath(*["x"] * 500).mkdir(parents=True)


def _many(path: Path) -> None:
    path.mkdir()
    for number in range(5_000):
        (path / str(number)).touch()


def notebook(source: str, kind: str = "code", count: int = 1) -> HandIn:
    """The released notebook without marks, and `count` cells of this source more."""

    def hand_in(course: Any, student: str) -> None:
        content = json.loads(nbformat.writes(course.answer(WRONG)))
        for cell in content["cells"]:
            cell["metadata"] = {}
            cell["id"] += "-own"
        cell = {"cell_type": kind, "metadata": {}, "outputs": [], "execution_count": None}
        content["cells"] += [
            {**cell, "source": source.replace("#", str(n)), "id": f"c{n}"} for n in range(count)
        ]
        course.hand_in(student, json.dumps(content))

    return hand_in


def raw(data: bytes) -> HandIn:
    return lambda course, student: course.hand_in(student, data)


def handed(name: str, aim: str, hand_in: HandIn, **more: Any) -> Attack:
    return Attack(name, aim, any_of(goes_ungraded, takes(seconds=200, grader=2500)), hand_in=hand_in, **more)


_CODE = "\n".join(f"def f{number}_#(x):\n    return x + {number}" for number in range(150))
_BRACKETS = (
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + b"[]," * (7 * 2**20) + b"[]]}"
)

ATTACKS = [
    handed("says-a-time-that-is-none", "A time stamp of which nbgrader can make nothing.", beside(_TIME, written(b"soon")), proofs=(NBGRADER,)),
    handed("says-a-time-in-bytes", "A time stamp that isn't text.", beside(_TIME, written(bytes(range(256)))), proofs=(NBGRADER,)),
    handed("says-a-time-beyond-all-calendars", "A time stamp of the year 99999.", beside(_TIME, written(b"99999-01-01 00:00:00 UTC")), proofs=(NBGRADER,)),
    handed("names-a-device-as-its-time-zone", "nbgrader opens the file that a time zone names.", beside(_TIME, written(b"2026-01-01 12:00:00 /proc/kmsg")), harmful=True),
    handed("says-its-time-by-a-folder", "A folder where the time stamp should be.", beside(_TIME, _folder), proofs=(NBGRADER,)),
    handed("says-its-time-by-a-pipe", "A pipe as time stamp, at which reading waits for ever.", beside(_TIME, os.mkfifo), harmful=True),
    handed("says-its-time-by-an-endless-device", "A time stamp that is a link to /dev/zero.", beside(_TIME, lambda path: path.symlink_to("/dev/zero")), harmful=True),
    handed("says-its-time-by-a-gigabyte", "A time stamp of a gigabyte, which takes no space on the disk.", beside(_TIME, _huge), harmful=True),
    handed("hands-in-its-secret-as-a-folder", "A folder where nbgrader's exchange keeps a secret.", beside(_SECRET, _folder), unfit=(NBGRADER,)),
    handed("adds-a-gigabyte", "A file that takes no space until it is copied.", beside("data.bin", _huge), harmful=True),
    handed("adds-500-folders-in-each-other", "A path longer than the system takes.", beside("deep", _deep), unfit=(NBGRADER,)),
    handed("adds-5000-files", "More files than are worth copying.", beside("many", _many), unfit=(NBGRADER,)),
    handed("hands-in-20-MB-of-brackets", "Each pair of brackets becomes an object of the grader's.", raw(_BRACKETS), unfit=BOTH),
    handed("hands-in-60-long-cells-without-marks", "Cells that all might be the answer.", notebook(_CODE, count=60), unfit=BOTH),
    handed("hands-in-300-equal-cells-without-marks", "Cells that are all at the place of the answer.", notebook(WRONG, count=300), unfit=BOTH),
    handed("hands-in-blank-lines", "Lines on which a pattern takes quadratic time.", notebook("\n" * 150_000 + "x", count=3), unfit=BOTH),
]  # fmt: skip
