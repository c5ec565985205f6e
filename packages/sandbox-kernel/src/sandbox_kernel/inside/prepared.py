"""ipykernel's kernel, made in two steps: before the fork all that needs no socket, such as IPython's shell, then the rest.

A fork copies each page of memory that it changes, and making the shell changes thousands.
"""

import os
import sys
import uuid
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from IPython.core.application import BaseIPythonApplication

#: the steps of ipykernel's `initialize` that are done before the fork
_DONE = (
    *(
        "parse_command_line",
        "init_crash_handler",
        "init_profile_dir",
        "init_config_files",
        "load_config_file",
    ),
    *("update_config", "init_shell", "init_code"),
)


class PreparedKernel(IPythonKernel):
    """Made without sockets. When ipykernel asks for a kernel with its sockets, it gets this one."""

    @classmethod
    def instance(cls, *arguments: Any, **given: Any) -> "PreparedKernel":
        if not cls.initialized():
            return super().instance(*arguments, **given)
        made = super().instance()
        del given["user_ns"]  # setting it would empty the notebook's names
        for name, value in given.items():
            setattr(made, name, value)
        made._connect()
        return made

    def _connect(self) -> None:
        """Give what the kernel has made the sockets, as its constructor does."""
        self.ident = str(uuid.uuid4())
        self._stdout, self._stderr = sys.stdout, sys.stderr
        shell: Any = self.shell
        hook, publisher = shell.displayhook, shell.display_pub
        hook.session = publisher.session = self.session
        hook.pub_socket = publisher.pub_socket = self.iopub_socket
        hook.topic = self._topic("execute_result")
        if debugger := getattr(self, "debugger", None):
            debugger.session, debugger.shell_socket = self.session, self.debug_shell_socket
            debugger.debugpy_client.debugpy_stream = self.debugpy_stream


def prepare(argv: list[str]) -> IPKernelApp | None:
    """ipykernel's application for these arguments with everything that needs no socket; None if it can't be made so.

    `finish` does the rest.
    """
    try:
        app = IPKernelApp.instance()
        app.kernel_class = PreparedKernel
        BaseIPythonApplication.initialize(app, argv)
        app.kernel = PreparedKernel.instance(
            parent=app, log=app.log, profile_dir=app.profile_dir, user_ns=app.user_ns
        )
        app.init_shell()
        app.init_code()
    except Exception as error:  # of a version of ipykernel that does this in another way
        print(f"kernels are made after the fork, which is slower: {error!r}", file=sys.stderr)
        for made in (IPKernelApp, PreparedKernel, PreparedKernel.shell_class.default_value):
            made.clear_instance()
        return None
    return app


def finish(app: IPKernelApp, argv: list[str]) -> None:
    """Do what `IPKernelApp.initialize` does, without the steps that `prepare` has done."""
    for name in _DONE:
        setattr(app, name, _nothing)
    profile: Any = app.profile_dir
    os.makedirs(profile.location, exist_ok=True)  # this kernel's folders are new
    profile.check_dirs()
    app.initialize(argv)
    for name in _DONE:
        delattr(app, name)


def _nothing(*arguments: Any) -> None:
    pass
