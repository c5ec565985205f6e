"""Wrong answers to exercise 9, `check_split`."""

from gradekit.checks import Mistakes

ROWS = '"34 43 5 34 5 687 5 43"'
SAME_ROWS = "assert sorted([*training, *test]) == sorted(rows)"
ON_ONE_SIDE = "assert held_out.isdisjoint(map(tuple, training))"
AS_MANY = "assert len(held_out) == count"
AT_RANDOM = "assert count == 0 or drawn == different"
COPIED = "given = [list(row) for row in rows]"
CALL = "training, test = function(given, count)"
REJECTS_CORRECT = "A test that rejects correct functions is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_apart")
wrong("check_of_lengths", SAME_ROWS, "assert len(training) + len(test) == len(rows)")
wrong.edit(ON_ONE_SIDE, "assert isinstance(training, list)")
wrong.edit(AS_MANY, "assert len(test) >= count")
wrong.edit(AT_RANDOM, "assert isinstance(test, list)")
wrong.says("Your check looks only at lengths and types. Look for the sequences themselves on both sides.")
wrong.costs("It accepts nearly every function.")
wrong("check_of_both_sides_left_out", ON_ONE_SIDE, "assert isinstance(training, list)")
wrong.says("Your check doesn't test whether a sequence is in both lists.")

wrong.about("test_apart", "test_complete")
wrong("check_without_copies_of_rows", ROWS, '"34 43 5 687"')
wrong.says("Every sequence occurs only once in your rows. A split goes wrong where one occurs several times.")

wrong.about("test_complete")
wrong("check_of_sets", SAME_ROWS, "assert set(map(tuple, [*training, *test])) == different")
wrong.says("Your check compares sets of sequences, so it doesn't notice that copies are missing.")
wrong("check_expects_the_order_of_rows", SAME_ROWS, "assert [*test, *training] == rows")
wrong.says("Your check expects the rows in a certain order, so it rejects correct functions.")
wrong.says("Sort the rows before you compare them.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_unaltered")
wrong("check_of_rows_left_out", SAME_ROWS, "assert len(training) + len(test) == len(rows)")
wrong.edit(AT_RANDOM, "assert len(drawn) >= count")
wrong.says("Your check counts the rows, but doesn't compare them with those that went in.")

wrong("check_of_tuples", SAME_ROWS)
wrong.to("assert sorted(map(tuple, [*training, *test])) == sorted(map(tuple, rows))")
wrong.says(
    "Your check doesn't notice tuples in place of lists. Hand in lists, and compare what comes back as it is."
)

wrong.about("test_counted")
wrong("check_catches_exceptions", CALL)
wrong.to("try:\n                " + CALL + "\n            except Exception:\n                continue")
wrong.edit(AT_RANDOM, "assert not drawn or count == 0 or drawn == different")
wrong.says(
    "Your check catches exceptions of the function and goes on. Let them through: they count as a rejection."
)
wrong("check_of_the_count_left_out", AS_MANY, "assert isinstance(test, list)")
wrong.says("Your check doesn't count how many different sequences were held out.")
wrong("check_never_with_zero", "range(len(different) + 1)", "range(1, len(different) + 1)")
wrong.says("Your check never calls the function with a count of 0.")
wrong("check_without_sequences_that_look_alike", ROWS, ROWS.replace("43", "49"))
wrong.says("No two sequences of your rows have the same ids in a different order, such as `3 4` and `4 3`.")

wrong.about("test_random")
wrong("check_of_chance_left_out", AT_RANDOM, "assert isinstance(test, list)")
wrong.says("Your check doesn't look at which sequences are held out over many calls.")
wrong("check_of_two_results", AT_RANDOM, "assert count != 1 or len(drawn) > 1")
wrong.says("That the result varies isn't enough. Test whether every sequence is held out in some call.")
wrong("check_of_all_counts_together", "    for count in range", "    drawn = set()\n    for count in range")
wrong.edit("        drawn = set()\n        for _", "        for _")
wrong.edit("        " + AT_RANDOM, "    assert drawn == different")
wrong.says("Your check collects what is held out over all counts.")
wrong.says("With the largest count everything is held out, so it always looks random.")
wrong("check_expects_one_result", AT_RANDOM, "assert count != 1 or drawn == {(3, 4)}")
wrong.says(
    "Your check expects certain sequences, so it rejects correct functions, which draw them at random."
)
wrong.costs(REJECTS_CORRECT)
wrong("check_sets_a_seed", CALL, "torch.manual_seed(0)\n            " + CALL)
wrong.says(
    "Your check sets seeds, so correct functions return the same again and again, and it rejects them."
)
wrong.costs(REJECTS_CORRECT)

wrong.about("test_no_trace")
wrong("check_misses_another_order_of_rows", COPIED, "given = rows")
wrong.says("Your check doesn't notice that the order of `rows` changes.")
wrong.says("Compare `rows` after the call with a copy from before it, and don't sort them.")

wrong.unnamed(
    "A test that rejects every correct function can do so for many reasons.",
    "check_expects_the_order_of_rows",
    "check_expects_one_result",
)
