"""Recorded values: fixed inputs, the values of the instructor's solution, and those of each known mistake."""

import hashlib
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError

from gradekit.checks.asserts import difference, fail, joined, require_name, sentence
from gradekit.codecs import ATOL, RTOL, Tolerance, codec_of
from gradekit.course import RECORDED, CourseError
from gradekit.course.files import file_stamp
from gradekit.course.printing import quoted
from gradekit.inside.arrays import (
    Array,
    ArrayKind,
    as_array,
    copied,
    current_kind,
    has_torch,
    is_array,
    is_plain,
    is_tensor,
    load,
    save,
    to_kind,
    to_numpy,
)
from gradekit.inside.messages import MessageError, decode, encode, packed, receive
from gradekit.relations import WrongValue

T = TypeVar("T")


def number_from(*parts: object) -> int:
    """A stable 63-bit number from any strings and numbers."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Generator:
    """Random arrays of the current kind; the same seed produces the same arrays."""

    def __init__(self, seed: int) -> None:
        self._numpy = self._torch = None
        if current_kind() == "numpy":
            self._numpy = np.random.default_rng(seed)
        else:
            import torch

            self._torch = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: Any = None) -> Array:
        """Standard-normal numbers; float32 unless `dtype` says otherwise."""
        if self._numpy:
            return self._numpy.standard_normal(shape).astype(dtype or np.float32)
        import torch

        return torch.randn(shape, generator=self._torch, dtype=dtype or torch.float32)

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Array:
        """Integers from low to high - 1."""
        if self._numpy:
            return self._numpy.integers(low, high, shape)
        import torch

        return torch.randint(low, high, shape, generator=self._torch)

    def bools(self, *shape: int) -> Array:
        if self._numpy:
            return self._numpy.random(shape) < 0.5
        import torch

        return torch.rand(shape, generator=self._torch) < 0.5


class Draw(Generator):
    """The fixture `draw`: random numbers of one check; the same seed and check produce the same numbers."""

    def __init__(self, seed: int, check: str) -> None:
        number = number_from(seed, check)
        super().__init__(number)
        self._random = random.Random(number)

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """`count` sizes from low to high, no two of them equal."""
        return self._random.sample(range(low, high + 1), count)

    def shuffled(self, values: Sequence[T]) -> list[T]:
        return self._random.sample(values, len(values))


PACKED = "$packed"


@dataclass
class Observation:
    """One comparison with a recorded value: the submission's value, and whether it was right."""

    key: str
    value: Any
    passed: bool


@dataclass
class Store:
    """The recorded values of an assignment, each as the array that is in the file.

    Keys are `<file>::<check>/inputs/…`, `…/expected/…` and `…/mistakes/…`, `<file>/fails/<mistake>` and
    `<file>/said/<mistake>`. A value that is not an array is stored as the bytes of a message, under a key that ends
    in `PACKED`.
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
        path = folder / RECORDED
        try:
            return cls(path, {**_recorded_in(path, file_stamp(path))})
        except (SafetensorError, OSError) as error:
            raise CourseError.of_records(path, error) from error

    def save(self) -> None:
        # safetensors sorts by type and name, so the same arrays result in the same bytes
        self.path.write_bytes(save(self.tensors))

    def get(self, key: str) -> Any:
        """A recorded value; an array is of the current kind."""
        for stored in (key, key + PACKED):
            if stored in self.tensors:
                value = from_stored(stored, self.tensors[stored])
                if not is_array(value) or not (is_tensor(value) or to_numpy(value).dtype.kind in "biufc"):
                    return value  # only NumPy has text and dates
                return to_kind(value, current_kind())
        raise CourseError(
            f"{self.path} has no {key}: run `gradekit record {quoted(self.path.parent.name)}` after changing a check"
        )

    def mistakes(self, check: str) -> dict[str, dict[str, Any]]:
        """The values of each mistake that differ from the solution's in a check: id -> key -> value."""
        prefix = f"{check}/mistakes/"
        found: dict[str, dict[str, Any]] = {}
        for name, array in self.tensors.items():
            if name.startswith(prefix):
                mistake, key = name.removeprefix(prefix).removesuffix(PACKED).split("/", 1)
                found.setdefault(mistake, {})[key] = from_stored(name, array)
        return found

    def fails(self, exercise: str, mistake: str) -> set[str] | None:
        """The checks of its exercise that a mistake fails; None if that was not recorded."""
        key = f"{exercise}/fails/{mistake}{PACKED}"
        return set(from_stored(key, self.tensors[key])) if key in self.tensors else None

    def recorded_messages(self, exercise: str, mistake: str) -> dict[str, str]:
        """The messages of the checks that a mistake failed, by name (see `gradekit.verdict.explanation`)."""
        key = f"{exercise}/said/{mistake}{PACKED}"
        return dict(from_stored(key, self.tensors[key])) if key in self.tensors else {}


@lru_cache(4)
def _recorded_in(path: Path, stamp: object) -> dict[str, Array]:
    """The arrays in a file, which is read again when its stamp has changed."""
    kind: ArrayKind = "torch" if has_torch() else "numpy"  # torch reads types that NumPy lacks
    return load(path.read_bytes(), kind) if path.exists() else {}


