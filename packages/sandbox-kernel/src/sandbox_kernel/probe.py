# ruff: noqa: E402
"""Prints where a Python imports from, as one line of JSON. Its text is run by any Python from 3.8 on: `python -c ...`."""

import sys

sys.path[:] = [entry for entry in sys.path if entry]  # import nothing from the client's current folder

import importlib.util
import json
import os
import site
import sysconfig
from typing import Iterator  # noqa: UP035  (Python 3.8)


def locations(name: str) -> Iterator[str]:
    """Yield the folders or the file of a top-level module, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # another package's finder may raise anything
        return
    if spec is not None:
        yield from spec.submodule_search_locations or filter(None, [spec.origin])


def editable_locations() -> Iterator[str]:
    """Yield where packages of editable installs are, which need not be on sys.path."""
    for folder in filter(os.path.isdir, sys.path):
        for name in os.listdir(folder):
            if name.endswith(".dist-info") and is_editable(text(folder, name, "direct_url.json")):
                own = name.partition("-")[0]
                for module in [*text(folder, name, "top_level.txt").split(), own, own.lower()]:
                    yield from locations(module)
    for name, finder in list(sys.modules.items()):
        if name.startswith("__editable__"):  # setuptools' finders, also for parts of a namespace package
            yield from getattr(finder, "MAPPING", {}).values()
            for folders in getattr(finder, "NAMESPACES", {}).values():
                yield from folders


def is_editable(direct_url: str) -> bool:
    return bool(direct_url and json.loads(direct_url).get("dir_info", {}).get("editable"))


def text(*path: str) -> str:
    """Return the text of a file; empty if there is none. `importlib.metadata` takes longer to import than all of this."""
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def report() -> dict:  # type: ignore[type-arg]  # Python 3.8
    path: list[str] = [os.path.abspath(entry) for entry in sys.path if entry]
    return {
        "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
        "own": [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")],
        "path": path + list(editable_locations()),
        "user_base": site.getuserbase() if site.ENABLE_USER_SITE else "",
    }


if __name__ == "__main__":
    print("\n" + json.dumps(report()))
