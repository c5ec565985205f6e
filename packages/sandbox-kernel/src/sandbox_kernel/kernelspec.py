"""The command of a kernel in another language, as its kernelspec describes it, for use inside the sandbox."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from jupyter_client.kernelspec import KernelSpec

from sandbox_kernel.bubblewrap import SandboxError
from sandbox_kernel.inside.places import CONNECTION

#: what the sandbox fixes, whatever a kernelspec says
_FIXED = ("HOME", "TMPDIR")
_PYTHONS = {"python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info)}


@dataclass(frozen=True)
class KernelCommand:
    """How to start a kernel: its arguments and variables inside, and the files and folders that it needs there."""

    argv: list[str]
    environment: dict[str, str]
    shown: list[Path]


def command_of(name: str, spec: KernelSpec, environment: Mapping[str, str]) -> KernelCommand:
    """Return the command of the kernelspec `name`.

    Args:
        environment: what the kernelspec's own variables may refer to.

    Raises:
        SandboxError: the program that the kernelspec starts isn't installed.
    """
    values = {"connection_file": CONNECTION, "prefix": sys.prefix, "resource_dir": spec.resource_dir}
    program, *rest = [_filled(word, values) for word in spec.argv] or [""]
    found = sys.executable if program in _PYTHONS else shutil.which(program)
    if found is None:
        raise SandboxError(
            f"the kernelspec `{name}` starts `{program}`, which is not installed: "
            f"install it, or correct `argv` in {Path(spec.resource_dir) / 'kernel.json'}"
        )
    variables = {key: Template(value).safe_substitute(environment) for key, value in spec.env.items()}
    return KernelCommand(
        argv=[os.path.abspath(found), *rest],
        environment={key: value for key, value in variables.items() if key not in _FIXED},
        shown=[Path(spec.resource_dir), *_program_files(Path(os.path.abspath(found)))],
    )


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` where the name is known, as jupyter_client does."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


def _program_files(program: Path) -> list[Path]:
    """List the program, what it is a link to, and the folders that they were installed in."""
    found = []
    for path in dict.fromkeys([program, program.resolve()]):
        folder = path.parent.parent if path.parent.name == "bin" else path.parent
        found += [path if _is_private(folder) else folder]
    return found


def _is_private(folder: Path) -> bool:
    """Whether the folder is likely to contain more than one program: /, a home folder, or a hidden folder in it."""
    home = Path.home()
    return folder == home or folder in home.parents or (folder.parent == home and folder.name.startswith("."))
