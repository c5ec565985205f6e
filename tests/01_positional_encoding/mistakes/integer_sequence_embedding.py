"""Wrong answers to exercise 4, `integer_sequence_embedding`."""

from gradekit.checks import Mistake

MISTAKES = [
    Mistake(
        "no_position",
        cell="integer_sequence_embedding",
        edits=[("return tokens + positions", "return tokens")],
        about=["test_sum_of_token_and_position", "test_both_tables_are_learned"],
        sentence="You don't add the position: your output is only the token's vector.",
    ),
    Mistake(
        "position_of_the_id",
        cell="integer_sequence_embedding",
        edits=[("self.position(torch.arange(length, device=ids.device))", "self.position(ids)")],
        about=["test_sum_of_token_and_position"],
        sentence="You look up the ids in the position table. Look up the positions 0, 1, …, length - 1.",
    ),
    Mistake(
        "position_in_the_batch",
        cell="integer_sequence_embedding",
        edits=[("torch.arange(length, device=ids.device)", "torch.arange(ids.size(0)).unsqueeze(1)")],
        about=["test_a_vector_depends_on_id_and_place_only"],
        sentence="You number the sequences of the batch (axis 0). Positions count along axis 1.",
    ),
    Mistake(
        "position_from_1",
        cell="integer_sequence_embedding",
        edits=[("torch.arange(length,", "torch.arange(1, length + 1,")],
        about=["test_sum_of_token_and_position"],
        sentence="Your positions count from 1. The first position is 0.",
    ),
    Mistake(
        "positions_end_aligned",
        cell="integer_sequence_embedding",
        edits=[("torch.arange(length,", "torch.arange(seq_length - length, seq_length,")],
        about=["test_a_vector_depends_on_id_and_place_only"],
        sentence="You use the last rows of the position table. "
        "A sequence starts at position 0, so use the first ones.",
    ),
    Mistake(
        "product",
        cell="integer_sequence_embedding",
        edits=[("return tokens + positions", "return tokens * positions")],
        about=["test_sum_of_token_and_position"],
        sentence="You multiply the token's vector by the position's vector. Add them.",
    ),
    Mistake(
        "tokens_scaled",
        cell="integer_sequence_embedding",
        edits=[
            ("return tokens + positions", "return tokens * math.sqrt(self.token.embedding_dim) + positions")
        ],
        about=["test_sum_of_token_and_position"],
        sentence="You multiply the token's vector by the square root of the width. "
        "Here the output is a plain sum.",
    ),
    Mistake(
        "concatenated",
        cell="integer_sequence_embedding",
        edits=[
            ("return tokens + positions", "return torch.cat([tokens, positions.expand_as(tokens)], dim=-1)")
        ],
        about=["test_sum_of_token_and_position"],
        sentence="You concatenate the two vectors. Add them.",
    ),
    Mistake(
        "one_table_for_both",
        cell="integer_sequence_embedding",
        edits=[("self.position(torch.arange(", "self.token(torch.arange(")],
        about=["test_both_tables_are_learned"],
        sentence="You look up the positions in the token table. They need their own table.",
    ),
    Mistake(
        "one_row_per_id",
        cell="integer_sequence_embedding",
        edits=[("nn.Embedding(seq_length, embed_dim)", "nn.Embedding(vocab_size, embed_dim)")],
        about=["test_both_tables_are_learned"],
        sentence="Your position table has vocab_size rows. It needs seq_length rows.",
    ),
    Mistake(
        "positions_not_learned",
        cell="integer_sequence_embedding",
        edits=[
            (
                "self.position = nn.Embedding(seq_length, embed_dim)",
                'self.register_buffer("position", torch.randn(seq_length, embed_dim))',
            ),
            ("self.position.num_embeddings", "self.position.size(0)"),
            ("self.position(torch.arange(length, device=ids.device))", "self.position[:length]"),
        ],
        about=["test_both_tables_are_learned"],
        sentence="Your position table is not learned, because it isn't a parameter. Use nn.Embedding.",
    ),
    Mistake(
        "positions_detached",
        cell="integer_sequence_embedding",
        edits=[("return tokens + positions", "return tokens + positions.detach()")],
        about=["test_both_tables_are_learned"],
        sentence="Your position table is detached, so no gradient reaches it and it never learns.",
    ),
    Mistake(
        "positions_frozen",
        cell="integer_sequence_embedding",
        edits=[
            (
                "self.position = nn.Embedding(seq_length, embed_dim)",
                "self.position = nn.Embedding(seq_length, embed_dim).requires_grad_(False)",
            )
        ],
        about=["test_both_tables_are_learned"],
        sentence="Your position table is frozen (requires_grad is False), so it never learns.",
    ),
    Mistake(
        "first_position_as_padding",
        cell="integer_sequence_embedding",
        edits=[("nn.Embedding(seq_length, embed_dim)", "nn.Embedding(seq_length, embed_dim, padding_idx=0)")],
        about=["test_both_tables_are_learned"],
        sentence="Your position table has a padding_idx, so the code of position 0 stays zero. "
        "Every position has to learn its vector.",
    ),
    Mistake(
        "padding_of_another_id",
        cell="integer_sequence_embedding",
        edits=[
            ("nn.Embedding(vocab_size, embed_dim)", "nn.Embedding(vocab_size, embed_dim, padding_idx=-1)")
        ],
        about=["test_both_tables_are_learned"],
        sentence="The padding_idx of your token table is the id of an ordinary token, so its vector never learns.",
    ),
    Mistake(
        "always_float32",
        cell="integer_sequence_embedding",
        edits=[("return tokens + positions", "return (tokens + positions).float()")],
        about=["test_follows_its_dtype"],
        sentence="Your output is always float32. It should have the dtype of the module.",
    ),
    Mistake(
        "ids_from_1",
        cell="integer_sequence_embedding",
        edits=[("    tokens = self.token(ids)", "    ids -= 1\n        tokens = self.token(ids)")],
        about=["test_ids_are_not_changed"],
        sentence="You subtract 1 from the ids, and `-=` modifies the caller's tensor. "
        "Look up the ids as they are.",
    ),
    Mistake(
        "long_sequence_unnoticed",
        cell="integer_sequence_embedding",
        edits=[("if length > seq_length:", "if False:")],
        about=["test_too_long_raises"],
        sentence="A sequence longer than seq_length has to raise a ValueError.",
    ),
    Mistake(
        "long_sequence_unnamed",
        cell="integer_sequence_embedding",
        edits=[(", but seq_length is {seq_length}", "")],
        about=["test_too_long_raises"],
        sentence="The error message for a sequence that is too long doesn't name both lengths.",
    ),
    Mistake(
        "full_sequence_refused",
        cell="integer_sequence_embedding",
        edits=[("if length > seq_length:", "if length >= seq_length:")],
        about=["test_too_long_raises"],
        sentence="A sequence of exactly seq_length positions raises an error, but it fits into the table.",
    ),
]
