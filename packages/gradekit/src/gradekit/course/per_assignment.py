"""A trait with different settings for single assignments."""

from typing import Any

from traitlets import Dict, HasTraits, TraitError, Unicode


class PerAssignment(Dict):  # it takes types for the checker only
    """Maps the name of an assignment to settings that replace those of the object for this assignment.

    Args:
        names: the traits that an assignment may set.
    """

    def __init__(self, *names: str, help: str) -> None:
        super().__init__(key_trait=Unicode(), value_trait=Dict(), help=help)
        self._names = sorted(names)

    def validate(self, obj: HasTraits, value: Any) -> dict[str, dict[str, Any]] | None:
        settings = super().validate(obj, value)
        for assignment, changed in (settings or {}).items():
            place = f"c.{type(obj).__name__}.{self.name}[{assignment!r}]"
            for name in changed:
                if name not in self._names:
                    raise TraitError(f"{place}: there is no setting {name!r}, only {', '.join(self._names)}")
            try:
                type(obj)(**changed)
            except TraitError as error:
                raise TraitError(f"{place}: {error}") from error
        return settings

    def of(self, obj: HasTraits, assignment: str) -> dict[str, Any]:
        """The settings of an assignment: its own, as their traits convert them, and the object's."""
        own: dict[str, Any] = getattr(obj, str(self.name)).get(assignment, {})
        changed = type(obj)(**own)
        return {name: getattr(changed if name in own else obj, name) for name in self._names}
