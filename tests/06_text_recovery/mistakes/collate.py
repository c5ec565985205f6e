"""Wrong answers to exercise 3, `collate`."""

from gradekit.checks import mistakes_in

mistake = mistakes_in("collate")

MISTAKES = [
    mistake(
        "col_no_eos",
        [("[*target, eos_idx]", "list(target)")],
        "test_target",
        "You left out EOS at the end of the targets, so a model would never learn to stop.",
    ),
    mistake(
        "col_eos_behind_the_pads",
        [
            ("[*target, eos_idx]", "list(target)"),
            ("fill_up(targets)", "torch.nn.functional.pad(fill_up(targets), (0, 1), value=eos_idx)"),
        ],
        "test_target",
        "You put EOS after the padding. It comes right after the last word, before the padding.",
    ),
    mistake(
        "col_eos_in_place_of_pad",
        [
            (
                "    return fill_up(sources), fill_up(targets)",
                "    target = fill_up(targets)\n"
                "    return fill_up(sources), torch.where(target == pad_idx, eos_idx, target)",
            )
        ],
        "test_target",
        "You pad the targets with EOS. Write EOS once, then PAD.",
    ),
    mistake(
        "col_eos_in_front",
        [("[*target, eos_idx]", "[eos_idx, *target]")],
        "test_target",
        "You put EOS at the start of the target. It belongs after the last word.",
    ),
    mistake(
        "col_bos_in_front",
        [("[*target, eos_idx]", "[BOS, *target, eos_idx]")],
        "test_target",
        "You put BOS at the start of the target. `shift_right` does that for the input of the decoder.",
    ),
    mistake(
        "col_eos_on_the_source",
        [("list(source) for", "[*source, eos_idx] for")],
        "test_source",
        "You also put EOS after the sources. Only the targets end with it.",
    ),
    mistake(
        "col_pads_on_the_left",
        [("row + [pad_idx] * (longest - len(row))", "[pad_idx] * (longest - len(row)) + row")],
        "test_source",
        "You pad on the left. Pad on the right.",
    ),
    mistake(
        "col_one_length_for_both",
        [("for row in rows)", "for row in sources + targets)")],
        "test_source",
        "You pad sources and targets to a common length. Pad each to its own longest row.",
    ),
    mistake(
        "col_cut_to_the_shortest",
        [("max(len(row)", "min(len(row)"), ("row + [pad_idx]", "row[:longest] + [pad_idx]")],
        "test_source",
        "You cut all rows to the shortest one. Pad them to the longest.",
    ),
    mistake(
        "col_batch_second",
        [("fill_up(sources), fill_up(targets)", "fill_up(sources).T, fill_up(targets).T")],
        "test_source",
        "Your tensors are (length, batch). The batch comes first.",
    ),
    mistake(
        "col_pad_0_fixed",
        [("[pad_idx] *", "[0] *")],
        "test_other_symbols",
        "You always pad with 0. Use the argument `pad_idx`.",
    ),
    mistake(
        "col_eos_2_fixed",
        [("[*target, eos_idx]", "[*target, 2]")],
        "test_other_symbols",
        "You always use 2 for EOS. Use the argument `eos_idx`.",
    ),
    mistake(
        "col_int32",
        [("dtype=torch.long", "dtype=torch.int32")],
        "test_dtype",
        "Your tensors are int32. Use torch.long.",
    ),
    mistake(
        "col_no_dtype",
        [(", dtype=torch.long", "")],
        "test_dtype",
        "Without `dtype=torch.long`, torch creates a float tensor if it has no entries.",
    ),
    mistake(
        "col_appends_to_the_pairs",
        [
            (
                "targets = [[*target, eos_idx] for _, target in pairs]",
                "targets = [target for _, target in pairs]\n    for target in targets:\n        target.append(eos_idx)",
            )
        ],
        "test_pairs_unchanged",
        "You append EOS to the lists that were passed in. Create new lists: `[*target, eos_idx]`.",
    ),
]
