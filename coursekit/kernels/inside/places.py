"""Paths inside the sandbox, known on both sides."""

HOME, RUN, PROGRAM = "/student", "/run/kernel", "/run/coursekit"
#: the program that starts kernels
SERVER = "server.py"
