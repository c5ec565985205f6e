"""Finds code in a notebook's text that won't work in the sandbox: packages, the network, outside files."""

import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from nbformat import NotebookNode

from gradekit.course.printing import listed
from gradekit.submission.extra_files import MAX_OPENED_BYTES, OPENS_NOTEBOOKS

_IMPORT = re.compile(r"^[^\S\n]*(?:from[^\S\n]+(\w+)[\w.]*[^\S\n]+import\b|import[^\S\n]+([\w., \t]+))", re.M)
#: modules whose purpose is the network
_NETWORK = {"aiohttp", "boto3", "ftplib", "httpx", "kaggle", "requests", "smtplib", "yfinance"}
_ADDRESS = re.compile(r"""["'](?:https?|ftp|s3)://|\burlopen\b|\burlretrieve\b""")
_COMMAND = re.compile(r"^[^\S\n]*[!%][^\S\n]*(?:pip|conda|mamba|apt|apt-get|wget|curl|git)\b", re.M)
_OUTSIDE = re.compile(
    r"""["']((?:/(?:data|home|media|mnt|nfs|opt|root|scratch|shared|srv|Users)/|~/|\.\./)[^"'\n]*)["']"""
)


def notes_on_code(notebook: NotebookNode, beside: set[str]) -> Iterator[str]:
    """A sentence for each thing that the code of a Python notebook needs and the sandbox doesn't have.

    Only the text is searched, so a comment may cause a sentence, and a computed name doesn't.

    Args:
        beside: the names of modules that are handed out with the notebook.
    """
    missing: dict[str, list[int]] = {}
    network: list[int] = []
    opening: list[int] = []
    outside: dict[str, list[int]] = {}
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code":
            continue
        modules = set(_imported(cell.source))
        for name in sorted(modules - beside):
            if not can_import(name):
                missing.setdefault(name, []).append(number)
        if modules & _NETWORK or _ADDRESS.search(cell.source) or _COMMAND.search(cell.source):
            network.append(number)
        if OPENS_NOTEBOOKS.search(cell.source):
            opening.append(number)
        for path in _OUTSIDE.findall(cell.source):
            outside.setdefault(path, []).append(number)
    for name, numbers in missing.items():
        yield (
            f"{_cells(numbers)} imports `{name}`, which isn't installed in gradekit's environment. Install it there, "
            "since submissions run with the same Python."
        )
    if network:
        yield (
            f"{_cells(network)} seems to use the network, which the sandbox doesn't have. Put files that are "
            "needed beside the notebook, and install packages before grading."
        )
    if opening:
        yield (
            f"{_cells(opening)} mentions notebooks. A submission finds those that were handed in with it, up to "
            f"{MAX_OPENED_BYTES // 2**20} MiB each."
        )
    if outside:
        numbers = sorted({number for found in outside.values() for number in found})
        yield (
            f"{_cells(numbers)} names {listed(outside)}. In the sandbox there is only the assignment's own folder: "
            "put the files beside the notebook."
        )


def modules_in(folder: Path) -> set[str]:
    """The names of the modules in an assignment's folder."""
    if not folder.is_dir():
        return set()
    return {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}


@cache
def can_import(module: str) -> bool:
    """True if Python would find the module, outside of the working folder. The module isn't imported."""
    if module in sys.stdlib_module_names or module in sys.builtin_module_names:
        return True
    folders = [path for path in sys.path if path and Path(path) != Path.cwd()]
    return PathFinder.find_spec(module, folders) is not None


def _imported(source: str) -> Iterator[str]:
    for package, names in _IMPORT.findall(source):
        for name in [package] if package else names.split(","):
            if first := name.split(" as ")[0].strip().split(".")[0]:
                yield first


def _cells(numbers: list[int]) -> str:
    """The cells as the subject of a sentence in the singular."""
    return f"cell {numbers[0]}" if len(numbers) == 1 else f"each of cells {', '.join(map(str, numbers))}"
