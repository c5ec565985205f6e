"""The values that come back from the student's kernel, or the reason why there is none; and its modules, which stay there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from gradekit.course.language import N_
from gradekit.course.printing import shortened

if TYPE_CHECKING:
    import torch

    from gradekit.inside.arrays import Array
    from gradekit.session.replies import Answer


class CheckOutcome(StrEnum):
    """How a check ended."""

    PASSED = N_("passed")
    #: some of its points were earned
    PARTLY_PASSED = N_("partly passed")
    FAILED = N_("failed")
    NOT_ANSWERED = N_("not answered")
    #: a cell that it needs did not run
    BLOCKED = N_("blocked")
    TIMED_OUT = N_("timed out")
    KERNEL_DIED = N_("kernel died")


class StudentError(Exception):
    """The submission could not do what was asked. The message is a sentence for the student.

    `outcome` is how the check ends. `raised` and `text` are the type and message of an exception that the student's
    code raised; the sentence contains only their beginnings. `bases` are the names of the bases of a user-defined type.

    Example:
        try:
            student.double("a word")
        except StudentError as error:
            assert error.raised in ("", "TypeError")  # it may refuse a word
    """

    def __init__(
        self,
        sentence: str,
        outcome: CheckOutcome = CheckOutcome.FAILED,
        raised: str = "",
        text: str = "",
        bases: Sequence[str] = (),
    ) -> None:
        for part in (raised, text):
            sentence = sentence.replace(part, shortened(part), 1) if part else sentence
        super().__init__(sentence)
        self.outcome = outcome
        self.raised = raised
        self.text = text
        self.bases = tuple(bases)


@dataclass(frozen=True)
class Call:
    """One call: its value, and the arguments (position or keyword) that it changed in place.

    `woken` are the modules among its arguments that were in evaluation mode and are in training mode now. `seeded`:
    torch's random seed is another one afterwards, which counts as a side effect if it is a call `of_module`. `left` are the
    settings of torch that it left changed: gradients `on` or `off`, another default dtype, or a `graph` recorded under `no_grad`. `parameters` are the names of
    the positional arguments, as far as the notebook's text shows them, and `given` are the arguments. `effects` are the calls of the exercise that did any of this, this one and those before it.
    """

    value: Any
    changed: list[int | str]
    name: str
    parameters: tuple[str, ...] = ()
    woken: list[int | str] = field(default_factory=list)
    seeded: bool = False
    left: list[str] = field(default_factory=list)
    effects: "SideEffects" = field(default_factory=lambda: SideEffects(), repr=False, compare=False)
    given: dict[int | str, Any] = field(default_factory=dict, repr=False, compare=False)
    of_module: bool = False

    @property
    def had_effects(self) -> bool:
        return bool(self.changed or self.woken or (self.seeded and self.of_module) or self.left)


@dataclass
class SideEffects:
    """The calls of an exercise's own code that did more than return a value.

    They changed an argument in place, left a module in training mode, set the random seed in a module, or left a setting
    of torch changed.

    `asked`: a check has asked for them, and passed. `told`: a check has failed because of them; no other one does.
    """

    calls: list[Call] = field(default_factory=list)
    asked: bool = False
    told: bool = False


@dataclass
class CheckStep:
    """Something that a check requested from the submission: a call, its gradients, or the value of a `variable`.

    `parameters` are the names of the positional arguments, as far as the notebook's text shows them. The call
    `builds` a module if it returned one.
    """

    name: str
    parameters: tuple[str, ...] = ()
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    gradients: bool = False
    variable: bool = False
    builds: bool = False

    @property
    def arguments(self) -> list[tuple[str, Any]]:
        """The values by the names of their parameters, as far as these are known."""
        return [*zip(self.parameters, self.args, strict=False), *self.kwargs.items()]


@dataclass(frozen=True)
class Gradients:
    """Gradients of the probed sum of the outputs (`gradekit.inside.messages.probe`).

    `inputs` has an entry for each positional argument: None where no gradient arrived, or where the argument isn't a
    float tensor. `parameters` has one for each parameter if a module was called. `names` are those of the arguments, as
    far as the notebook's text shows them.
    """

    value: Any
    inputs: "list[Array | None]"
    parameters: "dict[str, Array | None]"
    arguments: tuple[Any, ...] = field(repr=False, default=())
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Named:
    """An object that a check's helper code defines in the kernel, by name."""

    name: str
    scope: int


