"""Recorded tensors: fixed inputs, what the instructor's solution gave, and what each known mistake gives."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from coursekit.checks.compare import ATOL, RTOL, as_tensor, difference, fail, in_words
from coursekit.checks.draw import number_from
from coursekit.course import CourseError

FILE_NAME = "reference.safetensors"


@dataclass
class Observation:
    """One comparison with a recorded value: what the submission gave, and whether it was right."""

    key: str
    value: torch.Tensor | None
    passed: bool


@dataclass
class Store:
    """The recorded tensors of an assignment.

    Keys are `<file>::<check>/<kind>/…`; the kinds are inputs, expected and mistakes.
    """

    path: Path
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    recording: bool = False

    @classmethod
    def load(cls, folder: Path) -> "Store":
        """What is recorded for the checks in `folder`.

        Raises:
            CourseError: the file is damaged.
        """
        path = folder / FILE_NAME
        try:
            return cls(path, load_file(path) if path.exists() else {})
        except (SafetensorError, OSError) as error:
            raise CourseError(
                f"{path} can't be read ({error}): run `coursekit record {folder.name}`"
            ) from error

    def save(self) -> None:
        # safetensors sorts by type and name, so the same tensors give the same bytes
        save_file({key: tensor.contiguous() for key, tensor in self.tensors.items()}, self.path)

    def get(self, key: str) -> torch.Tensor:
        if key not in self.tensors:
            name = self.path.parent.name
            raise CourseError(
                f"{self.path} holds no {key}: run `coursekit record {name}` after changing a check"
            )
        return self.tensors[key]

    def mistakes(self, check: str) -> dict[str, dict[str, torch.Tensor]]:
        """What each mistake gave in a check, where it differs from the solution: id -> key -> tensor."""
        prefix = f"{check}/mistakes/"
        found: dict[str, dict[str, torch.Tensor]] = {}
        for name, tensor in self.tensors.items():
            if name.startswith(prefix):
                mistake, key = name.removeprefix(prefix).split("/", 1)
                found.setdefault(mistake, {})[key] = tensor
        return found


class Reference:
    """The recorded tensors of one check; a fixture of that name."""

    def __init__(self, store: Store, check: str) -> None:
        self._store = store
        self._check = check
        self.observations: list[Observation] = []
        self.tolerances: dict[str, tuple[Any, float]] = {}

    def inputs(self, label: str, **shapes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
        """Standard-normal float32 tensors of the given shapes, in order; always the same ones."""
        return tuple(
            self._recorded(
                f"inputs/{label}/{name}",
                lambda generator, shape=shape: torch.randn(shape, generator=generator),
            )
            for name, shape in shapes.items()
        )

    def integers(self, label: str, low: int, high: int, shape: tuple[int, ...]) -> torch.Tensor:
        """Integers from low to high - 1; always the same ones."""
        return self._recorded(
            f"inputs/{label}", lambda generator: torch.randint(low, high, shape, generator=generator)
        )

    def assert_close(
        self, key: str, value: Any, atol: float | torch.Tensor = ATOL, rtol: float = RTOL
    ) -> None:
        """Fail unless `value` is what the instructor's solution gave; `key` is what the student calls it."""
        name = f"{self._check}/expected/{key}"
        found = as_tensor(value)
        if self._store.recording:
            if found is None:
                raise CourseError(f"{name}: the solution gives no tensor or number to record")
            self._store.tensors[name] = found.detach().clone()
            return
        text = difference(value, self._store.get(name), atol, rtol)
        self.observations.append(Observation(key, found, text is None))
        self.tolerances[key] = (atol, rtol)
        if text:
            fail(f"{in_words(key)} {text}.")

    def _recorded(self, label: str, make: Any) -> torch.Tensor:
        name = f"{self._check}/{label}"
        if self._store.recording:
            self._store.tensors[name] = make(torch.Generator().manual_seed(number_from(name)))
        return self._store.get(name).clone()
