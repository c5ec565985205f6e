"""The conventions that both sides of the sandbox share: paths inside, and the format of a request.

A separate module because the host imports it without the Linux-only code of the others.
"""

from typing import Any, TypedDict

HOME, RUN, PROGRAM = "/home/user", "/run/kernel", "/run/sandbox-kernel"
#: where Jupyter, IPython and matplotlib look for settings: not among the files of the kernel's user
SETTINGS = f"{RUN}/settings"
#: the connection file of a kernel
CONNECTION = f"{RUN}/connection.json"
#: the program in the folder PROGRAM that starts kernels
SERVER = "server.py"
#: bytes of a request as JSON
MAX_REQUEST = 1 << 16
#: descriptors that a kernel may inherit
MAX_INHERITED = 16


class Request(TypedDict):
    """The settings of one kernel, sent to the server as JSON."""

    connection: dict[str, Any]  # what a connection file contains
    argv: list[str]  # the program to run; empty for ipykernel
    code: str  # Python code to run instead of ipykernel, in a process without sockets of its own; empty for a kernel
    limits: dict[str, int]  # by the name of a resource limit, such as "NPROC"
    scratch: int  # MiB that all files of the kernel may take
    writable: list[str]  # folders that are empty at first
    kept: list[str]  # read-only files and folders in these
    preload: list[str]  # statements
    environment: dict[str, str]
    inherited: list[int]  # numbers under which the kernel finds the descriptors that follow the first three
    user: int  # the user id to run as, if the sandbox was started by root
