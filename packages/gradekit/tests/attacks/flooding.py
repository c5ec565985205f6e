"""Attacks by output without end and by code without end."""

from .attack import NBGRADER, any_of, leaves_process, takes, writes
from .exhausting import SECONDS, exhaust

_STREAM = """
for _ in range(3000):
    print("x" * 100_000)  # 300 MB
"""

_LINES = """
for number in range(300_000):
    print(number)
sys.stderr.write("y" * 50_000_000)
"""

_DISPLAYS = """
for number in range(20_000):
    display({"text/plain": str(number)}, raw=True)
"""

_PICTURE = """
display({"image/png": "A" * (50 << 20)}, raw=True)
for _ in range(20):
    display({"image/png": "A" * (5 << 20)}, raw=True)
"""

_ERROR_TEXT = """
raise Exception("x" * (50 << 20))
"""

_COUNTS = """
kernel = get_ipython().kernel
for number in range(100_000):
    kernel.session.send(kernel.iopub_socket, "comm_open", {"comm_id": str(number), "target_name": "jupyter.widget",
                        "data": {"state": {"x": "y" * 10_000}}}, parent=kernel.get_parent())
"""

_IGNORING = """
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException:
        pass
"""

_IN_C = """
x = 7 ** (10 ** 8)
"""

_REGEX = """
import re
re.match(r"(a+)+$", "a" * 60 + "b")
"""

_IN_CALL = """
def double(x):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True: pass
"""

_THREAD_RUNS_ON = """
def spin():
    while True: pass
for _ in range(4):
    threading.Thread(target=spin, daemon=False).start()
"""

_NO_FOLDER = """
import shutil
folder = os.getcwd()
shutil.rmtree(folder, ignore_errors=True)
attempt(lambda: os.rmdir(folder))
attempt(lambda: shutil.rmtree("/run/kernel"))
attempt(lambda: shutil.rmtree("/tmp"))
"""

_CLOSED = """
os.closerange(0, 4096)
"""

_STOPPED = """
def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
"""


ATTACKS = [
    exhaust("prints-300-MB", "A flood of output in few calls.", _STREAM, any_of(writes(5), SECONDS)),
    exhaust(
        "prints-300000-lines",
        "A flood of output in many calls, and on standard error.",
        _LINES,
        any_of(writes(5), SECONDS),
    ),
    exhaust(
        "displays-20000-times", "A flood of displays.", _DISPLAYS, any_of(writes(5), SECONDS), harmful=False
    ),
    exhaust(
        "displays-a-picture-of-150-MB",
        "Pictures that make the page too large to open.",
        _PICTURE,
        any_of(writes(40), SECONDS),
        harmful=False,
        proofs=(NBGRADER,),
    ),
    exhaust(
        "raises-an-error-of-50-MB",
        "An error text that makes the page too large to open.",
        _ERROR_TEXT,
        writes(5),
        harmful=False,
        proofs=(NBGRADER,),
    ),
    exhaust(
        "opens-100000-widgets",
        "Have the grader keep the state of widgets.",
        _COUNTS,
        any_of(takes(grader=3000), SECONDS),
    ),
    exhaust(
        "loops-and-ignores-every-signal",
        "An endless loop that can't be interrupted.",
        _IGNORING,
        SECONDS,
        harmful=False,
        kernel=True,
    ),
    exhaust("computes-a-huge-power", "A step in C that looks at no signal.", _IN_C, SECONDS, harmful=False),
    exhaust(
        "matches-a-slow-pattern", "A regular expression of exponential time.", _REGEX, SECONDS, harmful=False
    ),
    exhaust(
        "loops-in-a-call",
        "An endless loop in the function that the checks call.",
        _IN_CALL,
        SECONDS,
        harmful=False,
        unfit=(NBGRADER,),
    ),
    exhaust(
        "leaves-threads-running",
        "Threads that go on after the cell.",
        _THREAD_RUNS_ON,
        any_of(SECONDS, leaves_process),
        harmful=False,
    ),
    exhaust(
        "stops-itself",
        "A kernel that is stopped by a signal and never answers.",
        _STOPPED,
        SECONDS,
        harmful=False,
        unfit=(NBGRADER,),
    ),
    exhaust("deletes-its-folders", "Delete the working folder and that of the sockets.", _NO_FOLDER, SECONDS),
    exhaust(
        "closes-every-descriptor",
        "Close all file descriptors, those of the sockets too.",
        _CLOSED,
        SECONDS,
        harmful=False,
    ),
]
