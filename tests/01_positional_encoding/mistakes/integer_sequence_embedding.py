"""Wrong answers to exercise 4, `integer_sequence_embedding`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_sum_of_token_and_position", "test_both_tables_are_learned")
wrong("no_position", "return tokens + positions", "return tokens")
wrong.says("You don't add the position: your output is only the token's vector.")

wrong.about("test_sum_of_token_and_position")
wrong("position_of_the_id", "self.position(torch.arange(length, device=ids.device))", "self.position(ids)")
wrong.says("You look up the ids in the position table. Look up the positions 0, 1, …, length - 1.")
wrong("position_from_1", "torch.arange(length,", "torch.arange(1, length + 1,")
wrong.says("Your positions count from 1. The first position is 0.")
wrong("product", "return tokens + positions", "return tokens * positions")
wrong.says("You multiply the token's vector by the position's vector. Add them.")
wrong("tokens_scaled")
wrong.edit("return tokens + positions", "return tokens * math.sqrt(self.token.embedding_dim) + positions")
wrong.says("You multiply the token's vector by the square root of the width. Here the output is a plain sum.")
wrong("concatenated")
wrong.edit("return tokens + positions", "return torch.cat([tokens, positions.expand_as(tokens)], dim=-1)")
wrong.says("You concatenate the two vectors. Add them.")

wrong.about("test_a_vector_depends_on_id_and_place_only")
wrong("position_in_the_batch")
wrong.edit("torch.arange(length, device=ids.device)", "torch.arange(ids.size(0)).unsqueeze(1)")
wrong.says("You number the sequences of the batch (axis 0). Positions count along axis 1.")
wrong("positions_end_aligned", "torch.arange(length,", "torch.arange(seq_length - length, seq_length,")
wrong.says("You use the last rows of the position table.")
wrong.says("A sequence starts at position 0, so use the first ones.")

wrong.about("test_both_tables_are_learned")
wrong("one_table_for_both", "self.position(torch.arange(", "self.token(torch.arange(")
wrong.says("You look up the positions in the token table. They need their own table.")
wrong("one_row_per_id", "nn.Embedding(seq_length, embed_dim)", "nn.Embedding(vocab_size, embed_dim)")
wrong.says("Your position table has vocab_size rows. It needs seq_length rows.")
wrong(
    "positions_not_learned",
    "self.position = nn.Embedding(seq_length, embed_dim)",
    'self.register_buffer("position", torch.randn(seq_length, embed_dim))',
)
wrong.edit("self.position.num_embeddings", "self.position.size(0)")
wrong.edit("self.position(torch.arange(length, device=ids.device))", "self.position[:length]")
wrong.says("Your position table is not learned, because it isn't a parameter. Use nn.Embedding.")
wrong("positions_detached", "return tokens + positions", "return tokens + positions.detach()")
wrong.says("Your position table is detached, so no gradient reaches it and it never learns.")
wrong(
    "positions_frozen",
    "self.position = nn.Embedding(seq_length, embed_dim)",
    "self.position = nn.Embedding(seq_length, embed_dim).requires_grad_(False)",
)
wrong.says("Your position table is frozen (requires_grad is False), so it never learns.")
wrong("first_position_as_padding")
wrong.edit("nn.Embedding(seq_length, embed_dim)", "nn.Embedding(seq_length, embed_dim, padding_idx=0)")
wrong.says("Your position table has a padding_idx, so the code of position 0 stays zero.")
wrong.says("Every position has to learn its vector.")
wrong("padding_of_another_id")
wrong.edit("nn.Embedding(vocab_size, embed_dim)", "nn.Embedding(vocab_size, embed_dim, padding_idx=-1)")
wrong.says("The padding_idx of your token table is the id of an ordinary token, so its vector never learns.")

wrong.about("test_follows_its_dtype")
wrong("always_float32", "return tokens + positions", "return (tokens + positions).float()")
wrong.says("Your output is always float32. It should have the dtype of the module.")

wrong.about("test_ids_are_not_changed")
wrong("ids_from_1", "    tokens = self.token(ids)", "    ids -= 1\n        tokens = self.token(ids)")
wrong.says("You subtract 1 from the ids, and `-=` modifies the caller's tensor. Look up the ids as they are.")

wrong.about("test_too_long_raises")
wrong("long_sequence_unnoticed", "if length > seq_length:", "if False:")
wrong.says("A sequence longer than seq_length has to raise a ValueError.")
wrong("long_sequence_unnamed", ", but seq_length is {seq_length}", "")
wrong.says("The error message for a sequence that is too long doesn't name both lengths.")
wrong("full_sequence_refused", "if length > seq_length:", "if length >= seq_length:")
wrong.says("A sequence of exactly seq_length positions raises an error, but it fits into the table.")