@dataclass(frozen=True)
class Implemented:
    """A function that the check's `source` defines in another kernel. In the student's, a stub stands for it.

    `methods` are the names of the methods that may be called of objects which it returns.
    """

    name: str
    source: str
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Opaque:
    """An object that stays in the kernel."""

    id: int
    type_name: str


class _Asked(Protocol):
    """The requests that a module makes through its `Student`, which is defined above this module."""

    _waiting: list[tuple[str, dict[str, Any]]]

    def _call(
        self, label: str, target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> Call: ...

    def _gradients(
        self, label: str, target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> Gradients: ...

    def _ask(self, label: str, request: dict[str, Any]) -> "Answer": ...


class Module:
    """An `nn.Module` of the student, which stays in the kernel."""

    def __init__(self, student: _Asked, number: int, type_name: str) -> None:
        self.id = number
        self.type_name = type_name
        self._student = student

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs).value

    def call(
        self, *args: Any, seed: int = 0, contiguous: bool = True, no_grad: bool = False, **kwargs: Any
    ) -> Call:
        target: dict[str, Any] = {"target": self}
        if not contiguous:
            target["contiguous"] = False
        if no_grad:
            target["no_grad"] = True
        return self._student._call(self.type_name, target, args, kwargs, seed)

    def gradients(self, *args: Any, seed: int = 0, **kwargs: Any) -> Gradients:
        return self._student._gradients(self.type_name, {"target": self}, args, kwargs, seed)

    def state(self) -> dict[str, "Array"]:
        """Parameters and persistent buffers by name."""
        return self._named_tensors("state")

    def parameters(self) -> dict[str, "Array"]:
        return self._named_tensors("parameters")

    def buffers(self) -> dict[str, "Array"]:
        """All buffers by name, also those that aren't saved with the module."""
        return self._named_tensors("buffers")

    def load_state(self, values: dict[str, "Array"], strict: bool = True) -> "Module":
        """Set the named parameters and buffers; the others stay as they are.

        Names that the module does not have raise an error when it is next used; with strict=False they are ignored.
        """
        return self._act("load_state" if strict else "load_known", values)

    def replace_state(self, values: dict[str, "Array"]) -> "Module":
        """Put new parameters and buffers in the place of the named ones, as an assignment in the notebook would."""
        return self._act("replace", values)

    def to(self, dtype: "torch.dtype") -> "Module":
        return self._act("to", str(dtype).removeprefix("torch."))

    def eval(self) -> "Module":
        return self._act("train", False)

    def train(self, mode: bool = True) -> "Module":
        return self._act("train", mode)

    def _act(self, action: str, value: Any) -> "Module":
        request = {"do": "module", "target": self, "action": action, "value": value}
        self._student._waiting.append((self.type_name, request))
        return self

    def _named_tensors(self, action: str) -> dict[str, "Array"]:
        from gradekit.inside.arrays import is_array  # it imports NumPy, which not every command needs

        request = {"do": "module", "target": self, "action": action}
        found = self._student._ask(self.type_name, request).value
        if not isinstance(found, dict) or not all(map(is_array, found.values())):
            raise StudentError(f"The parameters of `{self.type_name}` can't be read.")
        return found


def describe_handle(value: Any) -> dict[str, Any] | None:
    """The description of an object in the kernel that is sent back as an argument; None if the value isn't one."""
    match value:
        case Module() | Opaque():
            return {"$": "handle", "id": value.id}
        case Named():
            return {"$": "named", "name": value.name, "scope": value.scope}
        case Implemented():
            return {"$": "stub", "name": value.name, "methods": list(value.methods)}
    return None
