"""Wrong answers to exercise 1, `positional_encoder`."""

from gradekit.checks import Mistake

MISTAKES = [
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
        "output_is_float32",
        cell="positional_encoder",
        edits=[("return x + self.pe[:, :length]", "return (x + self.pe[:, :length]).float()")],
        about=["test_follows_its_dtype"],
        sentence="Your output is always float32. Leave the dtype of the input as it is: `.to()` converts the table as well.",
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
