"""Makes released notebooks that set up what they need, for learners who install nothing: Colab, Binder.

Such a notebook is the released one with a setup cell in front. It contains the files that belong beside the notebook, and the names of
the packages that it imports. When it runs, it writes and installs only what is missing, so at home it does nothing.
"""

import ast
import base64
import bz2
import importlib.metadata
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import nbformat
from packaging.requirements import Requirement
from packaging.version import Version

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import DEMO_TAG
from gradekit.course.files import files_in
from gradekit.course.printing import quoted
from gradekit.submission.names import parse
from gradekit.verdict.result_cache import installed_version

_FOLDER = "standalone"
_FOR_ASSISTANTS = "AGENTS.md"
CELL_ID = "standalone-setup"
_SETUP = """\
#@title Setup: run this cell first
# It writes the files and installs the packages that are missing. On a machine that has them, it does nothing.
import base64
import bz2
import importlib.util
import subprocess
import sys
from pathlib import Path

PACKAGES = {packages}
FILES = {files}

for module, options in PACKAGES.items():
    if importlib.util.find_spec(module) is None:
        print("installing", options[-1])
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *options], check=True)
for name, packed in FILES.items():
    if not Path(name).exists():
        print("writing", name)
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(bz2.decompress(base64.b85decode("".join(packed.split()))))
"""


def write_standalone(assignment: Assignment) -> list[Path]:
    """Write the standalone form of an assignment's released notebooks; returns their paths.

    Raises:
        CourseError: the assignment has not been released, or a package that it imports isn't installed here.
    """
    folder = assignment.course.root / _FOLDER / assignment.name
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in assignment.released_names():
        written.append(folder / f"{name}.ipynb")
        nbformat.write(standalone(assignment, name), written[-1])
    if not written:
        command = f"nbgrader generate_assignment {quoted(assignment.name)} --force"
        raise CourseError(f"{assignment.release_folder} has no notebook: run `{command}` first")
    return written


def standalone(assignment: Assignment, name: str) -> nbformat.NotebookNode:
    """The released notebook `name` with a setup cell, which isn't run when the notebook is graded."""
    notebook = assignment.released(name)
    files = dict(_files(assignment))
    setup = nbformat.v4.new_code_cell(setup_source(_packages(notebook, files), files), id=CELL_ID)
    setup.metadata.update(tags=[DEMO_TAG], jupyter={"source_hidden": True}, cellView="form")
    first = next((place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"), 0)
    notebook.cells.insert(first, setup)
    return notebook


def setup_source(packages: dict[str, list[str]], files: dict[str, bytes]) -> str:
    """The setup cell: pip's arguments for each module, and the contents of each file."""
    modules = "".join(f"    {module!r}: {options!r},\n" for module, options in packages.items())
    contents = "".join(f'    {name!r}: """\n{_packed(content)}\n""",\n' for name, content in files.items())
    return _SETUP.format(
        packages=f"{{\n{modules}}}" if modules else "{}", files=f"{{\n{contents}}}" if contents else "{}"
    )


def _packed(content: bytes) -> str:
    text = base64.b85encode(bz2.compress(content)).decode()
    return "\n".join(textwrap.wrap(text, 120, break_on_hyphens=False))


def _files(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    """The files beside the notebooks, with their paths, except what only assistants in editors read."""
    for path in assignment.handed_out():
        if path.name == _FOR_ASSISTANTS:
            continue
        for file in files_in(path, assignment.course.ignore):
            yield file.relative_to(assignment.source_folder).as_posix(), file.read_bytes()


def _packages(notebook: nbformat.NotebookNode, files: dict[str, bytes]) -> dict[str, list[str]]:
    """The modules that the notebook and its files import, with pip's arguments for the version that is installed here."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    sources += [content.decode(errors="replace") for name, content in files.items() if name.endswith(".py")]
    own = {Path(name).parts[0].removesuffix(".py") for name in files}
    imported = {module for source in sources for module in _imports(source)}
    distributions = importlib.metadata.packages_distributions()
    found = {}
    for module in sorted(imported - own - sys.stdlib_module_names):
        if module not in distributions:
            raise CourseError(
                f"the notebook imports `{module}`, which isn't installed here: install it first"
            )
        found[module] = _arguments(distributions[module][0])
    return found


def _imports(source: str) -> Iterator[str]:
    for node in ast.walk(parse(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def _arguments(name: str) -> list[str]:
    """pip's arguments for a package, which is installed without its dependencies if they are missing here, too."""
    package = f"{name}=={Version(importlib.metadata.version(name)).public}"
    is_complete = all(installed_version(needed.name) for needed in requirements_of(name))
    return [package] if is_complete else ["--no-deps", package]


def requirements_of(package: str) -> list[Requirement]:
    """What a package needs on this machine, without its extras."""
    found = map(Requirement, importlib.metadata.requires(package) or [])
    return [needed for needed in found if not needed.marker or needed.marker.evaluate({"extra": ""})]
