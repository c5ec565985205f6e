"""A student's module, as a check sees it: calls, gradients, parameters and modes, through requests to the kernel."""

from typing import TYPE_CHECKING, Any, Protocol

from gradekit.inside.arrays import Array, is_array
from gradekit.session.replies import Answer
from gradekit.session.values import Call, Gradients, Implemented, Named, Opaque, StudentError

if TYPE_CHECKING:
    import torch


class _Student(Protocol):
    """The requests that a module makes through its `Student`, which is defined above this module."""

    _waiting: list[tuple[str, dict[str, Any]]]

    def _call(
        self, label: str, target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> Call: ...

    def _gradients(
        self, label: str, target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> Gradients: ...

    def _ask(self, label: str, request: dict[str, Any]) -> Answer: ...


class Module:
    """An `nn.Module` of the student, which stays in the kernel."""

    def __init__(self, student: _Student, number: int, type_name: str) -> None:
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

    def state(self) -> dict[str, Array]:
        """Parameters and persistent buffers by name."""
        return self._named_tensors("state")

    def parameters(self) -> dict[str, Array]:
        return self._named_tensors("parameters")

    def buffers(self) -> dict[str, Array]:
        """All buffers by name, also those that aren't saved with the module."""
        return self._named_tensors("buffers")

    def load_state(self, values: dict[str, Array], strict: bool = True) -> "Module":
        """Set the named parameters and buffers; the others stay as they are.

        Names that the module does not have raise an error when it is next used; with strict=False they are ignored.
        """
        return self._act("load_state" if strict else "load_known", values)

    def replace_state(self, values: dict[str, Array]) -> "Module":
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

    def _named_tensors(self, action: str) -> dict[str, Array]:
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
