"""Recorded arrays: fixed inputs, the values of the instructor's solution, and those of each known mistake."""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from coursekit.arrays import Array, Kind, as_array, copied, current_kind, has_torch, load, save, to_kind
from coursekit.checks.compare import ATOL, RTOL, difference, fail, in_words, joined, require_name
from coursekit.checks.draw import Generator, number_from
from coursekit.course import CourseError

FILE_NAME = "reference.safetensors"


@dataclass
class Observation:
    """One comparison with a recorded value: the submission's value, and whether it was right."""

    key: str
    value: Array | None
    passed: bool


@dataclass
class Store:
    """The recorded arrays of an assignment.

    Keys are `<file>::<check>/inputs/…`, `…/expected/…` and `…/mistakes/…`.
    """

    path: Path
    tensors: dict[str, Array] = field(default_factory=dict)
    recording: bool = False

    @classmethod
    def load(cls, folder: Path) -> "Store":
        """Read what is recorded for the checks in `folder`.

        Raises:
            CourseError: the file is damaged.
        """
        path = folder / FILE_NAME
        try:
            kind: Kind = "torch" if has_torch() else "numpy"  # torch reads types that NumPy lacks
            return cls(path, load(path.read_bytes(), kind) if path.exists() else {})
        except (SafetensorError, OSError) as error:
            raise CourseError(
                f"{path} can't be read ({error}): run `coursekit record {folder.name}`"
            ) from error

    def save(self) -> None:
        # safetensors sorts by type and name, so the same arrays give the same bytes
        self.path.write_bytes(save(self.tensors))

    def get(self, key: str) -> Array:
        """A recorded array, as the current kind."""
        if key not in self.tensors:
            name = self.path.parent.name
            raise CourseError(
                f"{self.path} has no {key}: run `coursekit record {name}` after changing a check"
            )
        return to_kind(self.tensors[key], current_kind())

    def mistakes(self, check: str) -> dict[str, dict[str, Array]]:
        """The values of each mistake that differ from the solution's in a check: id -> key -> array."""
        prefix = f"{check}/mistakes/"
        found: dict[str, dict[str, Array]] = {}
        for name, tensor in self.tensors.items():
            if name.startswith(prefix):
                mistake, key = name.removeprefix(prefix).split("/", 1)
                found.setdefault(mistake, {})[key] = tensor
        return found


class Reference:
    """The fixture `reference`: the recorded arrays of one check."""

    def __init__(self, store: Store, check: str) -> None:
        self._store = store
        self._check = check
        self.observations: list[Observation] = []
        self.tolerances: dict[str, tuple[Any, float]] = {}

    def inputs(self, label: str, **shapes: tuple[int, ...]) -> tuple[Array, ...]:
        """Standard-normal float32 arrays of the given shapes, in order; always the same ones."""
        return tuple(
            self._recorded(f"inputs/{label}/{name}", methodcaller("normal", *shape))
            for name, shape in shapes.items()
        )

    def integers(self, label: str, low: int, high: int, shape: tuple[int, ...]) -> Array:
        """Integers from low to high - 1; always the same ones."""
        return self._recorded(f"inputs/{label}", methodcaller("integers", low, high, shape))

    def assert_close(
        self,
        actual: Any,
        *old_style: Any,
        name: str = "",
        context: str = "",
        key: str = "",
        atol: float | Array = ATOL,
        rtol: float = RTOL,
    ) -> None:
        """Fail unless `actual` is what the instructor's solution gave.

        Args:
            name: what the student calls the value, shown as code: "weights". Empty if it has no name in the notebook.
            context: what follows the name in a sentence: "at temperature 2".
            key: under which the value is recorded; by default the name and its context.
        """
        require_name(name, context, old_style)
        key = key or joined(name, context)
        recorded = f"{self._check}/expected/{key}"
        found = as_array(actual)
        if self._store.recording:
            if found is None:
                raise CourseError(f"{recorded}: the solution returned nothing that can be recorded")
            self._store.tensors[recorded] = copied(found)
            return
        text = difference(actual, self._store.get(recorded), atol, rtol)
        self.observations.append(Observation(key, found, text is None))
        self.tolerances[key] = (atol, rtol)
        if text:
            fail(f"{in_words(name, context)} {text}.")

    def _recorded(self, label: str, make: Callable[[Generator], Array]) -> Array:
        name = f"{self._check}/{label}"
        if self._store.recording:
            self._store.tensors[name] = make(Generator(number_from(name)))
        return copied(self._store.get(name))
