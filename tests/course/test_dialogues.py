"""The stories, questions and answers that assignment 10 trains on."""

import importlib
import random
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "source"
TALES, FOLDER = SOURCE / "07_inside_pretrained", SOURCE / "10_after_pretraining"


@pytest.fixture
def dialogues(monkeypatch):
    """The module that is handed out with the notebook."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("dialogues", "tales"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("dialogues")


def test_the_stories_are_those_of_assignment_7(dialogues):
    assert (FOLDER / "tales.py").read_bytes() == (TALES / "tales.py").read_bytes()
    lines = (TALES / "tales.txt").read_text(encoding="utf-8").splitlines()
    assert [dialogues.TOKENS.findall(line) for line in lines] == dialogues.TRAINING


def test_a_prompt_has_the_answer_to_who_but_not_the_ending(dialogues):
    for story in dialogues.new_stories(200, seed=3):
        prompt, answer = dialogues.who(story)
        assert story.hero in dialogues.to_words(prompt)
        assert dialogues.to_words(answer) == ["The", story.hero, ".", "<end>"]
        assert next(word for word in story.words if word in dialogues.PEOPLE) == story.hero
        beginning = story.beginning
        assert story.words[: len(beginning)] == beginning
        assert story.words[len(beginning) :].count(".") == 1


def test_each_kind_of_ending_is_recognized_and_nothing_else_is(dialogues):
    rng = random.Random(0)
    for story in dialogues.new_stories(100, seed=4):
        for kind in range(4):
            answer = dialogues.to_words(dialogues.ending(story, kind, rng)[1])
            assert dialogues.kind_of_ending(story, answer) == kind
            assert dialogues.kind_of_ending(story, answer[:-1]) is None
            assert dialogues.kind_of_ending(story, answer[1:]) is None


def test_the_better_ending_comes_first(dialogues):
    pairs = dialogues.new_preferences(300, seed=5)
    stories = dialogues.new_stories(300, seed=5)
    kinds = [
        [dialogues.kind_of_ending(story, dialogues.to_words(answer)) for _, answer in pair]
        for story, pair in zip(stories, pairs, strict=True)
    ]
    assert all(better < worse for better, worse in kinds)
    assert all(chosen[0] == rejected[0] for chosen, rejected in pairs)
    shares = [sum(better == kind for better, _ in kinds) / len(kinds) for kind in range(4)]
    assert shares == pytest.approx([1 / 2, 1 / 3, 1 / 6, 0], abs=0.07)


def test_what_is_measured_is_not_what_was_trained(dialogues):
    held_out = {tuple(story.words) for story in dialogues.new_stories(200, seed=99)}
    for seed in (5, 6):
        assert not held_out & {tuple(story.words) for story in dialogues.new_stories(200, seed)}
    assert not held_out & {tuple(words) for words in dialogues.TRAINING}


def test_the_questions_are_new_words_and_answers_are_as_short_as_the_notebook_says(dialogues):
    assert not {"Who", "Ending", "?"} & {word for story in dialogues.TRAINING for word in story}
    prompts, answers = zip(*dialogues.new_dialogues(200, seed=5), strict=True)
    assert (min(map(len, prompts)), max(map(len, prompts))) == (28, 69)
    assert (min(map(len, answers)), max(map(len, answers))) == (4, 10)
