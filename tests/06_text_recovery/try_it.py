"""Snippets for students: short sentences that can be counted by hand, and that fail if the answer is wrong."""

import math

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_preprocess")
def the_mice_and_an_old_bus(preprocess):
    """A table of four words: mice is mouse, saw is see, see is view, and old is ancient."""
    table = {"mice": "mouse", "saw": "see", "see": "view", "old": "ancient"}
    found = preprocess("The Mice and an old bus (7) saw a, an and the cat; cat!", table)
    wanted = ["mouse", "and", "ancient", "bus", "7", "see", "and", "cat", "cat"]
    print("The words should be", wanted)
    print("They are           ", found)
    assert found == wanted, "The wrong words are left."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_vocabulary")
def ant_cat_and_dog(Vocabulary):
    """Three words, in alphabetical order after the four symbols: ant is 4, cat is 5, dog is 6."""
    three = Vocabulary([["dog", "ant", "dog"], ["cat", "dog"]])
    for what, found, wanted in [
        ("ids of dog, ant and zebra", three.encode(["dog", "ant", "zebra"]), [6, 4, 3]),
        ("number of ids", len(three), 7),
        ("words of 1 6 0 3 4 2 5", three.decode([1, 6, 0, 3, 4, 2, 5]), ["dog", "<unk>", "ant"]),
        ("words of a tensor of 6 and 4", three.decode(torch.tensor([6, 4])), ["dog", "ant"]),
    ]:
        print(f"The {what} should be {wanted}. You have {found}.")
        assert found == wanted, f"Wrong: the {what}."


@try_it("test_vocabulary", "test_ids_of_words")
def the_cat_named_cat(Vocabulary):
    """Cat and cat are different words, and in the order of Python's `sorted` Cat comes first."""
    found = Vocabulary([["cat", "Cat"]]).encode(["Cat", "cat"])
    print("The ids of Cat and cat should be [4, 5]. They are", found)
    assert found == [4, 5], "Capitals are not kept, or the order is wrong."


@try_it("test_vocabulary")
def ants_twice(Vocabulary):
    """With min_count=2, a word that occurs twice in one sentence is in, one that occurs once is not."""
    twice, other = Vocabulary([["ant", "ant"], ["dog"]], min_count=2), Vocabulary([["bee"]])
    print("The ids of ant and dog should be [4, 3]. They are", twice.encode(["ant", "dog"]))
    assert twice.encode(["ant", "dog"]) == [4, 3], (
        "The vocabulary should have only the words that occur twice."
    )
    print("Another vocabulary should not know ant, so its id is [3]:", other.encode(["ant"]))
    assert other.encode(["ant"]) == [3], "Two vocabularies share their words."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_collate")
def two_pairs(collate):
    """Two pairs. Padding is 9 and EOS is 3 here."""
    two = [([4, 5], [6]), ([5], [7, 8])]
    found = collate(two, pad_idx=9, eos_idx=3)
    print("The source should be [[4, 5], [5, 9]]. It is", found[0].tolist())
    assert found[0].tolist() == [[4, 5], [5, 9]], "The source is wrong."
    print("The target should be [[6, 3, 9], [7, 8, 3]]. It is", found[1].tolist())
    assert found[1].tolist() == [[6, 3, 9], [7, 8, 3]], "The target is wrong."
    assert found[0].dtype == found[1].dtype == torch.long, "The ids are not torch.long."
    print("The pairs should be as they were:", two)
    assert two == [([4, 5], [6]), ([5], [7, 8])], "Your function changed the pairs."


@try_it("test_collate", "test_dtype")
def empty_source(collate):
    """A source without words makes a tensor without entries, which is torch.long as well."""
    found, _ = collate([([], [4])])
    print("The dtype should be torch.int64. It is", found.dtype)
    assert found.dtype == torch.long, "A tensor without entries is not torch.long."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_modified_precision")
def counted_by_hand(modified_precision):
    """Candidate, reference, n, and how many of the candidate's n-grams match, of how many."""
    for candidate, reference, n, wanted in [
        ("the the the cat", "the cat the cat cat", 1, (3, 4)),  # twice the, once cat
        ("the the the cat", "the cat the cat cat", 2, (1, 3)),
        ("the the the cat", "the cat the cat cat", 5, (0, 0)),
        ("a b", "b a", 2, (0, 1)),
        ("x a b", "a b", 2, (1, 2)),
        ("a x b", "a y b", 2, (0, 2)),
        ("The", "the", 1, (0, 1)),
        ("ab c", "a bc", 2, (0, 1)),
    ]:
        found = modified_precision(candidate.split(), reference.split(), n)
        print(f"{candidate!r} against {reference!r}, n = {n}: should be {wanted}, is {found}")
        assert tuple(found) == wanted, "The counts are wrong."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_brevity_penalty")
def five_lengths(brevity_penalty):
    """Two tokens instead of five cost a factor of e to the power of 1 - 5/2, which is 0.223."""
    for candidate, reference, wanted in [(2, 5, 0.2231), (5, 2, 1), (3, 3, 1), (0, 2, 0), (0, 0, 1)]:
        found = brevity_penalty(candidate, reference)
        print(f"{candidate} tokens, reference {reference}: should be {wanted}, is {found}")
        assert abs(found - wanted) < 1e-3, "The penalty is wrong."
        assert isinstance(found, float), "The penalty is not a Python float."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_corpus_bleu")
def two_sentences(corpus_bleu):
    """3 of 5 tokens and 2 of 3 pairs match, and there are 5 tokens instead of 6."""
    found = corpus_bleu([["a", "b", "c", "d"], ["x"]], [["a", "b", "c", "e"], ["y", "z"]], max_n=2)
    wanted = 100 * math.sqrt(3 / 5 * 2 / 3) * 0.8187
    print(f"BLEU should be {wanted:.2f}. It is {found:.2f}.")
    assert abs(found - wanted) < 0.02, "BLEU is wrong."
    print("It should have more digits than two:", found)
    assert abs(found - round(found, 3)) > 1e-9, "The score is rounded."


@try_it("test_corpus_bleu")
def no_pair_matches(corpus_bleu):
    """Both tokens match, but no pair does, so BLEU is 0."""
    found = corpus_bleu([["a", "b"]], [["b", "a"]], max_n=2)
    print("BLEU should be 0. It is", found)
    assert found == 0, "A precision of 0 does not make BLEU 0."
    assert isinstance(found, float), "BLEU is not a Python float."


@try_it("test_corpus_bleu")
def one_against_three(corpus_bleu):
    """One candidate can't be compared with three references."""
    said = None
    try:
        corpus_bleu([["a"]], [["a"], ["b"], ["c"]], max_n=1)
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names 1 and 3:", said)
    assert said is not None, "There is no ValueError."
    assert "1" in said and "3" in said, "The message does not name both numbers."
