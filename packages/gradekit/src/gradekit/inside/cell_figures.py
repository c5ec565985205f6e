"""Keeps the figures that each cell draws, since they are closed when it ends; runs in the student's kernel.

A figure is noticed when IPython displays it or when its cell ends, whichever comes first: `plt.show()` closes what it
displays. Nothing on the page changes.
"""

import sys
from typing import Any

from gradekit.inside.packing import PackingError, packer_named

#: the most figures that are kept for one cell, and for all cells
_MOST_OF_ONE, _MOST = 20, 200


class CellFigures:
    """The figures that were drawn by each cell, or since `begin`."""

    def __init__(self) -> None:
        self._now: list[Any] = []
        self._before: list[Any] = []
        self._by_cell: dict[int, list[Any]] = {}
        self._calling = False

    def watch(self, shell: Any) -> None:
        """Keep the figures of every cell that `shell` runs from now on."""
        shell.events.register("pre_run_cell", lambda *_: self.begin(calling=False))
        shell.events.register("post_execute", self.notice)
        shell.events.register("post_run_cell", self._keep)
        shell.display_pub.register_hook(self._notice_display)

    def begin(self, calling: bool = True) -> None:
        """Forget what was drawn before. While the grader calls a function, nothing is displayed."""
        self._now, self._before, self._calling = [], _open_figures(), calling

    def notice(self) -> None:
        """Note which figures are open."""
        for figure in _open_figures():
            self._add(figure)

    def finish(self, returned: Any) -> list[Any]:
        """Close the figures that were drawn since `begin`; returns the one in `returned`, or else all of them."""
        self.notice()
        found, self._now, self._calling = self._now, [], False
        for figure in found:
            sys.modules["matplotlib.pyplot"].close(figure)
        own = _figure_of(returned)
        return found if own is None else [own]

    def drawn_now(self) -> list[Any]:
        """The figures that the running cell or call has drawn so far."""
        return list(self._now)

    def of_cell(self, count: int) -> list[Any]:
        """The figures of the cell with this execution count."""
        return self._by_cell.get(count, [])

    def _add(self, figure: Any) -> None:
        known = [*self._before, *self._now]
        if len(self._now) < _MOST_OF_ONE and not any(figure is other for other in known):
            self._now.append(figure)

    def _keep(self, result: Any) -> None:
        """Store the figures of a cell that has ended; its last expression may be one that pyplot doesn't know."""
        own = _figure_of(getattr(result, "result", None))
        if own is not None:
            self._add(own)
        count = getattr(result, "execution_count", None)
        if not isinstance(count, int):
            return
        self._by_cell.pop(count, None)
        if self._now and sum(map(len, self._by_cell.values())) < _MOST:
            self._by_cell[count] = self._now
        self._now = []

    def _notice_display(self, message: Any) -> Any:
        self.notice()
        return None if self._calling else message


def _open_figures() -> list[Any]:
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return [manager.canvas.figure for manager in helpers.Gcf.get_all_fig_managers()] if helpers else []


def _figure_of(value: Any) -> Any:
    """The figure that a value is or is in, if matplotlib is in use."""
    if value is None or "matplotlib.figure" not in sys.modules:
        return None
    try:
        return packer_named("matplotlib").drawing_of(value)
    except PackingError:
        return None
