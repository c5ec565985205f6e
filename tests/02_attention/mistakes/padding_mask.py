"""Wrong answers to exercise 3a, `padding_mask`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "padding_inverted",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids == pad_idx")],
        about=["test_hides_the_pads"],
        sentence="Your mask is True at the padding. In this course True means 'may attend', so padding must be False.",
    ),
    Mistake(
        "padding_on_the_query_axis",
        cell="padding_mask",
        edits=[("unsqueeze(1)", "unsqueeze(2)")],
        about=["test_shape"],
        sentence="You put the tokens on the query axis. The mask hides keys, which are the last axis.",
    ),
    Mistake(
        "padding_without_a_query_axis",
        cell="padding_mask",
        edits=[(".unsqueeze(1)", "")],
        about=["test_shape"],
        sentence="Your mask has shape (batch, length). Add an axis of size 1 for the queries: (batch, 1, length).",
    ),
    Mistake(
        "padding_with_a_head_axis",
        cell="padding_mask",
        edits=[("unsqueeze(1)", "unsqueeze(1).unsqueeze(1)")],
        about=["test_shape"],
        sentence="Your mask has one axis too many: (batch, 1, 1, length). "
        "The exercise asks for (batch, 1, length).",
    ),
    Mistake(
        "pad_id_0_always",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids != 0")],
        about=["test_other_pad_id"],
        sentence="You always compare with 0. Compare with the argument pad_idx.",
    ),
    Mistake(
        "pad_id_is_the_smallest",
        cell="padding_mask",
        edits=[("ids != pad_idx", "ids > pad_idx")],
        about=["test_other_pad_id"],
        sentence="You also hide ids smaller than pad_idx. Hide only pad_idx itself.",
    ),
    Mistake(
        "pads_only_at_the_end",
        cell="padding_mask",
        edits=[
            (
                "is_token = ids != pad_idx",
                "lengths = (ids != pad_idx).sum(dim=1, keepdim=True)\n"
                "    is_token = torch.arange(ids.shape[1]) < lengths",
            )
        ],
        about=["test_hides_the_pads"],
        sentence="You count the tokens and assume that they all come before the padding. "
        "Padding can be anywhere, even at the start.",
    ),
    Mistake(
        "all_after_the_first_pad",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "is_token = (ids != pad_idx).int().cumprod(dim=1).bool()")],
        about=["test_hides_the_pads"],
        sentence="You hide everything after the first padding token. Hide only the padding itself.",
    ),
    Mistake(
        "padding_of_all_sequences_joined",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "is_token = (ids != pad_idx).any(dim=0, keepdim=True)")],
        about=["test_hides_the_pads", "test_shape"],
        sentence="You made one mask for the whole batch, so the padding of shorter sequences can be visible.",
    ),
    Mistake(
        "padding_hides_rows_too",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1) & is_token.unsqueeze(2)")],
        about=["test_shape"],
        sentence="You also hide the rows of the padding, which makes the mask (batch, length, length). "
        "Hide only the keys.",
    ),
    Mistake(
        "padding_as_floats",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).float()")],
        about=["test_is_boolean"],
        sentence="Your mask contains the numbers 0.0 and 1.0. Return booleans.",
    ),
    Mistake(
        "padding_to_be_added",
        cell="padding_mask",
        edits=[
            (
                "return is_token.unsqueeze(1)",
                "return torch.zeros(ids.shape).masked_fill(~is_token, -torch.inf).unsqueeze(1)",
            )
        ],
        about=["test_hides_the_pads", "test_is_boolean"],
        sentence="Your mask contains 0 and -inf, to be added to the scores. Return booleans: "
        "True = may attend.",
    ),
    Mistake(
        "ids_changed",
        cell="padding_mask",
        edits=[("is_token = ids != pad_idx", "ids -= pad_idx\n    is_token = ids != 0")],
        about=["test_ids_unchanged"],
        sentence="You modified ids in place. Leave the input unchanged.",
    ),
    Mistake(
        "padding_as_integers",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).long()")],
        about=["test_is_boolean"],
        sentence="Your mask contains the integers 0 and 1. Return booleans.",
    ),
    Mistake(
        "padding_for_every_query",
        cost="Every check compares masks, and this one has a different shape.",
        cell="padding_mask",
        edits=[("return is_token.unsqueeze(1)", "return is_token.unsqueeze(1).expand(-1, ids.shape[1], -1)")],
        about=["test_shape"],
        sentence="You repeat the mask for every query. One row is enough: the axis of the queries has size 1 and broadcasts.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The exercise is about the mask: without it, only plain attention is right.": [
            "padding_of_all_sequences_joined",
            "padding_hides_rows_too",
        ],
    },
)
