"""Wrong answers to exercise 3a, `padding_mask`."""

from gradekit.checks import Mistakes

ABOUT_THE_MASK = "The exercise is about the mask: without it, only plain attention is right."

wrong = Mistakes()

wrong.about("test_hides_the_pads")
wrong("padding_inverted", "ids != pad_idx", "ids == pad_idx")
wrong.says("Your mask is True at the padding.")
wrong.says("In this course True means 'may attend', so padding must be False.")
wrong("pads_only_at_the_end", "is_token = ids != pad_idx")
wrong.to("""lengths = (ids != pad_idx).sum(dim=1, keepdim=True)
    is_token = torch.arange(ids.shape[1]) < lengths""")
wrong.says("You count the tokens and assume that they all come before the padding.")
wrong.says("Padding can be anywhere, even at the start.")
wrong("all_after_the_first_pad")
wrong.edit("is_token = ids != pad_idx", "is_token = (ids != pad_idx).int().cumprod(dim=1).bool()")
wrong.says("You hide everything after the first padding token. Hide only the padding itself.")

wrong.about("test_shape")
wrong("padding_on_the_query_axis", "unsqueeze(1)", "unsqueeze(2)")
wrong.says(
    "You put the tokens on the query axis. The mask hides keys, which are the last axis.",
    uses=("*unsqueeze*",),
)
wrong("padding_without_a_query_axis", ".unsqueeze(1)", "")
wrong.says(
    "Your mask has shape (batch, length). Add an axis of size 1 for the queries: (batch, 1, length).",
    lacks=("*unsqueeze*",),
)
wrong("padding_with_a_head_axis", "unsqueeze(1)", "unsqueeze(1).unsqueeze(1)")
wrong.says("Your mask has one axis too many: (batch, 1, 1, length).")
wrong.says("The exercise asks for (batch, 1, length).", uses=("*unsqueeze*",))
wrong("padding_hides_rows_too")
wrong.edit("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1) & is_token.unsqueeze(2)")
wrong.says("You also hide the rows of the padding, which makes the mask (batch, length, length).")
wrong.says("Hide only the keys.")
wrong.costs(ABOUT_THE_MASK)
wrong("padding_for_every_query")
wrong.edit("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).expand(-1, ids.shape[1], -1)")
wrong.says("You repeat the mask for every query.")
wrong.says("One row is enough: the axis of the queries has size 1 and broadcasts.")
wrong.costs("Every check compares masks, and this one has a different shape.")

wrong.about("test_other_pad_id")
wrong("pad_id_0_always", "ids != pad_idx", "ids != 0")
wrong.says("You always compare with 0. Compare with the argument pad_idx.")
wrong("pad_id_is_the_smallest", "ids != pad_idx", "ids > pad_idx")
wrong.says("You also hide ids smaller than pad_idx. Hide only pad_idx itself.")

wrong.about("test_hides_the_pads", "test_shape")
wrong("padding_of_all_sequences_joined")
wrong.edit("is_token = ids != pad_idx", "is_token = (ids != pad_idx).any(dim=0, keepdim=True)")
wrong.says(
    "You made one mask for the whole batch, so the padding of shorter sequences can be visible.",
    uses=("any",),
)
wrong.costs(ABOUT_THE_MASK)

wrong.about("test_is_boolean")
wrong("padding_as_floats", "return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).float()")
wrong.says("Your mask contains the numbers 0.0 and 1.0. Return booleans.")
wrong("padding_as_integers", "return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).long()")
wrong.says("Your mask contains the integers 0 and 1. Return booleans.")

wrong.about("test_hides_the_pads", "test_is_boolean")
wrong("padding_to_be_added", "return is_token.unsqueeze(1)")
wrong.to("return torch.zeros(ids.shape).masked_fill(~is_token, -torch.inf).unsqueeze(1)")
wrong.says("Your mask contains 0 and -inf, to be added to the scores. Return booleans: True = may attend.")

wrong.about("test_ids_unchanged")
wrong("ids_changed", "is_token = ids != pad_idx", "ids -= pad_idx\n    is_token = ids != 0")
wrong.says("You modified ids in place. Leave the input unchanged.")
