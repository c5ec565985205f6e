"""Listeners of the test's own, for attacks that want to reach somebody."""

import os
import socket
import tempfile
import threading
from pathlib import Path


class Listeners:
    """A TCP port of 127.0.0.1 and a unix socket that record the first word of each connection."""

    def __init__(self) -> None:
        self.heard: dict[str, str] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="listener-")
        self.path = str(Path(self._folder.name) / "socket")
        self._sockets = [socket.socket(), socket.socket(socket.AF_UNIX)]
        self._sockets[0].bind(("127.0.0.1", 0))
        self._sockets[1].bind(self.path)
        os.chmod(self._folder.name, 0o755)
        os.chmod(self.path, 0o777)
        self.port = self._sockets[0].getsockname()[1]
        for listener, name in zip(self._sockets, ("127.0.0.1", "a socket of the host"), strict=True):
            listener.listen(50)
            threading.Thread(target=self._listen, args=(listener, name), daemon=True).start()

    def _listen(self, listener: socket.socket, name: str) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                try:
                    said = connection.recv(64)
                except OSError:
                    said = b""
                word = (
                    said.decode(errors="replace").split("\n")[0] if said.startswith(b"mark") else "unmarked"
                )
                self.heard[word] = name

    def close(self) -> None:
        for listener in self._sockets:
            listener.close()
        self._folder.cleanup()