def to_stored(key: str, value: Any) -> tuple[str, Array]:
    """The key and the array under which a value is stored.

    Raises:
        MessageError: the value can't be sent either.
    """
    array = as_array(value)
    if array is not None and is_plain(array):
        return key, copied(array)
    return key + PACKED, np.frombuffer(packed(0, encode(value)), np.uint8).copy()


def is_recordable(value: Any) -> bool:
    """True if the value can be stored."""
    try:
        return value is not None and bool(to_stored("", value))
    except MessageError:
        return False


def from_stored(key: str, array: Array) -> Any:
    """The value that `to_stored` stored."""
    if not key.endswith(PACKED):
        return array
    stream = BytesIO(to_numpy(array).tobytes())
    try:
        return decode(receive(stream.read)[1])
    except MessageError as error:
        if isinstance(error.__cause__, CourseError):  # it needs a codec that isn't installed
            raise error.__cause__ from None
        raise


class Reference:
    """The fixture `reference`: the recorded arrays of one check."""

    def __init__(self, store: Store, check: str, asked: Callable[[], bool] = lambda: False) -> None:
        """`asked` says whether the check has requested anything from the submission yet, such as a size of its inputs."""
        self._store, self._asked = store, asked
        self._check = check
        self.observations: list[Observation] = []
        self.tolerances: dict[str, Tolerance] = {}

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
        ignore: Collection[str] = (),
    ) -> None:
        """Fail unless `actual` is close to the value that the instructor's solution returned.

        Args:
            name: what the student calls the value, shown as code: "weights". Empty if it has no name in the notebook.
            context: the words that follow the name in a sentence: "at temperature 2".
            key: the key under which the value is recorded; by default the name and its context.
            ignore: properties that may differ between two pandas values, as for `assert_close`.
        """
        require_name(name, context, old_style)
        key = key or joined(name, context)
        if self._recording(key, actual):
            return
        right = self._store.get(f"{self._check}/expected/{key}")
        text = difference(actual, right, atol, rtol, ignore)
        # a number is compared as an array where the right value is one
        found = as_array(actual) if is_array(right) else actual
        self._compared(key, found, text is None, Tolerance(atol, rtol, ignore))
        if text:
            fail(sentence(name, context, text), WrongValue(actual, right, self.tolerances[key]))

    def assert_same(
        self,
        actual: Array,
        other: Array,
        *,
        rule: str,
        name: str,
        key: str = "",
        context: str = "",
        atol: float = ATOL,
    ) -> None:
        """Fail unless two arrays that are computed with the student's code are equal, within `atol`.

        Their difference is recorded, so that a wrong one can get a diagnosis.

        Args:
            rule: why they should be equal, a sentence without its full stop: "Padding must have no effect".
            name, context: as for `assert_close`; they are about `actual`.
            key: the key under which the difference is recorded; by default the rule, with the name and its context.
        """
        key = key or f"{rule}: {joined(name, context)}"
        gap = _gap(actual, other)
        if self._recording(key, gap):
            return
        text = difference(actual, other, atol, 0.0) or codec_of(actual).nan(actual)
        self._compared(key, gap, text is None, Tolerance(atol, RTOL))
        if text:
            wrong = WrongValue(actual, other, Tolerance(atol, RTOL))
            fail(f"{rule}: {sentence(name, context, text)}", wrong)

    def _recording(self, key: str, value: Any) -> bool:
        """Record a value of the solution, if this run is for recording."""
        if self._store.recording:
            self._store.tensors |= dict([_recordable(f"{self._check}/expected/{key}", value)])
        return self._store.recording

    def _compared(self, key: str, value: Any, passed: bool, tolerance: Tolerance) -> None:
        self.observations.append(Observation(key, value, passed))
        self.tolerances[key] = tolerance

    def _recorded(self, label: str, make: Callable[[Generator], Array]) -> Array:
        name = f"{self._check}/{label}"
        made = make(Generator(number_from(name)))
        if self._store.recording:
            self._store.tensors[name] = made
        stored = self._store.get(name)
        if stored.shape != made.shape and not self._asked():
            raise CourseError(
                f"{name} has a different shape than in {self._store.path}: run "
                f"`gradekit record {quoted(self._store.path.parent.name)}`"
            )
        return copied(stored)


def _gap(actual: Any, other: Any) -> Any:
    """The difference of two arrays of one shape; otherwise the first of the two values."""
    if not (is_array(actual) and is_array(other) and actual.shape == other.shape):
        return actual
    one, two = to_numpy(actual), to_numpy(other)
    if one.dtype.kind not in "biuf":
        return actual
    return to_kind(one.astype(np.float32) - two.astype(np.float32), current_kind())


def _recordable(key: str, value: Any) -> tuple[str, Array]:
    try:
        if value is not None:
            return to_stored(key, value)
    except MessageError as error:
        raise CourseError(f"{key}: the solution returned something that can't be recorded: {error}") from None
    raise CourseError(f"{key}: the solution returned nothing that can be recorded")
