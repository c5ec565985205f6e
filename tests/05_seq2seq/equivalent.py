"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
ROWS = "rows = [[int(i) for i in row] for row in text.split()]"
CALLS = "for _ in range(100):"
SAME_ROWS = "assert sorted([*training, *test]) == sorted(rows), ("

same = Equivalents("train")

same.because("The schedule sets the learning rate before the first step.")
same.edit(ADAM, "lr=lr, ", "")

same.because("The exercise recommends it, and says that it isn't required.")
same.edit(ADAM, ", betas=(0.9, 0.98)", "")
same.edit(ADAM, "0.9, 0.98", "0.98, 0.9")
same.edit(ADAM, "(0.9,", "(0.0,")
same.edit(ADAM, "0.98", "0.0")
same(CLIP, "pass")
same.edit(CLIP, "1.0", "2.0")

same.because("Training leaves a model in training mode, and the exercise doesn't ask for another.")
same("", "`train` leaves the model in training mode")

same = Equivalents("greedy_decode")

same.because("There are two axes, so -1 is 1.")
same.edit("token = logits[:, -1].argmax(dim=-1)", "=-1", "=1")

same.because("The tensor was made in the line before, so nobody else sees the change.")
same.edit("token = token.masked_fill(ended, PAD)", "token.masked_fill", "token.masked_fill_")

same = Equivalents("exact_match")

same.because("`max` takes its arguments in any order.")
same("width = max(predicted.shape[1], expected.shape[1])")
same.to("width = max(expected.shape[1], predicted.shape[1])")

same.because("PAD is 0, and so is the default.")
same.edit("predicted = F.pad(predicted, (0, width - predicted.shape[1]), value=PAD)", ", value=PAD", "")
same.edit("expected = F.pad(expected, (0, width - expected.shape[1]), value=PAD)", ", value=PAD", "")

same = Equivalents("vocabulary")

same.because("The first word is PAD, which is never written.")
same("words = {i: word for word, i in vocabulary.items()}")
same.to("words = {i: word for word, i in list(vocabulary.items())[1:]}")

same.because("`in` takes a tuple in any order.")
same.edit("if i not in (PAD, BOS):", "PAD, BOS", "BOS, PAD")

same = Equivalents("sorting_transformer")

same.because("The model has no dropout, so its mode changes nothing.")
same("", "self.train()")
same("", "self.eval()")

same = Equivalents("check_split")

same.because("It is the same in every call.")
same('text = "34 43 5 34 5 687 5 43"')
same.to('text = vars(check_split).setdefault("_text", "34 43 5 34 5 687 5 43")')
same(ROWS, 'rows = vars(check_split).setdefault("_rows", [[int(i) for i in row] for row in text.split()])')
same("different = set(map(tuple, rows))")
same.to('different = vars(check_split).setdefault("_different", set(map(tuple, rows)))')

same.because("The rows are a free choice. These, too, have copies, and sequences that look alike.")
same.edit(ROWS, "text.split()", "list(text.split())[1:]")
same.edit(ROWS, "text.split()", "list(text.split())[:-1]")

same.because("Ids may be anything that can be compared and sorted.")
same.edit(ROWS, "int(i)", "i")

same.because("One call more or less than a hundred makes no difference.")
same.edit(CALLS, "range(100)", "list(range(100))[1:]")
same.edit(CALLS, "range(100)", "list(range(100))[:-1]")
same.edit(CALLS, "100", "101")
same.edit(CALLS, "100", "99")

same.because("If a row itself is changed, it differs from the rows that are returned.")
same.edit("given = [list(row) for row in rows]", "list(row)", "row")

same.because("What is wrong isn't always smaller than the right list, and a hundred calls are made.")
same.edit('assert given == rows, f"The function changes its rows to {given}."', " ==", " <=")
same.edit(SAME_ROWS, " ==", " <=")

same.because("They are sorted anyway.")
same.edit(SAME_ROWS, "training, *test", "test, *training")

same.because("`count` is never negative.")
same('assert count == 0 or drawn == different, f"In 100 calls, it holds out nothing but {drawn}."')
same.to('assert count <= 0 or drawn == different, f"In 100 calls, it holds out nothing but {drawn}."')

same.because("Sequences that don't exist were found by then.")
same('assert count == 0 or drawn == different, f"In 100 calls, it holds out nothing but {drawn}."')
same.to('assert count == 0 or drawn >= different, f"In 100 calls, it holds out nothing but {drawn}."')

same.because(
    "A call of the student's test leaves nothing behind for the next one, and a function that changes its rows is found at once."
)
same("given = [list(row) for row in rows]")
same.to('given = vars(check_split).setdefault("_given", [list(row) for row in rows])')

same.because(
    "A call leaves nothing behind, and what isn't random shows with a count of 1 already, before others are added."
)
same("drawn = set()", 'drawn = vars(check_split).setdefault("_drawn", set())')

same = Equivalents("sequence_loss")

same.because("The text asks for the dtype, not for all of its digits.")
same("", "`sequence_loss` loses the digits of double precision")

same = Equivalents("adamw")

same.because("The tensor was just made, so nobody else sees the change.")
same.edit(
    "return weight - lr * (direction + decay * weight), mean, square",
    "direction + decay * weight",
    "direction.add_(decay * weight)",
)

same.because("In the last step of the warm-up the cosine is at its top, which is lr, too.")
same.edit("if step <= warmup:", "<=", "<")
