"""Ports for servers that are started a moment later."""

import random
import socket


def free_port() -> int:
    """A port that is free, and that no outgoing connection gets meanwhile: Linux gives them those from 32768 on."""
    while True:
        port = random.randrange(20000, 32768)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
