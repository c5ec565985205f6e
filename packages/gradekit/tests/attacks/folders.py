"""Attacks by what is handed in: the files of a submission folder, their names, and what a notebook claims."""

import json
import os
from collections.abc import Callable
from typing import Any

import nbformat

from .attack import (
    NBGRADER,
    NONE,
    WRONG,
    Attack,
    Case,
    HandIn,
    Witness,
    any_of,
    earns,
    goes_ungraded,
    sees,
    takes,
)
from .pages import runs_script

BOTH = (NONE, NBGRADER)

_SLOW = takes(seconds=120)


def _place(course: Any, student: str) -> str:
    folder = course.folder(student)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "double.ipynb")


def links_to(target: str) -> HandIn:
    """The notebook is a symbolic link; `{course}` stands for the course's folder."""

    def hand_in(course: Any, student: str) -> None:
        os.symlink(target.format(course=course.root), _place(course, student))

    return hand_in


def _folder_link(course: Any, student: str) -> None:
    course.folder(student).parent.mkdir(parents=True)
    os.symlink(course.folder("bob"), course.folder(student))


def _beside(target: str) -> HandIn:
    """A right notebook, and beside it a link to something that is not the student's."""

    def hand_in(course: Any, student: str) -> None:
        course.hand_in(student, course.answer(WRONG))
        os.symlink(target.format(course=course.root), course.folder(student) / "notes.txt")

    return hand_in


def _fifo(course: Any, student: str) -> None:
    os.mkfifo(_place(course, student))


def _fifo_beside(course: Any, student: str) -> None:
    course.hand_in(student, course.answer(WRONG))
    os.mkfifo(course.folder(student) / "data.txt")


def _a_folder(course: Any, student: str) -> None:
    os.makedirs(os.path.join(_place(course, student), "inner"))


def _named(student: str, name: str = "double.ipynb") -> HandIn:
    """A submission under an odd name, beside one under the attack's own."""

    def hand_in(course: Any, own: str) -> None:
        course.hand_in(own, course.answer(WRONG))
        course.hand_in(student or own, course.answer(WRONG), name)

    return hand_in


def _notebook(change: Callable[[dict[str, Any]], Any]) -> HandIn:
    """The released notebook as JSON, changed."""

    def hand_in(course: Any, student: str) -> None:
        content = json.loads(nbformat.writes(course.answer(WRONG)))
        changed = change(content)
        course.hand_in(student, changed if isinstance(changed, str | bytes) else json.dumps(content))

    return hand_in


def _many_cells(content: dict[str, Any]) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "source": "1",
        "outputs": [],
        "execution_count": None,
    }
    content["cells"] += [{**cell, "source": f"x{n} = {n}", "id": f"c{n}"} for n in range(100_000)]


def _large_cell(content: dict[str, Any]) -> None:
    content["cells"][0]["source"] = "#" * (100 << 20)


def _large_answer(content: dict[str, Any]) -> None:
    content["cells"][3]["source"] = "# a\n" * (25 << 20)


def _deep(content: dict[str, Any]) -> str:
    return json.dumps(content)[:-1] + ', "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"


def _same_ids(content: dict[str, Any]) -> None:
    for cell in content["cells"]:
        cell["id"] = "answer"
    content["cells"] += [dict(content["cells"][2]), dict(content["cells"][1])]


def _claims(content: dict[str, Any]) -> None:
    for cell in content["cells"]:
        mark = cell["metadata"].setdefault("nbgrader", {"grade_id": "double"})
        mark |= {"points": 0, "score": 10, "grade": True, "solution": True, "locked": False, "max_score": 10}
    mark = content["cells"][2]["metadata"]["nbgrader"]
    mark |= {"solution": True, "grade": False, "grade_id": "test_double"}
    content["metadata"]["gradekit"] = {
        "status": "graded", "notes": [], "cells": [], "seed": 1, "seconds": 0,
        "exercises": [{"grade_id": "test_double", "checks": [
            {"name": "test_value", "sentence": "", "points": 10, "outcome": "passed"}]}],
    }  # fmt: skip


