"""Wrong answers to exercise 9, `check_split`."""

from gradekit.checks import mistakes_in, with_costs

ROWS = '"34 43 5 34 5 687 5 43"'
SAME_ROWS = "assert sorted([*training, *test]) == sorted(rows)"
ON_ONE_SIDE = "assert held_out.isdisjoint(map(tuple, training))"
AS_MANY = "assert len(held_out) == count"
AT_RANDOM = "assert count == 0 or drawn == different"
COPIED = "given = [list(row) for row in rows]"
CALL = "training, test = function(given, count)"
mistake = mistakes_in("check_split")

MISTAKES = [
    mistake(
        "check_of_lengths",
        [
            (SAME_ROWS, "assert len(training) + len(test) == len(rows)"),
            (ON_ONE_SIDE, "assert isinstance(training, list)"),
            (AS_MANY, "assert len(test) >= count"),
            (AT_RANDOM, "assert isinstance(test, list)"),
        ],
        ["test_apart"],
        "Your check looks only at lengths and types. Look for the sequences themselves on both sides.",
    ),
    mistake(
        "check_without_copies_of_rows",
        [(ROWS, '"34 43 5 687"')],
        ["test_apart", "test_complete"],
        "Every sequence occurs only once in your rows. A split goes wrong where one occurs several times.",
    ),
    mistake(
        "check_of_both_sides_left_out",
        [(ON_ONE_SIDE, "assert isinstance(training, list)")],
        ["test_apart"],
        "Your check doesn't test whether a sequence is in both lists.",
    ),
    mistake(
        "check_of_sets",
        [(SAME_ROWS, "assert set(map(tuple, [*training, *test])) == different")],
        ["test_complete"],
        "Your check compares sets of sequences, so it doesn't notice that copies are missing.",
    ),
    mistake(
        "check_of_rows_left_out",
        [
            (SAME_ROWS, "assert len(training) + len(test) == len(rows)"),
            (AT_RANDOM, "assert len(drawn) >= count"),
        ],
        ["test_unaltered"],
        "Your check counts the rows, but doesn't compare them with those that went in.",
    ),
    mistake(
        "check_of_the_count_left_out",
        [(AS_MANY, "assert isinstance(test, list)")],
        ["test_counted"],
        "Your check doesn't count how many different sequences were held out.",
    ),
    mistake(
        "check_never_with_zero",
        [("range(len(different) + 1)", "range(1, len(different) + 1)")],
        ["test_counted"],
        "Your check never calls the function with a count of 0.",
    ),
    mistake(
        "check_without_sequences_that_look_alike",
        [(ROWS, ROWS.replace("43", "49"))],
        ["test_counted"],
        "No two sequences of your rows have the same ids in a different order, such as `3 4` and `4 3`.",
    ),
    mistake(
        "check_of_chance_left_out",
        [(AT_RANDOM, "assert isinstance(test, list)")],
        ["test_random"],
        "Your check doesn't look at which sequences are held out over many calls.",
    ),
    mistake(
        "check_of_two_results",
        [(AT_RANDOM, "assert count != 1 or len(drawn) > 1")],
        ["test_random"],
        "Your check tests whether the result varies, but not whether every sequence is held out in some call.",
    ),
    mistake(
        "check_of_all_counts_together",
        [
            ("    for count in range", "    drawn = set()\n    for count in range"),
            ("        drawn = set()\n        for _", "        for _"),
            ("        " + AT_RANDOM, "    assert drawn == different"),
        ],
        ["test_random"],
        "Your check collects what is held out over all counts. With the largest count everything is held out, so it always looks random.",
    ),
    mistake(
        "check_without_a_copy",
        [(COPIED, "given = rows")],
        ["test_no_trace"],
        "Your check passes the same list that it compares with afterwards, so it can't notice that the list was changed.",
    ),
    mistake(
        "check_expects_the_order_of_rows",
        [(SAME_ROWS, "assert [*test, *training] == rows")],
        ["test_complete"],
        "Your check expects the rows in a certain order, so it rejects correct functions. Sort the rows before you compare them.",
    ),
    mistake(
        "check_expects_one_result",
        [(AT_RANDOM, "assert count != 1 or drawn == {(3, 4)}")],
        ["test_random"],
        "Your check expects certain sequences, so it rejects correct functions, which draw them at random.",
    ),
    mistake(
        "check_sets_a_seed",
        [(CALL, "torch.manual_seed(0)\n            " + CALL)],
        ["test_random"],
        "Your check sets a seed before each call, so correct functions return the same every time, and it rejects them.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It accepts nearly every function.": [
            "check_of_lengths",
        ],
        "A test that rejects correct functions is of no use, whatever else it rejects.": [
            "check_expects_the_order_of_rows",
            "check_expects_one_result",
            "check_sets_a_seed",
        ],
    },
)
