"""Wrong answers to exercise 3, `collate`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_target")
wrong("col_no_eos", "[*target, eos_idx]", "list(target)")
wrong.says("You left out EOS at the end of the targets, so a model would never learn to stop.")
wrong("col_eos_behind_the_pads", "[*target, eos_idx]", "list(target)")
wrong.edit("fill_up(targets)", "torch.nn.functional.pad(fill_up(targets), (0, 1), value=eos_idx)")
wrong.says("You put EOS after the padding. It comes right after the last word, before the padding.")
wrong("col_eos_in_place_of_pad", "    return fill_up(sources), fill_up(targets)")
wrong.to("""    target = fill_up(targets)
    return fill_up(sources), torch.where(target == pad_idx, eos_idx, target)""")
wrong.says("You pad the targets with EOS. Write EOS once, then PAD.")
wrong("col_eos_in_front", "[*target, eos_idx]", "[eos_idx, *target]")
wrong.says("You put EOS at the start of the target. It belongs after the last word.")
wrong("col_bos_in_front", "[*target, eos_idx]", "[BOS, *target, eos_idx]")
wrong.says("You put BOS at the start of the target. `shift_right` does that for the input of the decoder.")

wrong.about("test_source")
wrong("col_eos_on_the_source", "list(source) for", "[*source, eos_idx] for")
wrong.says("You also put EOS after the sources. Only the targets end with it.")
wrong("col_pads_on_the_left")
wrong.edit("row + [pad_idx] * (longest - len(row))", "[pad_idx] * (longest - len(row)) + row")
wrong.says("You pad on the left. Pad on the right.")
wrong("col_one_length_for_both", "for row in rows)", "for row in sources + targets)")
wrong.says("You pad sources and targets to a common length. Pad each to its own longest row.")
wrong("col_cut_to_the_shortest", "max(len(row)", "min(len(row)")
wrong.edit("row + [pad_idx]", "row[:longest] + [pad_idx]")
wrong.says("You cut all rows to the shortest one. Pad them to the longest.")
wrong("col_batch_second", "fill_up(sources), fill_up(targets)", "fill_up(sources).T, fill_up(targets).T")
wrong.says("Your tensors are (length, batch). The batch comes first.")

wrong.about("test_other_symbols")
wrong("col_pad_0_fixed", "[pad_idx] *", "[0] *")
wrong.says("You always pad with 0. Use the argument `pad_idx`.")
wrong("col_eos_2_fixed", "[*target, eos_idx]", "[*target, 2]")
wrong.says("You always use 2 for EOS. Use the argument `eos_idx`.")

wrong.about("test_dtype")
wrong("col_int32", "dtype=torch.long", "dtype=torch.int32")
wrong.says("Your tensors are int32. Use torch.long.")
wrong("col_no_dtype", ", dtype=torch.long", "")
wrong.says("Without `dtype=torch.long`, torch creates a float tensor if it has no entries.")

wrong.about("test_pairs_unchanged")
wrong("col_appends_to_the_pairs", "targets = [[*target, eos_idx] for _, target in pairs]")
wrong.to(
    "targets = [target for _, target in pairs]\n    for target in targets:\n        target.append(eos_idx)",
)
wrong.says("You append EOS to the lists that were passed in. Create new lists: `[*target, eos_idx]`.")
