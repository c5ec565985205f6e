"""Relations of two shapes: a missing or extra axis, or one of size 1 in the wrong place; axes exchanged or joined."""

from math import prod

from gradekit.relations.evidence import axis_in_words

Shape = tuple[int, ...]


def shape_relation(found: Shape, right: Shape) -> str:
    """One sentence about a wrong shape; empty if it doesn't relate, or in more than one way."""
    if found == right or 0 in found or 0 in right:
        return ""
    if right == ():
        return "It should be a single number, without axes."
    ones = [tuple(size for size in shape if size != 1) for shape in (found, right)]
    if ones[0] == ones[1]:
        if len(found) == len(right):
            return "Its axis of size 1 is in the wrong place."
        return f"Only an axis of size 1 is {'missing' if len(found) < len(right) else 'extra'}."
    if len(found) == len(right):
        if sorted(found) == sorted(right) and len(set(right)) == len(right):
            moved = [axis for axis in range(len(right)) if found[axis] != right[axis]]
            if len(moved) == 2:
                names = " and ".join(axis_in_words(axis, len(right)) for axis in moved)
                return f"Its shape has {names} exchanged."
            return "Its axes have the right sizes, but in another order."
        return _not_one(found, right)
    if len(found) == len(right) - 1 and len(places := _left_out(right, found)) == 1 and right[places[0]] > 1:
        return f"Of the axes that it should have, {axis_in_words(places[0], len(right))} is missing."
    if len(found) == len(right) + 1 and len(places := _left_out(found, right)) == 1:
        return f"It has one axis too many: {axis_in_words(places[0], len(found))}."
    if len(found) < len(right) and prod(found) == prod(right) and len(right) > 1:
        joined = [axis for axis in range(len(right) - 1) if _joined(right, axis) == found]
        if len(joined) == 1:
            names = f"axis {joined[0]} and {axis_in_words(joined[0] + 1, len(right))}"
            return f"It has as many entries as it should, but {names} are joined into one."
    return ""


def _not_one(found: Shape, right: Shape) -> str:
    """A sentence about an axis that should have size 1 but is as long as another one."""
    wrong = [axis for axis in range(len(right)) if found[axis] != right[axis]]
    if len(wrong) != 1 or right[wrong[0]] != 1:
        return ""
    same = [other for other in range(len(right)) if other != wrong[0] and right[other] == found[wrong[0]]]
    if len(same) != 1:
        return ""
    words = (axis_in_words(axis, len(right)) for axis in (wrong[0], same[0]))
    return "It has the size of {1} along {0} as well, where the size should be 1.".format(*words)


def _left_out(larger: Shape, smaller: Shape) -> list[int]:
    """The axes without which the larger shape is the smaller one."""
    return [axis for axis in range(len(larger)) if larger[:axis] + larger[axis + 1 :] == smaller]


def _joined(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
