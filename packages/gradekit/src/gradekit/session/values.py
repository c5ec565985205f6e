"""The values that come back from the student's kernel, or the reason why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gradekit.course.language import N_
from gradekit.course.printing import shortened

if TYPE_CHECKING:
    from gradekit.inside.arrays import Array


class CheckOutcome(StrEnum):
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
    """A function that the check's `source` defines in another process. In the student's, a stub stands for it.

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
