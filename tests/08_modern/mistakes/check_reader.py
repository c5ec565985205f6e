"""Wrong answers to exercise 10, `check_reader`."""

from gradekit.checks import Mistakes

TEXT = "x = torch.arange(96.0).sin().view(2, 12, 4)"
CUTS = "for lengths in ([1] * 12, [5, 4, 3]):"
STARTED = "read, read_another = new_reader(), new_reader()"
GAP = "gap = (together - whole).abs().max()"
SAME = "assert gap < 3e-3"
REJECTS_CORRECT = "A test that rejects correct readers is of no use, whatever else it rejects."

wrong = Mistakes()

wrong.about("test_forgetting")
wrong("check_of_shapes", SAME, "assert gap < 1e3")
wrong.says(
    "Your check accepts readers whose numbers are all wrong. Compare the outputs of the pieces with those of the whole text, and let the AssertionError through."
)
wrong.costs("It accepts nearly every reader.")
wrong("check_for_equal_outputs", SAME, "assert gap == 0")
wrong.says(
    "Your check asks for exact or almost exact equality, which rejects correct readers that round differently."
)
wrong.says("Allow a small difference.")
wrong.costs(REJECTS_CORRECT)
wrong("check_with_one_reader", STARTED, "read_another = new_reader()")
wrong.edit("    whole = new_reader()(x)", "    read = new_reader()\n    whole = read(x)")
wrong.says("Your check reads the text a second time with the same reader, which takes it for a continuation.")
wrong.says("Start a new one.")
wrong.costs(REJECTS_CORRECT)
wrong("check_expects_sums", "whole = new_reader()(x)", "whole = x.cumsum(dim=1)")
wrong.says("Your check expects certain outputs. Readers may compute anything: compare them with themselves.")
wrong.costs(REJECTS_CORRECT)

wrong.about("test_pieces_of_several_tokens")
wrong("check_of_one_token_at_a_time", CUTS, "for lengths in ([1] * 12,):")
wrong.says("Your check reads one token at a time. Cut longer pieces as well, and not only at the start.")
wrong("check_of_a_prompt_and_single_tokens", CUTS, "for lengths in ([5] + [1] * 7,):")
wrong.says("In your check only the first piece has several tokens. Let a later one be long, too.")
wrong("check_of_the_last_output", GAP, "gap = (together - whole)[:, -1].abs().max()")
wrong.says("Your check compares only the outputs of the last token.")

wrong.about("test_short_memory")
wrong("check_of_two_pieces", CUTS, "for lengths in ([6, 6],):")
wrong.says("Your check cuts the text only once. What is lost after a few pieces doesn't show.")
wrong("check_of_a_short_text", TEXT, "x = torch.arange(48.0).sin().view(2, 6, 4)")
wrong.edit("[1] * 12, [5, 4, 3]", "[1] * 6, [3, 2, 1]")
wrong.says("Your text is so short that a memory for a few tokens is enough.")

wrong.about("test_mixing")
wrong("check_of_one_text_at_a_time", STARTED, "read = new_reader()")
wrong.edit("            read_another(-piece)\n", "")
wrong.says("Your check never reads two texts in turn.")
wrong("check_of_one_sequence", TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4)")
wrong.says("There is only one sequence in your batch.")
wrong("check_with_equal_sequences", TEXT, "x = torch.arange(48.0).sin().view(1, 12, 4).expand(2, 12, 4)")
wrong.says("The sequences of your batch are equal, so it doesn't show if they get mixed up.")

wrong.about("test_decay")
wrong("check_with_a_large_tolerance", SAME, "assert gap < 1")
wrong.says("Your check ignores errors of up to 1.")
wrong("check_with_whole_numbers", TEXT, "x = (torch.arange(96.0) % 7 - 3).view(2, 12, 4)")
wrong.says(
    "Your check doesn't notice rounded numbers: either all numbers of your text are whole, or it allows too "
    "large a difference."
)

wrong.unnamed("A test that rejects every correct function can do so for many reasons.", "check_expects_sums")
