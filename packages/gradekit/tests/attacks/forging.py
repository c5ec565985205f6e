"""Attacks on the messages between kernel and grader. The kernel holds the key that signs them."""

from typing import Any

from .attack import NBGRADER, WRONG, Attack, Witness, any_of, earns, goes_ungraded, takes

# The agent, wherever it is in the kernel, and what answers its requests.
AGENT = """
import gc, sys, types
def find(name):
    return sys.modules.get(name) or next(
        (m for m in gc.get_objects() if isinstance(m, types.ModuleType) and m.__name__ == name), None)
agent, messages = find("gradekit.inside.agent"), find("gradekit.inside.messages")
"""


_RAW = """
import json, os
kernel = get_ipython().kernel
def send(kind, content, parent=None, buffers=None):
    parent = kernel.get_parent() if parent is None else parent
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, buffers=buffers)
"""

_EXTRA = (
    AGENT
    + _RAW
    + """
def double(x):
    for value in (2 * x * 0, None):
        reply = messages.encode({"ok": True, "passed": True, "value": value, "changed": []})
        send("comm_msg", {"comm_id": "gradekit-1", "data": {"ok": True}}, buffers=reply)
    return 3 * x
"""
)

_EXECUTE_REPLY = (
    _RAW
    + """
for stream in (getattr(kernel, "shell_stream", None), getattr(kernel, "control_stream", None)):
    if stream is not None:
        content = {"status": "ok", "execution_count": 3, "payload": [], "user_expressions": {"points": 10}}
        kernel.session.send(stream, "execute_reply", content, parent=kernel.get_parent(),
                            ident=kernel._parent_ident if hasattr(kernel, "_parent_ident") else None)
"""
)

_IDLE = (
    _RAW
    + """
send("status", {"execution_state": "idle"})
def double(x):
    send("status", {"execution_state": "idle"})
    send("status", {"execution_state": "idle"})
    return 3 * x
"""
)

_BAD_SIGNATURE = (
    _RAW
    + """
header = json.dumps({"msg_id": "1", "msg_type": "stream", "session": "x", "username": "u", "version": "5.3"})
parent = json.dumps(kernel.get_parent()["header"], default=str)
kernel.iopub_socket.send_multipart(
    [b"stream", b"<IDS|MSG>", b"0" * 64, header.encode(), parent.encode(), b"{}", b'{"name": "stdout", "text": "!"}'])
kernel.iopub_socket.send_multipart([b"one", b"two"])
"""
)

_MALFORMED = (
    _RAW
    + """
for kind, content in [
    ("display_data", []), ("display_data", {"data": 3}), ("display_data", {"data": {"text/plain": {}}}),
    ("display_data", {"data": {}, "metadata": 3, "transient": "x"}), ("stream", {"name": 3, "text": 4}),
    ("stream", {}), ("stream", "text"), ("error", {"ename": 1, "evalue": 2, "traceback": 3}), ("error", {}),
    ("execute_result", {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": "many"}),
    ("status", {}), ("status", 3), ("execute_input", {"execution_count": "<b>", "code": 1}),
    ("clear_output", {}), ("comm_open", {}), ("comm_open", {"comm_id": [], "target_name": "jupyter.widget", "data": 3}),
    ("comm_msg", {}), ("comm_close", {"comm_id": 3}), ("update_display_data", {"transient": {"display_id": "1"}}),
    ("unheard_of", {}), ("", {}),
]:
    try:
        send(kind, content)
    except Exception as error:
        print(error)
"""
)


_WIDGET = (
    _RAW
    + """
state = {"_model_module": "@jupyter-widgets/output", "_model_name": "OutputModel", "msg_id": "", "outputs": []}
send("comm_open", {"comm_id": "w", "target_name": "jupyter.widget", "data": {"state": state}})
mine = kernel.get_parent()["header"]["msg_id"]
for identifier in (mine, "other"):
    send("comm_msg", {"comm_id": "w", "data": {"method": "update", "state": {"msg_id": identifier}}})
send("stream", {"name": "stdout", "text": "10 of 10 points"})
"""
)


_HUGE = (
    _RAW
    + """
def double(x):
    frame = bytes(60 << 20)
    for _ in range(10 * 1024 // 60):  # 10 GB, if anyone takes them
        send("comm_msg", {"comm_id": "gradekit-1", "data": {}}, buffers=[frame] * 1)
    return 3 * x
"""
)

_HUGE_PARTS = (
    _RAW
    + """
frame = bytes(1 << 20)
for _ in range(10):
    kernel.iopub_socket.send_multipart([frame] * 1024)  # one message of 1 GB in many parts
"""
)

_HUGE_RAW = """
import socket, struct, glob
def double(x):
    # past every object of the kernel: frames on whatever socket leads out of here
    frame = bytes(1 << 20)
    import os, time
    for descriptor in range(3, 200):
        try:
            wire = socket.socket(fileno=os.dup(descriptor))
            if wire.family == socket.AF_UNIX and wire.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0:
                wire.setblocking(True)
                wire.settimeout(0.2)
                for _ in range(1024):
                    wire.sendall(frame)
        except OSError:
            pass
    return 3 * x
"""

GRADED = any_of(earns, goes_ungraded)


def forge(name: str, aim: str, source: str, witness: Witness = GRADED, **more: Any) -> Attack:
    return Attack(name, aim, witness, source, unfit=(NBGRADER,), **more)


ATTACKS = [
    forge("sends-extra-replies", "Send replies of its own before the agent's.", _EXTRA),
    forge(
        "forges-the-reply-to-a-cell",
        "Send a second reply for a cell, with points in it.",
        _EXECUTE_REPLY + WRONG,
    ),
    forge("says-idle-too-early", "Claim that the kernel is done while it is not.", _IDLE),
    forge(
        "sends-messages-with-a-bad-signature",
        "Break the grader's reading of messages, and so the class.",
        _BAD_SIGNATURE + WRONG,
    ),
    forge(
        "sends-malformed-messages",
        "Messages of the right kind whose content is of the wrong type.",
        _MALFORMED + WRONG,
    ),
    forge(
        "opens-a-widget-that-takes-outputs", "Have nbclient's widgets redirect the outputs.", _WIDGET + WRONG
    ),
    forge(
        "sends-10-GB-in-many-replies",
        "Fill the grader's memory with replies.",
        _HUGE,
        takes(grader=2500),
        harmful=True,
        kernel=True,
    ),
    forge(
        "sends-10-GB-in-parts-of-messages",
        "Fill the grader's memory with messages of a thousand parts.",
        _HUGE_PARTS + WRONG,
        takes(grader=2500),
        harmful=True,
    ),
    forge(
        "writes-raw-bytes-to-every-socket",
        "Write a gigabyte past the protocol into the grader's sockets.",
        _HUGE_RAW,
        any_of(GRADED, takes(grader=2500)),
        harmful=True,
    ),
]