def _test_cell(content: dict[str, Any]) -> None:
    content["cells"][2]["source"] = "10.0"
    content["cells"].append(dict(content["cells"][2], id="again"))


def _other_kernel(content: dict[str, Any]) -> None:
    spec = {"name": "limited", "display_name": "Python", "language": "python"}
    content["metadata"]["kernelspec"] = spec
    content["cells"][1]["source"] = (
        "import pathlib\nprint([p.read_bytes().decode('latin-1') for p in pathlib.Path('@COURSE@').glob('tests/*/*.py')])\n"
    )


def _other_kernel_in(course: Any, student: str) -> None:
    content = json.loads(nbformat.writes(course.answer(WRONG)))
    _other_kernel(content)
    course.hand_in(student, json.dumps(content).replace("@COURSE@", str(course.root)))


def _sourced(source: str) -> HandIn:
    """The source goes through the grader's own parsing."""
    return _notebook(lambda content: content["cells"][1].update(source=source))


def _odd_types(content: dict[str, Any]) -> None:
    content["cells"] += [
        None, 3, [], {"cell_type": 7}, {"cell_type": "code", "source": {"a": 1}, "metadata": []},
        {"cell_type": "code", "source": ["print(1)\n", 2, None], "metadata": {"nbgrader": {"grade_id": ["x"]}}, "id": 5},
        {"cell_type": "markdown", "source": None, "id": "\x00"},
        {"cell_type": "code", "source": "x = '\ud800'", "metadata": {"tags": "demo"}},
    ]  # fmt: skip


def _escapes_class(case: Case) -> str:
    """A file outside the folders that are the student's."""
    theirs = {"submitted", "autograded", "feedback"}  # their own folders may be called what they like
    beyond = [
        path
        for path in case.course.root.rglob("*pwned*")
        if path.name == "pwned" or not theirs & set(path.relative_to(case.course.root).parts[:1])
    ]
    return f"wrote {beyond[0]}" if beyond else ""


def _newline(course: Any, mode: str) -> str:
    """By `gradekit autograde`: nbgrader's own command can't read such a name, and ends."""
    course.fill()
    course.hand_in("new\nline", course.answer(WRONG))
    course.run_gradekit()
    return "" if course.all_honest() else "stopped the class"


_PASSWD = "/etc/passwd"
_SECRET: Witness = any_of(earns, sees("solution", "submission", "checks"), goes_ungraded)


def _sees_passwd(case: Case) -> str:
    return "saw /etc/passwd" if "root:x:0:0" in case.text else goes_ungraded(case)


def handed(name: str, aim: str, witness: Witness, hand_in: HandIn, **more: Any) -> Attack:
    return Attack(name, aim, witness, hand_in=hand_in, **more)


_UNHURT = any_of(goes_ungraded, _SLOW, takes(grader=2500))

