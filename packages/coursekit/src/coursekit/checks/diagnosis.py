"""Attributes a failed check to a known mistake, by comparing the wrong values with those of each mistake."""

from collections.abc import Iterable, Mapping

from coursekit.checks.compare import difference
from coursekit.checks.reference import Reference, Store


def diagnose(
    store: Store, check: str, references: Mapping[str, Reference], sentences: Mapping[str, str]
) -> str | None:
    """The id of the one mistake with the same values as the submission in `check`; None if none or several fit.

    Args:
        store: the recorded arrays of the assignment.
        check: `<file>::<check>`, which failed.
        references: the submission's comparisons, by check, for the whole exercise. If several mistakes fit the failed
            check, the other checks decide between them.
        sentences: mistake id -> sentence. Mistakes with the same sentence count as one.
    """
    if check not in references or all(seen.passed for seen in references[check].observations):
        return None
    fitting = [
        name
        for name in store.mistakes(check)
        if name in sentences and _fits(store, name, check, references[check])
    ]
    if len(_distinct(fitting, sentences)) > 1:
        fitting = [
            name
            for name in fitting
            if all(_fits(store, name, other, reference) for other, reference in references.items())
        ]
    return fitting[0] if len(_distinct(fitting, sentences)) == 1 else None


def _fits(store: Store, mistake: str, check: str, reference: Reference) -> bool:
    """True if every comparison of the check has the same result as with this mistake."""
    given = store.mistakes(check).get(mistake, {})
    for seen in reference.observations:
        if seen.passed:
            if seen.key in given:
                return False
            continue
        if seen.value is None or seen.key not in given:
            return False
        if difference(seen.value, given[seen.key], *reference.tolerances[seen.key]) is not None:
            return False
    return True


def _distinct(mistakes: Iterable[str], sentences: Mapping[str, str]) -> set[str]:
    return {sentences[name] for name in mistakes}
