"""Students who answer independently of each other: each draws ways of writing, some common and some rare.

`ANSWERS` of a module has several ways to answer each exercise. In their text `<<a||b||c>>` is a choice, the first the
most likely (Zipf's law), `<<KEY:a||b>>` one that a student makes once in all exercises, and `@name` a name that the student
chooses. A tab is the indentation of a function's body.
"""

import random
import re
from types import ModuleType

_SLOT = re.compile(r"<<(?:([A-Z]+):)?((?:(?!<<|>>).)*)>>", re.DOTALL)
_NAME = re.compile(r"@([a-z]+1?)\b")


def answers_of(module: ModuleType, draw: random.Random) -> dict[str, str]:
    """The answers of one student, by exercise."""
    habits: dict[str, str] = {}
    names = {slot: _zipf(draw, pool) for slot, pool in module.NAMES.items()}
    return {
        exercise: _written(_zipf(draw, ways), draw, habits, names)
        for exercise, ways in module.ANSWERS.items()
    }


def _written(way: str, draw: random.Random, habits: dict[str, str], names: dict[str, str]) -> str:
    while match := _SLOT.search(way):  # innermost first
        key, choices = match[1], match[2].split("||")
        chosen = habits.get(key or "") if key else None
        if chosen is None:
            chosen = _zipf(draw, choices)
            if key:
                habits[key] = chosen
        way = way[: match.start()] + chosen + way[match.end() :]
    return _NAME.sub(lambda found: names.get(found[1], found[0]), way.expandtabs(4))


def _zipf(draw: random.Random, options: list[str]) -> str:
    return draw.choices(options, [1 / rank for rank in range(1, len(options) + 1)])[0]