ATTACKS = [
    handed("hands-in-a-link-to-the-solution", "A notebook that is a link to the instructor's.", _SECRET, links_to("{course}/source/01_double/double.ipynb"), proofs=(NBGRADER,)),
    handed("hands-in-a-link-to-anothers-work", "A notebook that is a link to another student's.", _SECRET, links_to("{course}/submitted/bob/01_double/double.ipynb"), proofs=(NBGRADER,)),
    handed("hands-in-a-folder-that-is-a-link", "A folder that is a link to another student's.", _SECRET, _folder_link, proofs=(NBGRADER,)),
    handed("hands-in-a-link-to-passwd", "A notebook that is a link to a file of the system.", _sees_passwd, links_to(_PASSWD), unfit=(NBGRADER,)),
    handed("hands-in-a-link-to-an-endless-device", "A notebook that is a link to /dev/zero.", _UNHURT, links_to("/dev/zero"), harmful=True),
    handed("adds-a-link-to-the-checks", "A link beside the notebook, copied with what it points to.", _SECRET, _beside("{course}/tests/01_double/test_double.py"), unfit=(NBGRADER,)),
    handed("adds-a-link-to-the-solution", "A link beside the notebook to the solution.", _SECRET, _beside("{course}/source/01_double/double.ipynb"), proofs=(NBGRADER,)),
    handed("adds-a-pipe", "A named pipe beside the notebook, at which copying waits for ever.", any_of(goes_ungraded, _SLOW), _fifo_beside, harmful=True),
    handed("hands-in-a-pipe", "A named pipe as the notebook, at which reading waits for ever.", any_of(goes_ungraded, _SLOW), _fifo, harmful=True),
    Attack("has-a-name-with-a-newline", "A student's name with a newline.", play=_newline, unfit=(NBGRADER,)),
    handed("hands-in-a-folder-named-as-a-notebook", "A folder where a file is expected.", goes_ungraded, _a_folder, unfit=(NBGRADER,)),
    *(
        handed(f"has-a-name-with-{what}", f"A student's name with {what}.", any_of(_escapes_class, runs_script, goes_ungraded), _named(name), unfit=(NBGRADER,))
        for what, name in (
            ("quotes", "it's \"quoted\""), ("markup", "<script>stolen<"), ("dots", "..."),
            ("250-letters", "a" * 250), ("a-glob", "[a-z]*"), ("a-template", "{{ 7*7 }}{student_id}"), ("a-semicolon", "$(touch pwned);x"),
        )
    ),
    *(
        handed(f"adds-a-file-named-{what}", f"A file beside the notebook whose name is {what}.", any_of(_escapes_class, runs_script, goes_ungraded), _named("", name), unfit=(NBGRADER,))
        for what, name in (
            ("with-a-newline", "new\nline.ipynb"), ("with-markup", "<img src=x onerror=stolen>.ipynb"), ("with-dots", "..pwned..ipynb"),
            ("as-an-option", "--help.ipynb"), ("nbgrader-config", "nbgrader_config.py"), ("of-another-notebook", "other.ipynb"), ("with-250-letters", "b" * 240 + ".ipynb"),
        )
    ),
    handed("hands-in-100000-cells", "A notebook whose cells take for ever.", _UNHURT, _notebook(_many_cells), unfit=BOTH),
    handed("hands-in-a-cell-of-100-MB", "A cell larger than any page.", _UNHURT, _notebook(_large_cell), unfit=BOTH),
    handed("hands-in-an-answer-of-100-MB", "A written answer larger than any page.", _UNHURT, _notebook(_large_answer), unfit=BOTH),
    handed("hands-in-deeply-nested-json", "JSON so deep that the parser gives up.", _UNHURT, _notebook(_deep), unfit=(NBGRADER,)),
    handed("gives-all-cells-the-same-id", "Ids that stand twice.", any_of(earns, goes_ungraded), _notebook(_same_ids), proofs=(NBGRADER,)),
    handed("claims-points-in-metadata", "Metadata that say what it earned.", any_of(earns, goes_ungraded), _notebook(_claims)),
    handed("edits-the-test-cell", "A test cell that is a number, and stands twice.", any_of(earns, goes_ungraded), _notebook(_test_cell)),
    handed("names-another-kernel", "A notebook that asks for the kernel without a sandbox.", sees("checks"), _other_kernel_in, unfit=(NBGRADER,), proofs=(NONE,)),
    handed("holds-cells-of-odd-types", "Numbers, lists and lone surrogates where cells and text should be.", goes_ungraded, _notebook(_odd_types), unfit=(NBGRADER,)),
    handed("slows-the-search-for-magics", "White space on which a pattern of the grader takes quadratic time.", _UNHURT, _sourced(WRONG + "\n" * 1_000_000 + "x"), unfit=BOTH),
    handed("slows-the-search-for-placeholders", "The beginning of a placeholder and a million lines.", _UNHURT, _sourced(WRONG + "# YOUR CODE HERE" + "\n" * 1_000_000 + "x"), unfit=BOTH),
    handed("nests-its-source-deeply", "A source that the grader's own parser can't hold.", _UNHURT, _sourced("x = " + "(" * 5000 + "1" + ")" * 5000 + "\ny = " + "-" * 90_000 + "1\nz = 1" + ".a" * 90_000 + "\n" + WRONG), unfit=BOTH),
]  # fmt: skip
