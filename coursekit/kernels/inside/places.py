"""Paths inside the sandbox, known on both sides."""

HOME, RUN, PROGRAM = "/home/student", "/run/kernel", "/run/coursekit"
WRITABLE = (HOME, "/tmp", "/dev/shm", RUN)
#: the program that starts kernels
SERVER = "server.py"
