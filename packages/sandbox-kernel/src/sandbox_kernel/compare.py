"""Compares what Python can import in the sandbox with what it can import outside."""

import ast
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jupyter_client.manager import KernelManager

from sandbox_kernel import COLD
from sandbox_kernel.view import own_environment, python_view

_SECONDS = 60
_UNKNOWN = "the kernel can't read its files, or can't see their folder"

# both print {name of a top-level module: [package, place]}, or only the names that are found
_OUTSIDE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.metadata, importlib.util, json
found = {}
for name, packages in importlib.metadata.packages_distributions().items():
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except Exception:
        continue
    if spec is not None:
        found[name] = [packages[0], spec.origin or list(spec.submodule_search_locations)[0]]
print("\\n" + json.dumps(found))
"""
_INSIDE = """
def found(names):
    import importlib.util
    for name in names:
        try:
            if importlib.util.find_spec(name) is not None:
                yield name
        except Exception:
            pass
"""


@dataclass(frozen=True)
class Missing:
    """A package that can be imported outside the sandbox, but not inside."""

    package: str
    place: Path
    reason: str


def missing_inside() -> list[Missing]:
    """Start a kernel in the sandbox, and return the installed packages that it can't import.

    Raises:
        SandboxError: the sandbox doesn't work on this machine.
        StartFailed: the kernel failed to start.
    """
    done = subprocess.run(
        [sys.executable, "-c", _OUTSIDE],
        env=own_environment(),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    outside: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    refused = python_view(sys.executable).refused
    missing: dict[str, Missing] = {}
    for name in sorted(outside.keys() - _found_inside(sorted(outside))):
        package, place = outside[name][0], Path(outside[name][1])
        reasons = (reason for entry, reason in refused if place.is_relative_to(entry))
        missing.setdefault(package, Missing(package, place, next(reasons, _UNKNOWN)))
    return list(missing.values())


def _found_inside(names: list[str]) -> set[str]:
    manager = KernelManager(kernel_name=COLD)
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=_SECONDS)
        expression = {"found": f"__import__('json').dumps(list(found({names!r})))"}
        reply = client.execute_interactive(
            _INSIDE, silent=True, store_history=False, user_expressions=expression, timeout=_SECONDS
        )
        text = reply["content"]["user_expressions"]["found"]["data"]["text/plain"]
        return set(cast(list[str], json.loads(ast.literal_eval(text))))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
