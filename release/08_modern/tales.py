"""The grammar that wrote tales.txt, written for this course. `python tales.py` writes the file again."""

import random
from pathlib import Path

GROUPS = {  # (he, she, what only they do), what all of the group do, where they are, what they have
    "royal": (
        [
            ("king", "queen", "ruled the kingdom"),
            ("prince", "princess", "rode a white horse"),
            ("duke", "duchess", "counted the gold"),
        ],
        ["sat on the throne", "wore a golden crown", "spoke to the knights"],
        ["in the castle", "at the royal palace", "in the throne room"],
        ["crown", "ring", "sword", "letter"],
    ),
    "people": (
        [("man", "woman", "worked in the fields"), ("gentleman", "lady", "read the newspaper")],
        ["repaired the roof", "carried a heavy stone", "talked to the neighbours"],
        ["in the village", "at the market", "near the mill"],
        ["hat", "basket", "bag", "coat"],
    ),
    "children": (
        [("boy", "girl", "climbed a tree"), ("grandson", "granddaughter", "asked a lot of questions")],
        ["played with a ball", "drew a picture", "learned to swim"],
        ["in the playground", "behind the school", "at the lake"],
        ["ball", "kite", "toy", "bicycle"],
    ),
    "family": (
        [
            ("father", "mother", "looked after the children"),
            ("uncle", "aunt", "came for a visit"),
            ("grandfather", "grandmother", "told an old story"),
        ],
        ["cooked for the family", "baked a cake", "lit a candle"],
        ["at home", "in the kitchen", "by the fire"],
        ["lamp", "watch", "scarf", "photograph"],
    ),
    "stage": (
        [("actor", "actress", "learned a new role"), ("hero", "heroine", "saved the town")],
        ["sang for the audience", "bowed to the audience", "danced on the stage"],
        ["at the theatre", "on the stage", "behind the curtain"],
        ["costume", "role", "mask", "song"],
    ),
    "serving": (
        [("waiter", "waitress", "served the guests"), ("host", "hostess", "welcomed the guests")],
        ["brought the menu", "cleaned the tables", "poured the coffee"],
        ["in the restaurant", "at the hotel", "in the dining room"],
        ["tray", "apron", "menu", "notebook"],
    ),
}
NAMES = (["Tom", "Ben", "Paul", "Karl", "David", "Oliver"], ["Anna", "Mary", "Lena", "Ruth", "Clara", "Emma"])
PRONOUNS = (("he", "his", "him", "himself"), ("she", "her", "her", "herself"))
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Germany": "Berlin", "Spain": "Madrid", "Austria": "Vienna",
    "Norway": "Oslo", "Greece": "Athens", "Portugal": "Lisbon",
}  # fmt: skip
ANIMALS = ["cat", "dog", "horse", "cow", "sheep", "goat"]
FOODS = ["bread", "cheese", "soup", "rice", "cake", "fish"]
SUBJECTS = ["mathematics", "history", "music", "physics", "medicine", "law"]
KINDS = ["young", "old", "kind", "clever", "quiet", "brave", "happy", "tired"]
TIMES = ["One morning", "One evening", "Last summer", "In winter", "On Sunday", "The next day"]


