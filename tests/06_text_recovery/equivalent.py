"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

LENGTH = "return len(self.words)"
MATCHED = "matched = sum(min(times, allowed[gram]) for gram, times in have.items())"
PAIRS = "for candidate, reference in zip(candidates, references, strict=True):"
NEVER_NEGATIVE = "A number of tokens is never negative."
CONSTANT = "It is a constant."
AN_INDEX = "A number in a tensor is an index, too, and equals the same number."
SAME_NUMBER = "Their lengths were compared before."

EQUIVALENT = [
    Equivalent(
        "vocabulary",
        LENGTH,
        'return vars(self).setdefault("_values", len(self.words))',
        "The words of a vocabulary never change.",
    ),
    Equivalent("vocabulary", "index = int(index)", "pass", AN_INDEX),
    Equivalent("vocabulary", "index = int(index)", "index = index", AN_INDEX),
    Equivalent(
        "vocabulary",
        "if index not in (PAD, BOS):",
        "if index not in (BOS, PAD):",
        "`in` takes a tuple in any order.",
    ),
    Equivalent(
        "collate",
        "sources = [list(source) for source, _ in pairs]",
        "sources = [source for source, _ in pairs]",
        "`row + [...]` makes a new list.",
    ),
    Equivalent(
        "modified_precision",
        MATCHED,
        MATCHED.replace("times, allowed[gram]", "allowed[gram], times"),
        "`min` takes its arguments in any order.",
    ),
    *(
        Equivalent(
            "brevity_penalty",
            f"return {number}",
            f'return vars(brevity_penalty).setdefault("_values", {number})',
            CONSTANT,
        )
        for number in ("1.0", "0.0")
    ),
    Equivalent("brevity_penalty", "if candidate_length == 0:", "if candidate_length <= 0:", NEVER_NEGATIVE),
    Equivalent(
        "corpus_bleu",
        "matched = total = 0",
        'matched = total = vars(corpus_bleu).setdefault("_matched", 0)',
        CONSTANT,
    ),
    *(
        Equivalent("corpus_bleu", PAIRS, PAIRS.replace(", strict=True", strict), SAME_NUMBER)
        for strict in ("", ", strict=False")
    ),
    Equivalent("corpus_bleu", "if matched == 0:", "if matched <= 0:", NEVER_NEGATIVE),
    Equivalent("corpus_bleu", "return 0.0", 'return vars(corpus_bleu).setdefault("_values", 0.0)', CONSTANT),
]
