"""Stories, questions about them, and answers: what assignment 10 trains on. The stories come from the grammar in tales.py.

A dialogue is a pair of lists of ids, (prompt, answer). The prompt is a story and a question, the answer ends with <end>:

    <s> The kind queen ... . Who ?          The queen . <end>
    <s> The kind queen ... . Ending ?       In the end she was very happy . <end>
"""

import random
import re
from dataclasses import dataclass

from tales import GROUPS, PRONOUNS, person, tell

PAD, START, END = 0, 1, 2
TOKENS = re.compile(r"[A-Za-z]+|[.,\"?]")
TRAINING = [TOKENS.findall(line) for line in tell(800, seed=7).splitlines()]  # the text of tales.txt
WORDS = [
    "<pad>",
    "<s>",
    "<end>",
    "Who",
    "Ending",
    "?",
    *sorted({word for story in TRAINING for word in story}),
]
IDS = {word: number for number, word in enumerate(WORDS)}

#: noun -> its group, 0 for he and 1 for she, and the noun of the other person
PEOPLE = {
    pair[side]: (group, side, pair[1 - side])
    for group, (pairs, *_) in GROUPS.items()
    for pair in pairs
    for side in (0, 1)
}
#: the four ways in which a story ends; a person who compares two answers likes an earlier one better
ENDINGS = ["happy", "a smile", "liked", "asleep"]


@dataclass(frozen=True)
class Story:
    """The words of a story about one person, and the noun for this person."""

    words: list[str]
    hero: str

    @property
    def beginning(self):
        """The words without the last sentence."""
        stops = [place for place, word in enumerate(self.words) if word == "."]
        return self.words[: stops[-2] + 1]


def to_ids(words):
    """Words -> ids."""
    return [IDS[word] for word in words]


def to_words(ids):
    """Ids -> words, up to and with the first <end>."""
    words = [WORDS[int(number)] for number in ids]
    return words[: words.index("<end>") + 1] if "<end>" in words else words


def new_stories(number, seed):
    """Returns new stories about people; the first person who is mentioned is the hero."""
    rng = random.Random(seed)
    stories = []
    for _ in range(number):
        words = TOKENS.findall(person(rng, rng.randrange(2), rng.choice(list(GROUPS))))
        stories.append(Story(words, next(word for word in words if word in PEOPLE)))
    return stories


def who(story):
    """Returns the dialogue that asks who the story is about."""
    return to_ids(["<s>", *story.words, "Who", "?"]), to_ids(["The", story.hero, ".", "<end>"])


def ending(story, kind, rng):
    """Returns the dialogue that asks how the story ends, with an answer of one of the kinds in ENDINGS (a number)."""
    group, side, other = PEOPLE[story.hero]
    he, _, him, _ = PRONOUNS[side]
    answer = [
        f"In the end {he} was very happy.",
        f"The {other} smiled at {him}.",
        f"Everybody {rng.choice(GROUPS[group][2])} liked the {story.hero}.",
        f"At night {he} went to sleep.",
    ][kind]
    return to_ids(["<s>", *story.beginning, "Ending", "?"]), to_ids([*TOKENS.findall(answer), "<end>"])


def kind_of_ending(story, words):
    """Returns the number of the kind in ENDINGS, or None if the answer, a list of words, has none of the four forms."""
    _, side, _ = PEOPLE[story.hero]
    he, _, him, _ = PRONOUNS[side]
    forms = [
        rf"In the end {he} was very happy \.",
        rf"The \w+ smiled at {him} \.",
        rf"Everybody [\w ]+ liked the {story.hero} \.",
        rf"At night {he} went to sleep \.",
    ]
    said = " ".join(words)
    return next((kind for kind, form in enumerate(forms) if re.fullmatch(form + " <end>", said)), None)


def new_dialogues(number, seed):
    """Returns dialogues, alternately of both questions, with endings of all kinds."""
    rng = random.Random(seed)
    stories = new_stories(number, seed)
    return [ending(story, rng.randrange(4), rng) if i % 2 else who(story) for i, story in enumerate(stories)]


def new_preferences(number, seed):
    """Returns pairs (chosen, rejected) of dialogues: the same prompt, and two endings of different kinds, the better one first."""
    rng = random.Random(seed)
    pairs = []
    for story in new_stories(number, seed):
        better, worse = sorted(rng.sample(range(4), 2))
        pairs.append((ending(story, better, rng), ending(story, worse, rng)))
    return pairs
