"""Wrong answers to exercise 9, `check_reader`."""

from gradekit.checks import mistakes_in, with_costs

TEXT = "x = torch.arange(96.0).sin().view(2, 12, 4)"
CUTS = "for lengths in ([1] * 12, [5, 4, 3]):"
STARTED = "read, read_another = new_reader(), new_reader()"
GAP = "gap = (together - whole).abs().max()"
SAME = "assert gap < 3e-3"
mistake = mistakes_in("check_reader")

MISTAKES = [
    mistake(
        "check_of_shapes",
        [(SAME, "assert gap < 1e3")],
        ["test_forgetting"],
        "Your check looks only at shapes. Compare the outputs of the pieces with those of the whole text.",
    ),
    mistake(
        "check_of_one_token_at_a_time",
        [(CUTS, "for lengths in ([1] * 12,):")],
        ["test_pieces_of_several_tokens"],
        "Your check reads one token at a time. Cut longer pieces as well, and not only at the start.",
    ),
    mistake(
        "check_of_a_prompt_and_single_tokens",
        [(CUTS, "for lengths in ([5] + [1] * 7,):")],
        ["test_pieces_of_several_tokens"],
        "In your check only the first piece has several tokens. Let a later one be long, too.",
    ),
    mistake(
        "check_of_two_pieces",
        [(CUTS, "for lengths in ([6, 6],):")],
        ["test_short_memory"],
        "Your check cuts the text only once. What is lost after a few pieces doesn't show.",
    ),
    mistake(
        "check_of_a_short_text",
        [(TEXT, "x = torch.arange(48.0).sin().view(2, 6, 4)"), ("[1] * 12, [5, 4, 3]", "[1] * 6, [3, 2, 1]")],
        ["test_short_memory"],
        "Your text is so short that a memory for a few tokens is enough.",
    ),
    mistake(
        "check_of_the_last_output",
        [(GAP, "gap = (together - whole)[:, -1].abs().max()")],
        ["test_pieces_of_several_tokens"],
        "Your check compares only the outputs of the last token.",
    ),
    mistake(
        "check_of_one_text_at_a_time",
        [(STARTED, "read = new_reader()"), ("            read_another(-piece)\n", "")],
        ["test_mixing"],
        "Your check never reads two texts in turn.",
    ),
    mistake(
        "check_of_one_sequence",
        [(TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4)")],
        ["test_mixing"],
        "There is only one sequence in your batch.",
    ),
    mistake(
        "check_with_equal_sequences",
        [(TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4).expand(2, 12, 4)")],
        ["test_mixing"],
        "The sequences of your batch are equal, so it doesn't show if they get mixed up.",
    ),
    mistake(
        "check_with_a_large_tolerance",
        [(SAME, "assert gap < 1")],
        ["test_wear"],
        "Your check ignores errors of up to 1.",
    ),
    mistake(
        "check_with_whole_numbers",
        [(TEXT, "x = (torch.arange(96.0) % 7 - 3).view(2, 12, 4)")],
        ["test_wear"],
        "Your check doesn't notice rounded numbers: either all numbers of your text are whole, or it allows too large a difference.",
    ),
    mistake(
        "check_for_equal_outputs",
        [(SAME, "assert gap == 0")],
        ["test_forgetting"],
        "Your check asks for exact equality, which rejects correct readers that round differently. Allow a small difference.",
    ),
    mistake(
        "check_with_one_reader",
        [
            (STARTED, "read_another = new_reader()"),
            ("    whole = new_reader()(x)", "    read = new_reader()\n    whole = read(x)"),
        ],
        ["test_forgetting"],
        "Your check reads the text a second time with the same reader, which takes it for a continuation. Start a new one.",
    ),
    mistake(
        "check_expects_sums",
        [("whole = new_reader()(x)", "whole = x.cumsum(dim=1)")],
        ["test_forgetting"],
        "Your check expects certain outputs. Readers may compute anything: compare them with themselves.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It accepts nearly every reader.": [
            "check_of_shapes",
        ],
        "A test that rejects correct readers is of no use, whatever else it rejects.": [
            "check_for_equal_outputs",
            "check_with_one_reader",
            "check_expects_sums",
        ],
    },
)
