"""All attacks, by what they are about."""

from . import (
    cheating,
    climbing,
    drawing,
    escaping,
    exhausting,
    flooding,
    folders,
    forging,
    odd,
    pages,
    reading,
    replies,
    sharing,
    siblings,
    writing,
)
from .attack import Attack

THEMES = {
    "reading what is hidden": reading.ATTACKS,
    "changing what is not theirs": writing.ATTACKS,
    "cheating the comparison": cheating.ATTACKS,
    "forging messages": forging.ATTACKS + replies.ATTACKS,
    "running on the page": pages.ATTACKS,
    "drawing the page": drawing.ATTACKS,
    "getting out": escaping.ATTACKS + climbing.ATTACKS,
    "another student's kernel": siblings.ATTACKS,
    "shared quotas": sharing.ATTACKS,
    "taking too much": exhausting.ATTACKS + flooding.ATTACKS,
    "odd things handed in": folders.ATTACKS + odd.ATTACKS,
}
ATTACKS: list[Attack] = [attack for attacks in THEMES.values() for attack in attacks]
