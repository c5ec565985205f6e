"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs

ENCODER = [
    Mistake(
        "cosine_own_exponent",
        cell="positional_encoder",
        edits=[("torch.cos(angle)", "torch.cos(position / 10000 ** ((even + 1) / d_model))")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your cosines have their own exponent, (2i+1)/d. "
        "Both columns of a pair use the same angle, with exponent 2i/d.",
    ),
    Mistake(
        "exponent_doubled",
        cell="positional_encoder",
        edits=[("(even / d_model)", "(2 * even / d_model)")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your exponent is twice as large as it should be. "
        "`torch.arange(0, d_model, 2)` already returns 2i.",
    ),
    Mistake(
        "exponent_halved",
        cell="positional_encoder",
        edits=[("(even / d_model)", "(even / 2 / d_model)")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your exponent is i/d, but it should be 2i/d.",
    ),
    Mistake(
        "base_1000",
        cell="positional_encoder",
        edits=[("10000 **", "1000 **")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your table uses the base 1000 instead of 10000.",
    ),
    Mistake(
        "sine_and_cosine_swapped",
        cell="positional_encoder",
        edits=[
            ("pe[:, 0::2] = torch.sin", "pe[:, 0::2] = torch.cos"),
            ("pe[:, 1::2] = torch.cos", "pe[:, 1::2] = torch.sin"),
        ],
        about=["test_table_of_sines_and_cosines"],
        sentence="Sine and cosine are swapped: the sine belongs in the even columns (0, 2, …).",
    ),
    Mistake(
        "halves",
        cell="positional_encoder",
        edits=[("pe[:, 0::2]", "pe[:, : d_model // 2]"), ("pe[:, 1::2]", "pe[:, d_model // 2 :]")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your table has all sines first and then all cosines. They should alternate.",
    ),
    Mistake(
        "positions_from_1",
        cell="positional_encoder",
        edits=[("torch.arange(max_seq_len)", "torch.arange(1, max_seq_len + 1)")],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your positions count from 1. The first position is 0.",
    ),
    Mistake(
        "zero_past_the_middle",
        cell="positional_encoder",
        edits=[("self.register_buffer(", "pe[max_seq_len // 2 :] = 0\n        self.register_buffer(")],
        about=["test_table_of_sines_and_cosines"],
        sentence="The second half of your table is zero. Every position up to max_seq_len needs its code.",
    ),
    Mistake(
        "degrees",
        cell="positional_encoder",
        edits=[("angle = position /", "angle = math.pi / 180 * position /")],
        about=["test_table_of_sines_and_cosines"],
        sentence="You convert the angles from degrees. The formula uses radians, and so does torch.sin.",
    ),
    Mistake(
        "not_scaled",
        cell="positional_encoder",
        edits=[("x = x * math.sqrt(self.d_model)", "x = x * 1")],
        about=["test_input_is_scaled"],
        sentence="You don't multiply the input by the square root of d_model.",
    ),
    Mistake(
        "scaled_by_width",
        cell="positional_encoder",
        edits=[("math.sqrt(self.d_model)", "self.d_model")],
        about=["test_input_is_scaled"],
        sentence="The input is multiplied by d_model instead of its square root.",
    ),
    Mistake(
        "divided_by_root",
        cell="positional_encoder",
        edits=[("x * math.sqrt", "x / math.sqrt")],
        about=["test_input_is_scaled"],
        sentence="The input is divided by the square root of d_model. Multiply it instead.",
    ),
    Mistake(
        "scaled_by_root_of_length",
        cell="positional_encoder",
        edits=[("math.sqrt(self.d_model)", "math.sqrt(length)")],
        about=["test_input_is_scaled"],
        sentence="The input is multiplied by the square root of its length. Use its width, d_model.",
    ),
    Mistake(
        "scaled_after_adding",
        cell="positional_encoder",
        edits=[
            ("x = x * math.sqrt(self.d_model)", "x = x * 1"),
            ("return x + self.pe[:, :length]", "return (x + self.pe[:, :length]) * math.sqrt(self.d_model)"),
        ],
        about=["test_table_of_sines_and_cosines"],
        sentence="Your table is also multiplied by the square root of d_model. "
        "Multiply only the input, before you add the table.",
    ),
    Mistake(
        "table_not_added",
        cell="positional_encoder",
        edits=[("return x + self.pe[:, :length]", "return x")],
        about=["test_table_of_sines_and_cosines"],
        sentence="You don't add the table to the input.",
    ),
    Mistake(
        "length_of_the_batch",
        cell="positional_encoder",
        edits=[("length, max_seq_len = x.size(1)", "length, max_seq_len = x.size(0)")],
        about=["test_table_does_not_depend_on_the_input"],
        sentence="You take the length from axis 0, which is the batch. The length is on axis 1.",
    ),
    Mistake(
        "aligned_to_the_end",
        cell="positional_encoder",
        edits=[("self.pe[:, :length]", "self.pe[:, max_seq_len - length :]")],
        about=["test_table_does_not_depend_on_the_input"],
        sentence="You add the last rows of the table. A sequence starts at position 0, so add the first "
        "ones.",
    ),
    Mistake(
        "always_80_positions",
        cell="positional_encoder",
        edits=[
            ("torch.arange(max_seq_len)", "torch.arange(80)"),
            ("torch.zeros(max_seq_len, d_model)", "torch.zeros(80, d_model)"),
        ],
        about=["test_table_does_not_depend_on_the_input", "test_too_long_raises"],
        sentence="Your table always has 80 rows. It needs max_seq_len rows.",
    ),
    Mistake(
        "parameter",
        cell="positional_encoder",
        edits=[('self.register_buffer("pe", pe.unsqueeze(0))', "self.pe = nn.Parameter(pe.unsqueeze(0))")],
        about=["test_has_no_parameters"],
        sentence="Your table is an nn.Parameter, so an optimizer would change it. Make it a buffer.",
    ),
    Mistake(
        "plain_attribute",
        cell="positional_encoder",
        edits=[('self.register_buffer("pe", pe.unsqueeze(0))', "self.pe = pe.unsqueeze(0)")],
        about=["test_follows_its_dtype"],
        sentence="Your table doesn't follow the module, because `.to()` doesn't convert a plain attribute. Make it a buffer.",
    ),
    Mistake(
        "float64_table",
        cell="positional_encoder",
        edits=[
            ("torch.zeros(max_seq_len, d_model)", "torch.zeros(max_seq_len, d_model, dtype=torch.float64)")
        ],
        about=["test_follows_its_dtype"],
        sentence="Your table is float64, so the output for a float32 input becomes float64.",
    ),
    Mistake(
        "no_gradient",
        cell="positional_encoder",
        edits=[("x = x * math.sqrt(self.d_model)", "x = x.detach() * math.sqrt(self.d_model)")],
        about=["test_gradient_reaches_the_input"],
        sentence="The input is detached, so the embeddings before the encoder can't learn.",
    ),
    Mistake(
        "input_changed",
        cell="positional_encoder",
        edits=[("x = x * math.sqrt(self.d_model)", "x *= math.sqrt(self.d_model)")],
        about=["test_input_is_not_changed"],
        sentence="`x *= …` modifies the caller's tensor. Write `x = x * …`, which creates a new one.",
    ),
    Mistake(
        "odd_width_unnoticed",
        cell="positional_encoder",
        edits=[("if d_model % 2 != 0:", "if False:")],
        about=["test_odd_width_raises"],
        sentence="An odd d_model has to raise a ValueError.",
    ),
    Mistake(
        "odd_width_unnamed",
        cell="positional_encoder",
        edits=[(", but it is {d_model}", "")],
        about=["test_odd_width_raises"],
        sentence="The error message for an odd d_model doesn't name the width.",
    ),
    Mistake(
        "too_long_unnoticed",
        cell="positional_encoder",
        edits=[("if length > max_seq_len:", "if False:")],
        about=["test_too_long_raises"],
        sentence="A sequence longer than max_seq_len has to raise a ValueError.",
    ),
    Mistake(
        "too_long_unnamed",
        cell="positional_encoder",
        edits=[(", but max_seq_len is {max_seq_len}", "")],
        about=["test_too_long_raises"],
        sentence="The error message for a sequence that is too long doesn't name both lengths.",
    ),
    Mistake(
        "just_as_long_refused",
        cell="positional_encoder",
        edits=[("if length > max_seq_len:", "if length >= max_seq_len:")],
        about=["test_too_long_raises"],
        sentence="A sequence of exactly max_seq_len positions raises an error, but it fits into the table.",
    ),
]

CURVES = [
    Mistake(
        "dimensions_from_0",
        cell="encoding_curves",
        edits=[("dim - 1 for dim", "dim for dim")],
        about=["test_curves_of_the_dimensions", "test_dimensions_count_from_one"],
        sentence="Your hidden dimensions count from 0. Dimension 1 is the first column.",
    ),
    Mistake(
        "curves_transposed",
        cell="encoding_curves",
        edits=[("return curves.T", "return curves")],
        about=["test_one_row_per_dimension"],
        sentence="You swapped rows and columns: return one row per hidden dimension.",
    ),
    Mistake(
        "positions_for_dimensions",
        cell="encoding_curves",
        edits=[("table[:, columns]", "table[columns].T")],
        about=["test_curves_of_the_dimensions", "test_one_row_per_dimension"],
        sentence="You pick rows of the table, which are positions. Hidden dimensions are its columns.",
    ),
    Mistake(
        "curves_of_ones",
        cell="encoding_curves",
        edits=[("encoder.pe[0]", "encoder(torch.ones_like(encoder.pe))[0]")],
        about=["test_curves_of_the_dimensions"],
        sentence="You read the curves from the output for an input of ones, so they include the square "
        "root of d_model. Read the table itself.",
    ),
    Mistake(
        "formula_again",
        cell="encoding_curves",
        edits=[
            ("encoder.pe[0]", "encoder.pe[0] * 0"),
            (
                "    curves = table",
                "    for column in range(table.shape[1]):\n"
                "        speed = 1 / 10000 ** (column // 2 * 2 / table.shape[1])\n"
                "        wave = torch.sin if column % 2 == 0 else torch.cos\n"
                "        table[:, column] = wave(torch.arange(table.shape[0]) * speed)\n"
                "    curves = table",
            ),
        ],
        about=["test_curves_of_the_dimensions"],
        sentence="You compute the formula again. Read the curves from the encoder that is passed in.",
    ),
    Mistake(
        "always_32_positions",
        cell="encoding_curves",
        edits=[("return curves.T", "return curves[:32].T")],
        about=["test_one_row_per_dimension"],
        sentence="Your curves end after 32 positions. They should be as long as the encoder's table.",
    ),
    Mistake(
        "always_these_dimensions",
        cell="encoding_curves",
        edits=[("for dim in hidden_dims", "for dim in [1, 2, 7, 16]")],
        about=["test_one_row_per_dimension"],
        sentence="You always return dimensions 1, 2, 7 and 16. Use hidden_dims.",
    ),
    Mistake(
        "rows_sorted",
        cell="encoding_curves",
        edits=[("for dim in hidden_dims", "for dim in sorted(set(hidden_dims))")],
        about=["test_rows_keep_the_order"],
        sentence="Your rows are sorted. They should be in the order of hidden_dims.",
    ),
    Mistake(
        "table_squeezed",
        cell="encoding_curves",
        edits=[("encoder.pe[0]", "encoder.pe.squeeze_(0)")],
        about=["test_encoder_is_not_changed"],
        sentence="`squeeze_` modifies the encoder's own table. Use `squeeze`, or index with [0].",
    ),
]

SHIFT = [
    Mistake(
        "moves_back",
        cell="shift_matrix",
        edits=[
            ("matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = -torch.sin(angle)"),
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix is transposed, so it moves back. The minus sign belongs below the diagonal.",
    ),
    Mistake(
        "no_minus",
        cell="shift_matrix",
        edits=[("-torch.sin(angle)", "torch.sin(angle)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your blocks have no minus sign. The sine below the diagonal needs one.",
    ),
    Mistake(
        "mirrored",
        cell="shift_matrix",
        edits=[
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)"),
            ("matrix[odd, odd] = torch.cos(angle)", "matrix[odd, odd] = -torch.cos(angle)"),
        ],
        about=["test_moves_every_code_ahead", "test_zero_offset_is_the_identity"],
        sentence="Your minus sign is at the second cosine, so the blocks reflect instead of rotating. "
        "It belongs to the sine below the diagonal.",
    ),
    Mistake(
        "only_cosines",
        cell="shift_matrix",
        edits=[
            ("matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = 0"),
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = 0"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix contains only cosines. Each 2 × 2 block also needs two sines.",
    ),
    Mistake(
        "halves_of_the_matrix",
        cell="shift_matrix",
        edits=[
            (
                "    matrix = torch.zeros",
                "    even = torch.arange(d_model // 2)\n"
                "    odd = even + d_model // 2\n"
                "    matrix = torch.zeros",
            )
        ],
        about=["test_pairs_turn_by_themselves"],
        sentence="Your matrix is for a code with all sines first and then all cosines. "
        "Here they alternate, so the 2 × 2 blocks are along the diagonal.",
    ),
    Mistake(
        "one_speed",
        cell="shift_matrix",
        edits=[("(even / d_model)", "(0 * even)")],
        about=["test_moves_every_code_ahead"],
        sentence="All your blocks rotate at the same speed. Pair i has the frequency 1 / 10000^(2i/d).",
    ),
    Mistake(
        "speeds_upside_down",
        cell="shift_matrix",
        edits=[("offset / 10000", "offset * 10000")],
        about=["test_moves_every_code_ahead"],
        sentence="You multiply the offset by 10000^(2i/d) instead of dividing by it.",
    ),
    Mistake(
        "shift_base_1000",
        cell="shift_matrix",
        edits=[("10000 **", "1000 **")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix uses the base 1000 instead of 10000.",
    ),
    Mistake(
        "shift_exponent_doubled",
        cell="shift_matrix",
        edits=[("(even / d_model)", "(2 * even / d_model)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your exponent is twice as large as it should be: it contains the factor 2 twice.",
    ),
    Mistake(
        "shift_cosine_own_exponent",
        cell="shift_matrix",
        edits=[
            (
                "matrix[odd, odd] = torch.cos(angle)",
                "matrix[odd, odd] = torch.cos(offset / 10000 ** (odd / d_model))",
            ),
            ("-torch.sin(angle)", "-torch.sin(offset / 10000 ** (odd / d_model))"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="The second row of your blocks has its own exponent, (2i+1)/d. "
        "All four entries of a block use the same angle.",
    ),
    Mistake(
        "offset_ignored",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = 1 /")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix always moves by one position, whatever the offset is.",
    ),
    Mistake(
        "one_too_far",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = (offset + 1) /")],
        about=["test_zero_offset_is_the_identity", "test_moves_every_code_ahead"],
        sentence="Your matrix moves one position too far.",
    ),
    Mistake(
        "columns_rolled",
        cell="shift_matrix",
        edits=[("return matrix", "return torch.eye(d_model).roll(offset, dims=0)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix moves the entries of a code to other columns. "
        "It should rotate each pair of columns, so that the code becomes that of another position.",
    ),
    Mistake(
        "offset_without_sign",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = abs(offset) /")],
        about=["test_negative_offset_moves_back"],
        sentence="Your matrix moves ahead for a negative offset. It should move back.",
    ),
    Mistake(
        "negative_offset_ignored",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = max(offset, 0) /")],
        about=["test_negative_offset_moves_back"],
        sentence="Your matrix moves nothing for a negative offset. It should move back.",
    ),
]

EMBEDDING = [
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

MISTAKES = [*ENCODER, *CURVES, *SHIFT, *EMBEDDING]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every entry of the matrix depends on it, and the checks are about the same entries.": [
            "no_minus",
            "mirrored",
            "only_cosines",
            "shift_cosine_own_exponent",
            "offset_ignored",
            "one_too_far",
        ],
        "Other curves are drawn: only their number is right.": [
            "positions_for_dimensions",
        ],
    },
)
