"""How long students wait: from the arrival of a hand-in in the exchange to its page in the feedback folder."""

import random
import secrets
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from nbgrader.utils import notebook_hash

from bench.folders import GRADEKIT, CourseFolder, class_of
from bench.meter import Metered

#: hand-ins and the minutes in which they arrive
BURSTS = ((60, 1), (300, 5))
#: one after another, each when the page of the last one is there
ALONE = 12
IDLE_SECONDS = 60
#: in units of one warm submission, in the same run
MOST_MEDIAN, MOST_P99 = 4, 12
MOST_IDLE_CPU, MOST_MIB = 0.01, 700
_COURSE = "bench"
_LOOK_SECONDS = 0.02
_GIVE_UP_SECONDS = 900
_SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "{course}"
c.Exchange.root = "{exchange}"
c.ExchangeCollect.check_owner = False  # all hand-ins belong to the user who measures
"""


@dataclass
class Exchange:
    """An exchange in which a class hands in, and the time at which each hand-in arrived."""

    root: Path
    log: Path
    submissions: Iterator[Path]
    arrived: dict[Path, float] = field(default_factory=dict)

    @property
    def _course(self) -> Path:
        return self.root / "exchange" / _COURSE

    def hand_in(self) -> Path:
        """Let the next submission arrive; returns where its page will be."""
        submission = next(self.submissions)
        now, secret = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC", secrets.token_hex(64)
        (submission / "timestamp.txt").write_text(now)
        (submission / "submission_secret.txt").write_text(secret)
        (notebook,) = submission.glob("*.ipynb")
        page = self._course / "feedback" / f"{notebook_hash(secret=secret, notebook_id=notebook.stem)}.html"
        submission.rename(self._course / "inbound" / f"{submission.parent.name}+{submission.name}+{now}")
        self.arrived[page] = time.time()
        return page

    def wait_for(self, pages: Sequence[Path], watcher: Metered) -> list[float]:
        """The seconds from each arrival to the page.

        Raises:
            RuntimeError: the watcher has ended, or a page does not come.
        """
        give_up = time.monotonic() + _GIVE_UP_SECONDS
        while not all(page.exists() for page in pages):
            if not watcher.running or time.monotonic() > give_up:
                missing = sum(not page.exists() for page in pages)
                raise RuntimeError(f"{missing} of {len(pages)} pages are missing; see {self.log}")
            time.sleep(_LOOK_SECONDS)
        return [page.stat().st_mtime - self.arrived[page] for page in pages]


@dataclass(frozen=True)
class Waits:
    """Seconds from hand-in to page."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.seconds, n=100, method="inclusive")[98]

    def row(self, name: str, one: float) -> str:
        times = f"{self.median / one:8.1f}{self.p99 / one:8.1f}"
        return f"{name:34}{self.median:9.2f}{self.p99:9.2f}{max(self.seconds):9.2f}{times}"


def watch(scratch: Path, names: Sequence[str], many: int) -> bool:
    """Print how long pages take, what waiting costs and what memory is used; False if an aim is missed.

    Args:
        names: assignments of one course; hand-ins are of each in turn.
        many: submissions in all; what is beyond the bursts arrives as fast as it is graded, for the memory.
    """
    bursts = sum(count for count, _ in BURSTS)
    count = max(many, len(names) + ALONE + bursts)
    exchange = _prepared(scratch / f"watch-{'-'.join(names)}", names, count)
    watcher = Metered([*GRADEKIT, "watch", *names, "--json"], exchange.root, exchange.log)
    try:
        for _ in names:  # starts what is kept warm
            exchange.wait_for([exchange.hand_in()], watcher)
        idle = _idle_share(watcher)
        alone = Waits([exchange.wait_for([exchange.hand_in()], watcher)[0] for _ in range(ALONE)])
        memory = [(len(names) + ALONE, watcher.pss())]
        print(f"{' and '.join(names):34}{'median':>9}{'99th':>9}{'longest':>9}{'median':>8}{'99th':>8}")
        print(
            f"{'':34}{'s':>9}{'s':>9}{'s':>9}{'times':>8}{'times':>8}\n{alone.row('one at a time', alone.median)}"
        )
        passed = True
        for hand_ins, minutes in BURSTS:
            waits = Waits(_burst(exchange, watcher, hand_ins, 60 * minutes))
            print(waits.row(f"{hand_ins} within {minutes} min", alone.median), flush=True)
            passed &= waits.median <= MOST_MEDIAN * alone.median and waits.p99 <= MOST_P99 * alone.median
            memory.append((memory[-1][0] + hand_ins, watcher.pss()))
        while memory[-1][0] < count:
            part = min(200, count - memory[-1][0])
            exchange.wait_for([exchange.hand_in() for _ in range(part)], watcher)
            memory.append((memory[-1][0] + part, watcher.pss()))
    finally:
        _end(watcher)
    print(f"idle: {100 * idle:.2f} % of a core over {IDLE_SECONDS} s")
    print("memory: " + ", ".join(f"{mib:.0f} MiB after {done}" for done, mib in memory), flush=True)
    return passed and idle <= MOST_IDLE_CPU and max(mib for _, mib in memory) <= MOST_MIB


def _prepared(root: Path, names: Sequence[str], count: int) -> Exchange:
    folders = [CourseFolder.with_checks(root, name) for name in names]
    course = root / "exchange" / _COURSE
    for place in ("inbound", "feedback", "outbound"):
        (course / place).mkdir(parents=True)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(_SETTINGS.format(course=_COURSE, exchange=root / "exchange"))
    folders[0].start_over()
    for folder in folders[1:]:
        folder.generate()
    classes = [class_of(-(-count // len(names)), 12, name) for name in names]
    for folder, samples in zip(folders, classes, strict=True):
        folder.hand_in(samples)
    ready = (root / "submitted").rename(root / "ready")
    places = [
        [ready / sample.student / name for sample in samples]
        for name, samples in zip(names, classes, strict=True)
    ]
    return Exchange(root, folders[0].log, chain.from_iterable(zip(*places, strict=True)))


def _burst(exchange: Exchange, watcher: Metered, count: int, seconds: float) -> list[float]:
    """Hand in at random moments, the same in each run."""
    chance = random.Random(count)
    moments = sorted(chance.uniform(0, seconds) for _ in range(count))
    pages, started = [], time.monotonic()
    for moment in moments:
        time.sleep(max(0, started + moment - time.monotonic()))
        pages.append(exchange.hand_in())
    return exchange.wait_for(pages, watcher)


def _idle_share(watcher: Metered) -> float:
    """Share of a core that the watcher and its processes use while nothing arrives."""
    before = _cpu_seconds(watcher)
    time.sleep(IDLE_SECONDS)
    return (_cpu_seconds(watcher) - before) / IDLE_SECONDS


def _cpu_seconds(watcher: Metered) -> float:
    used = [process.cpu_times() for process in watcher.descendants()]
    return sum(times.user + times.system for times in used)


def _end(watcher: Metered) -> None:
    for process in watcher.descendants()[:1]:
        process.terminate()
    watcher.wait(codes=(0, 1, -15))