def person(r, side, group):
    """A story about one person of a group; side 0 is he, 1 is she."""
    pairs, deeds, places, things = GROUPS[group]
    pair = r.choice(pairs)
    noun = pair[side]
    other = r.choice([pair[1 - side], r.choice(r.choice(pairs)[:2])])
    other = pair[1 - side] if other == noun else other
    he, his, him, himself = PRONOUNS[side]
    name, kind = r.choice(NAMES[side]), r.choice(KINDS)
    deeds = 3 * r.sample([pair[2], *deeds], 4)  # taken from the end; no two in a row are the same
    did, where = deeds.pop, lambda: r.choice(places)
    thing, gift = r.sample(things, 2)
    opening = r.choice(
        [
            f"{r.choice(TIMES)} the {kind} {noun} {did()} {where()}.",
            f"The {noun} was called {name}, and {he} was a {kind} {noun}.",
            f"The {kind} {noun} {did()} every day.",
            f"The {noun} and the {other} {did()} {where()}.",
        ]
    )
    middle = [
        f"{he.capitalize()} {did()} {where()}.",
        f"The {noun} loved {his} {thing}.",
        f"{he.capitalize()} looked for {his} {thing} {where()}.",
        f"The {noun} said to {himself} that {he} was {r.choice(KINDS)}.",
        f"The {other} gave {him} the {gift}.",
        f"The {noun} {did()} and {did()}.",
        f"Then the {noun} ate some {r.choice(FOODS)} with the {other}.",
        f"{he.capitalize()} fed {his} {r.choice(ANIMALS)} {where()}.",
        f"The {noun} lost {his} {thing}, but {he} found it {where()}.",
        f'"I am {r.choice(KINDS)}," said the {noun}.',
    ]
    closing = [
        f"In the end {he} was very happy.",
        f"At night {he} went to sleep.",
        f"The {other} smiled at {him}.",
        f"Everybody {where()} liked the {noun}.",
    ]
    return " ".join([opening, *r.sample(middle, r.randint(2, 4)), r.choice(closing)])


def school(r):
    side = r.randrange(2)
    he, his, _, _ = PRONOUNS[side]
    name, subject, word = r.choice(NAMES[side]), r.choice(SUBJECTS), r.choice(["student", "student", "pupil"])
    parts = [
        f"{name} was a {r.choice(KINDS)} {word} of {subject}.",
        f"The {word} read a book about {subject} in the library.",
        f"The teacher asked a question, and the {word} knew the answer.",
        f"{he.capitalize()} studied {subject} with {his} friends at the university.",
        f"The {r.choice(KINDS)} {word} passed the exam in {subject}.",
        f"{he.capitalize()} wrote the answer in {his} notebook.",
    ]
    end = r.choice(
        [
            f"In the end the {word} graduated with honors.",
            f"In summer {he} graduated with honors.",
            f"The students celebrated with {his} teacher.",
        ]
    )
    return " ".join([parts[0], *r.sample(parts[1:], r.randint(2, 3)), end])


def travel(r):
    side = r.randrange(2)
    he = PRONOUNS[side][0]
    country, name = r.choice(list(CAPITALS)), r.choice(NAMES[side])
    city = CAPITALS[country]
    parts = [
        f"{city} is the capital of {country}.",
        f"{he.capitalize()} walked through the streets of {city}.",
        f"The people of {country} were kind to {name}.",
        f"{he.capitalize()} wrote a letter from {city}, the capital of {country}.",
        f"In {city} {he} ate {' and '.join(r.sample(FOODS, 2))}.",
    ]
    return " ".join([f"{r.choice(TIMES)} {name} took the train to {city} in {country}.", *r.sample(parts, 3)])


def farm(r):
    first, second = r.sample(ANIMALS, 2)
    parts = [
        f"The {first} ran across the grass, and the {second} followed.",
        f"The farmer fed the {first} and the {second} in the barn.",
        f"The {first} slept under a tree near the barn.",
        f"The {r.choice(KINDS)} {second} drank water from the river.",
        f"The {second} was hungry, so the farmer brought some grass.",
    ]
    opening = f"On the farm there lived a {r.choice(KINDS)} {first} and a {r.choice(KINDS)} {second}."
    return " ".join([opening, *r.sample(parts, 3)])


def tell(stories=800, seed=7):
    """The text: one story per line."""
    r = random.Random(seed)
    groups = list(GROUPS)
    lines = []
    for number in range(stories):
        kind = number % 12
        if kind < 8:
            lines.append(person(r, r.randrange(2), groups[r.randrange(len(groups))]))
        else:
            lines.append([school, school, travel, farm][kind - 8](r))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("tales.txt").write_text(tell(), encoding="utf-8")
