"""Paths inside the sandbox, known on both sides."""

HOME, RUN, PROGRAM = "/home/user", "/run/kernel", "/run/sandbox-kernel"
#: the program that starts kernels
SERVER = "server.py"
