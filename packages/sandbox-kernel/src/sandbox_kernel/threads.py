"""Threads for work that would block an event loop, which a forked child replaces: no thread survives a fork."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

T = TypeVar("T")

_threads = ThreadPoolExecutor(thread_name_prefix="sandbox-kernel")


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Call a function in a thread, like `asyncio.to_thread`, and return its result.

    The threads of `asyncio.to_thread` belong to the event loop. A forked child that goes on using this loop would wait
    for one of them for ever. When the loop is closed they end, and bubblewrap ends with the thread that started it.
    """
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(function, *arguments))


def _replace() -> None:
    global _threads
    _threads = ThreadPoolExecutor(thread_name_prefix="sandbox-kernel")


os.register_at_fork(after_in_child=_replace)
