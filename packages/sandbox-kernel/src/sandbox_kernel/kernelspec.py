"""The command of a kernel in another language, as its kernelspec describes it, for use inside the sandbox."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from jupyter_client.kernelspec import KernelSpec

from sandbox_kernel.inside.places import CONNECTION
from sandbox_kernel.view import SandboxError, View, program_view

#: variables that the sandbox sets, whatever a kernelspec says
_FIXED = ("HOME", "TMPDIR")
_PYTHONS = {"python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info)}


@dataclass(frozen=True)
class KernelCommand:
    """How to start a kernel: its arguments and variables inside, and the paths that must be visible there."""

    argv: list[str]
    environment: dict[str, str]
    view: View


def command_of(
    name: str, spec: KernelSpec, environment: Mapping[str, str], hidden: Sequence[str] = ()
) -> KernelCommand:
    """Return the command of the kernelspec `name`.

    Args:
        environment: the variables that those of the kernelspec may refer to.
        hidden: folders that no kernel sees.

    Raises:
        SandboxError: the program that the kernelspec starts isn't installed, or must stay hidden.
    """
    values = {"connection_file": CONNECTION, "prefix": sys.prefix, "resource_dir": spec.resource_dir}
    program, *rest = [_filled(word, values) for word in spec.argv] or [""]
    found = sys.executable if program in _PYTHONS else shutil.which(program)
    if found is None:
        raise SandboxError(
            f"the kernelspec `{name}` starts `{program}`, which is not installed: "
            f"install it, or correct `argv` in {Path(spec.resource_dir) / 'kernel.json'}"
        )
    found = os.path.abspath(found)
    view = program_view(found, [spec.resource_dir], hidden)
    variables = {key: Template(value).safe_substitute(environment) for key, value in spec.env.items()}
    return KernelCommand(
        argv=[found, *rest],
        environment=dict(view.variables)
        | {key: value for key, value in variables.items() if key not in _FIXED},
        view=view,
    )


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` where the name is known, as jupyter_client does."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)
