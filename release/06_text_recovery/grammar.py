"""A small grammar of English, written for this course.

    sentence = random_sentence(random.Random(1))    # a Sentence: its text and its frame
    sentence.text                                   # for example "Yesterday, Anna saw an owl."
    originals(sentence.frame)                       # {"Yesterday, Anna saw an owl.": 0.8, ...}
    LEMMAS["saw"]                                   # "see"

A frame is what preprocessing leaves of a sentence: who, what, where and when. It leaves some choices open:
a or the, singular or plural, past or present. `originals` tries all of them and returns how likely each result is.
"""

import itertools
from collections import Counter
from typing import NamedTuple

NAMES = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Ida", "Jonas"]
PRONOUNS = ["I", "we", "they", "she", "he"]
COUNTERS = ["two", "three", "many"]
PLURAL = [(word,) for word in ["I", "we", "they", *COUNTERS]]  # after these, a verb has no -s
ADJECTIVES = ["old", "small", "angry", "young", "orange", "happy", "big", "ugly"]
BEINGS = {
    "cat": "cats", "dog": "dogs", "mouse": "mice", "owl": "owls", "fox": "foxes", "elephant": "elephants",
    "child": "children", "woman": "women", "teacher": "teachers", "artist": "artists", "uncle": "uncles",
}  # fmt: skip
THINGS = {
    "apple": "apples", "book": "books", "box": "boxes", "egg": "eggs", "knife": "knives", "letter": "letters",
    "umbrella": "umbrellas", "key": "keys",
}  # fmt: skip
NOUNS = BEINGS | THINGS
PLACES = ["in the garden", "at the station", "in the old house", "near the river", "in Paris"]
# A verb and its forms: after she, and in the past.
WITH_BEING = {"call": ("calls", "called"), "follow": ("follows", "followed"), "meet": ("meets", "met")}
WITH_THING = {"buy": ("buys", "bought"), "carry": ("carries", "carried"), "wash": ("washes", "washed")}
WITH_EITHER = {"see": ("sees", "saw"), "find": ("finds", "found"), "draw": ("draws", "drew")}
WITH_PLACE = {"sleep": ("sleeps", "slept"), "wait": ("waits", "waited"), "sing": ("sings", "sang")}
VERBS = WITH_BEING | WITH_THING | WITH_EITHER | WITH_PLACE | {"do": ("does", "did")}
TIMES = {
    "yesterday": "past", "last week": "past", "every day": "present", "on Mondays": "present",
    "tomorrow": "future",
}  # fmt: skip

# The probabilities of the open choices. Subjects have mostly been mentioned before, objects are mostly new.
SUBJECT = {("the", "singular"): 0.8, ("a", "singular"): 0.1, ("the", "plural"): 0.1}
OBJECT = {("a", "singular"): 0.8, ("the", "singular"): 0.1, ("the", "plural"): 0.1}
TENSE = {"past": 0.8, "present": 0.2}

#: every inflected form, in lower case -> its lemma
LEMMAS = {plural: noun for noun, plural in NOUNS.items()}
LEMMAS |= {form: verb for verb, forms in VERBS.items() for form in forms}
LEMMAS |= {"mondays": "monday"}


class Frame(NamedTuple):
    """What a sentence says, without the open choices. A noun phrase is a tuple of words, as in ("small", "cat")."""

    form: str  # "statement", "denial" or "question"
    subject: tuple[str, ...]
    verb: str
    object: tuple[str, ...]  # empty if there is a place
    place: str
    time: str  # empty if the sentence does not say when
    time_first: bool


class Sentence(NamedTuple):
    text: str
    frame: Frame


def random_sentence(rng):
    """Draws a frame, then one of its originals."""
    frame = random_frame(rng)
    texts = originals(frame)
    return Sentence(rng.choices(list(texts), list(texts.values()))[0], frame)


def random_frame(rng):
    form = rng.choices(["statement", "denial", "question"], [6, 2, 2])[0]
    verbs = rng.choice([WITH_BEING, WITH_THING, WITH_EITHER, WITH_PLACE])
    time = rng.choice(["", *TIMES])
    subject = random_phrase(rng, BEINGS, pronouns=True)
    thing, place = (), ""
    if verbs is WITH_PLACE:
        place = rng.choice(PLACES)
    else:
        nouns = {id(WITH_BEING): BEINGS, id(WITH_THING): THINGS}.get(id(verbs), NOUNS)
        thing = random_phrase(rng, nouns)
    time_first = bool(time) and form != "question" and rng.random() < 0.5
    return Frame(form, subject, rng.choice(list(verbs)), thing, place, time, time_first)


def random_phrase(rng, nouns, pronouns=False):
    kind = rng.random()
    if kind < 0.25 and nouns is not THINGS:
        names = rng.sample(NAMES, 2)
        return (names[0], "and", names[1]) if kind < 0.1 else (names[0],)
    if kind < 0.4 and pronouns:
        return (rng.choice(PRONOUNS),)
    counter = (rng.choice(COUNTERS),) if kind > 0.75 else ()
    adjective = (rng.choice(ADJECTIVES),) if rng.random() < 0.4 else ()
    return (*counter, *adjective, rng.choice(list(nouns)))


def originals(frame):
    """Returns all texts that fit the frame, each with its probability: a dict whose values sum to 1."""
    subjects, objects = open_choices(frame.subject, SUBJECT), open_choices(frame.object, OBJECT)
    tenses = {TIMES[frame.time]: 1.0} if frame.time else TENSE
    texts = Counter()
    for subject, thing, tense in itertools.product(subjects, objects, tenses):
        texts[write(frame, subject, thing, tense)] += subjects[subject] * objects[thing] * tenses[tense]
    return dict(texts)


def open_choices(phrase, choices):
    """Returns the choices of article and number that a noun phrase leaves open: none with a name or a counter."""
    if phrase and phrase[-1] in NOUNS and phrase[0] not in COUNTERS:
        return choices
    is_plural = "and" in phrase or phrase[:1] in PLURAL
    return {("", "plural" if is_plural else "singular"): 1.0}


def write(frame, subject, thing, tense):
    """Returns the text of a frame for given articles and numbers of both noun phrases and a given tense."""
    who, what = write_phrase(frame.subject, *subject), write_phrase(frame.object, *thing)
    after_she, past = VERBS[frame.verb]
    is_plural = subject[1] == "plural"
    helper = {"future": "will", "past": "did", "present": "do" if is_plural else "does"}[tense]
    verb = {"future": f"will {frame.verb}", "past": past, "present": frame.verb if is_plural else after_she}[
        tense
    ]
    rest = what or frame.place
    match frame.form:
        case "statement":
            words = f"{who} {verb} {rest}"
        case "denial":
            words = f"{who} {helper} not {frame.verb} {rest}"
        case "question":
            words = f"{helper} {who} {frame.verb} {rest}"
    if frame.time_first:
        words = f"{frame.time}, {words}"
    elif frame.time:
        words = f"{words} {frame.time}"
    return words[0].upper() + words[1:] + ("?" if frame.form == "question" else ".")


def write_phrase(phrase, article, number):
    words = list(phrase)
    if words and number == "plural":
        words[-1] = NOUNS.get(words[-1], words[-1])
    if article == "a" and words[0][0] in "aeiou":
        article = "an"
    return " ".join([article, *words] if article else words)
