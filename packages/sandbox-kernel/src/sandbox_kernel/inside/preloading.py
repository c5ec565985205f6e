"""The client's own statements, run once in the server, so that no kernel forked from it has to run them."""

import contextlib
import gc

_run: set[str] = set()


def run(statements: list[str]) -> None:
    """Run those that are new here. One that fails is run again in the kernel, where the client sees why."""
    new = [statement for statement in statements if statement not in _run]
    for statement in new:
        with contextlib.suppress(Exception):
            exec(statement, {})
    _run.update(new)
    if new:
        share()


def share() -> None:
    """Keep the garbage collector from writing to what a fork could share."""
    gc.collect()
    gc.freeze()
