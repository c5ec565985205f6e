"""Attacks that want to change what is not theirs."""

from .attack import NBGRADER, NONE, WRONG, Attack, any_of, changes, earns, leaves_file, regrades

BOTH = (NONE, NBGRADER)


def overwrite(pattern: str, text: str) -> str:
    return f"""
import pathlib
for path in pathlib.Path("@COURSE@").glob({pattern!r}):
    try:
        path.write_text({text!r})
    except OSError as error:
        print(error)
{WRONG}"""


_EASY = """
from gradekit.checks import points
@points(5)
def test_value(student): "It is."
@points(5)
def test_any_size(student): "It is."
"""

_GRADEBOOK = """
import sqlite3
book = sqlite3.connect("file:@COURSE@/gradebook.db?mode=rw", uri=True)
book.execute("update student set first_name = 'mallory' where id = 'bob'")
book.commit()
book.close()
"""

_PLUGIN = """
import pathlib, sys
for folder in ("@PREFIX@", sys.prefix, "/tmp" if pathlib.Path("@COURSE@").exists() else "/usr/lib"):
    try:
        pathlib.Path(folder, "@MARK@").write_text("print('loaded')")
    except OSError as error:
        print(error)
"""

ATTACKS = [
    Attack(
        "overwrites-the-hidden-checks",
        "Put checks that always pass in the place of the hidden ones.",
        any_of(changes("tests/*/*.py"), earns),
        overwrite("tests/*/*.py", _EASY),
        proofs=(NONE,),
        unfit=(NBGRADER,),
        alone=True,
        kernel=True,
    ),
    Attack(
        "overwrites-the-reference-tensors",
        "Spoil the recorded tensors, so that nobody passes.",
        changes("tests/*/*.safetensors"),
        overwrite("tests/*/*.safetensors", "gone"),
        proofs=(NONE,),
        unfit=(NBGRADER,),
        alone=True,
    ),
    Attack(
        "overwrites-the-solution",
        "Change the instructor's notebook.",
        changes("source/*/*.ipynb"),
        overwrite("source/*/*.ipynb", "{}"),
        proofs=BOTH,
        alone=True,
    ),
    Attack(
        "overwrites-another-submission",
        "Spoil what another student handed in.",
        changes("submitted/zz-last/*/*.ipynb"),
        overwrite("submitted/zz-last/*/*.ipynb", "{}"),
        proofs=BOTH,
        alone=True,
    ),
    Attack(
        "writes-into-the-gradebook",
        "Change an entry of the gradebook's database.",
        regrades,
        _GRADEBOOK + WRONG,
        proofs=BOTH,
        alone=True,
        kernel=True,
    ),
    Attack(
        "writes-into-the-python-environment",
        "Leave a file in the folders that Python loads modules from.",
        leaves_file,
        _PLUGIN + WRONG,
        proofs=BOTH,
        kernel=True,
    ),
]
