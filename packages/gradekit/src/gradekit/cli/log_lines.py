"""Progress where no person watches: in a log, or a pipe."""

import sys
import time
from typing import TYPE_CHECKING, NoReturn

from tqdm import tqdm

_SECONDS = 60

if TYPE_CHECKING:
    _Bar = tqdm[NoReturn]  # only the stubs are generic
else:
    _Bar = tqdm


class ProgressLines(_Bar):
    """A line on stderr at the start, then at most one a minute; the command itself says how it ended."""

    def __init__(self, title: str, unit: str, total: int) -> None:
        super().__init__(disable=True)
        self._text = f"{title}: {{}} of {total} {unit}s"
        self._began = self._last = time.monotonic()
        self._print(self._text.format(0))

    def update(self, n: float | None = 1) -> bool | None:
        self.n += n or 0
        now = time.monotonic()
        if due := now - self._last >= _SECONDS:
            self._last = now
            self._print(f"{self._text.format(self.n)} after {now - self._began:.0f} s")
        return due

    @staticmethod
    def _print(line: str) -> None:
        print(line, file=sys.stderr, flush=True)
