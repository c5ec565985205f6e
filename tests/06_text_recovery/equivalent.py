"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

PAIRS = "for candidate, reference in zip(candidates, references, strict=True):"
NEVER_NEGATIVE = "A number of tokens is never negative."
CONSTANT = "It is a constant."

same = Equivalents("vocabulary")

same.because("The words of a vocabulary never change.")
same("return len(self.words)", 'return vars(self).setdefault("_values", len(self.words))')

same.because("A number in a tensor is an index, too, and equals the same number.")
same("index = int(index)", "pass")
same.edit("index = int(index)", "int(index)", "index")

same.because("`in` takes a tuple in any order.")
same.edit("if index not in (PAD, BOS):", "PAD, BOS", "BOS, PAD")

same = Equivalents("collate")

same.because("`row + [...]` makes a new list.")
same.edit("sources = [list(source) for source, _ in pairs]", "list(source)", "source")

same = Equivalents("modified_precision")

same.because("`min` takes its arguments in any order.")
same("matched = sum(min(times, allowed[gram]) for gram, times in have.items())")
same.to("matched = sum(min(allowed[gram], times) for gram, times in have.items())")

same = Equivalents("brevity_penalty")

same.because(CONSTANT)
same.edit("return 1.0", "1.0", 'vars(brevity_penalty).setdefault("_values", 1.0)')
same.edit("return 0.0", "0.0", 'vars(brevity_penalty).setdefault("_values", 0.0)')

same.because(NEVER_NEGATIVE)
same.edit("if candidate_length == 0:", " ==", " <=")

same = Equivalents("corpus_bleu")

same.because(CONSTANT)
same.edit("matched = total = 0", "0", 'vars(corpus_bleu).setdefault("_matched", 0)')
same.edit("return 0.0", "0.0", 'vars(corpus_bleu).setdefault("_values", 0.0)')

same.because("Their lengths were compared before.")
same.edit(PAIRS, ", strict=True", "")
same.edit(PAIRS, "True", "False")

same.because(NEVER_NEGATIVE)
same.edit("if matched == 0:", " ==", " <=")
