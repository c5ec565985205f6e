"""Wrong answers to 06_text_recovery, written from the text of its exercises."""

from answers import Unseen


def answer(cell: str, name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"{cell}_{name}", cell, [(old, new)], fault=fault)


UNSEEN = [
    answer("preprocess", "case_kept", "word = token.lower()", "word = token", "case kept"),
    answer("preprocess", "unknown_dropped", "words.append(lemmas.get(word, word))", "if word in lemmas:\n            words.append(lemmas[word])", "words without a lemma lost"),
    answer("preprocess", "unique", "    return words", "    return list(dict.fromkeys(words))", "each word once"),
    answer("preprocess", "letters_only", "token.isalnum()", "token.isalpha()", "numbers removed"),
    answer("vocabulary", "more_than", "count >= min_count", "count > min_count", "more than min_count"),
    answer("vocabulary", "by_count", "known = sorted(word for word, count in counts.items() if count >= min_count)", "known = [word for word, count in counts.most_common() if count >= min_count]", "by frequency"),
    answer("vocabulary", "length_of_words", "return len(self.words)", "return len(self.ids)", "symbols not counted"),
    answer("vocabulary", "unknown_skipped", "[self.ids.get(word, UNK) for word in words]", "[self.ids[word] for word in words if word in self.ids]", "unknown words left out"),
    answer("vocabulary", "adds_eos", "[self.ids.get(word, UNK) for word in words]", "[self.ids.get(word, UNK) for word in words] + [EOS]", "EOS appended"),
    answer("vocabulary", "eos_continue", "if index == EOS:\n                break", "if index == EOS:\n                continue", "goes on after EOS"),
    answer("vocabulary", "string", "        return words\n", "        return ' '.join(words)\n", "a string in place of a list"),
    answer("collate", "eos_in_source", "sources = [list(source) for source, _ in pairs]", "sources = [[*source, eos_idx] for source, _ in pairs]", "EOS in the source, too"),
    answer("collate", "eos_last", "targets = [[*target, eos_idx] for _, target in pairs]", "targets = [[*target, eos_idx] for target, _ in pairs]", "sources as targets"),
    answer("collate", "pad_left", "row + [pad_idx] * (longest - len(row))", "[pad_idx] * (longest - len(row)) + row", "padded on the left"),
    answer("collate", "cut", "longest = max(len(row) for row in rows)", "longest = min(len(row) for row in rows)", "length of the shortest row"),
    answer("collate", "pad_zero", "row + [pad_idx] *", "row + [0] *", "always padded with 0"),
    answer("modified_precision", "not_clipped", "min(times, allowed[gram])", "times * (gram in allowed)", "not clipped"),
    answer("modified_precision", "sets", "matched = sum(min(times, allowed[gram]) for gram, times in have.items())", "matched = len(set(have) & set(allowed))", "each n-gram counts once"),
    answer("modified_precision", "recall", "total = sum(have.values())", "total = sum(allowed.values())", "the reference's n-grams counted"),
    answer("modified_precision", "ratio", "return matched, total", "return matched / max(total, 1), total", "a share in place of the count"),
    answer("modified_precision", "one_short", "range(len(tokens) - n + 1)", "range(len(tokens) - n)", "last n-gram lost"),
    answer("brevity_penalty", "upside_down", "1 - reference_length / candidate_length", "1 - candidate_length / reference_length", "fraction upside down"),
    answer("brevity_penalty", "linear", "math.exp(1 - reference_length / candidate_length)", "candidate_length / reference_length", "ratio in place of the power"),
    answer("brevity_penalty", "longer", "if candidate_length >= reference_length:", "if candidate_length > 2 * reference_length:", "rewards long candidates"),
    answer("corpus_bleu", "fraction", "return 100 * penalty", "return penalty", "from 0 to 1"),
    answer("corpus_bleu", "arithmetic", "logarithms.append(math.log(matched / total))", "logarithms.append(matched / total)", "arithmetic mean under exp"),
    answer("corpus_bleu", "no_penalty", "return 100 * penalty *", "return 100 *", "penalty forgotten"),
    answer("corpus_bleu", "four", "range(1, max_n + 1)", "range(1, 5)", "always four lengths"),
    answer("corpus_bleu", "skips_zero", "if matched == 0:\n            return 0.0", "if matched == 0:\n            continue", "lengths without a match left out"),
]  # fmt: skip
