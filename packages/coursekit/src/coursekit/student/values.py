"""What comes back from the student's kernel, or the reason why nothing does."""

from dataclasses import dataclass, field
from typing import Any

import torch

from coursekit.printing import shortened


class StudentError(Exception):
    """The submission could not do what was asked. The message is a sentence for the student.

    `kind` is "error", "blank", "blocked", "timed out" or "kernel died". `raised` and `text` are the type and
    message of the exception where the student's code raised one; the sentence holds their beginnings only.
    """

    def __init__(self, sentence: str, kind: str = "error", raised: str = "", text: str = "") -> None:
        for part in (raised, text):
            sentence = sentence.replace(part, shortened(part), 1) if part else sentence
        super().__init__(sentence)
        self.kind = kind
        self.raised = raised
        self.text = text


@dataclass(frozen=True)
class Call:
    """One call: its value, and the arguments (position or keyword) whose tensors were changed in place."""

    value: Any
    changed: list[int | str]
    name: str


@dataclass(frozen=True)
class Gradients:
    """Gradients of the probed sum of the outputs (`coursekit.messages.probe`).

    `inputs` has an entry for each positional argument, None where no gradient arrived or the argument is no
    float tensor; `parameters` has one for each parameter if a module was called.
    """

    value: Any
    inputs: list[torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]
    arguments: tuple[Any, ...] = field(repr=False, default=())


@dataclass(frozen=True)
class Opaque:
    """An object that stays in the kernel."""

    id: int
    type_name: str
