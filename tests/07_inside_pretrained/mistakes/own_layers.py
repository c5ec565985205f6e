"""Wrong answers to exercise 6, `own_layers`."""

from gradekit.checks import mistakes_in

mistake = mistakes_in("own_layers")

MISTAKES = [
    mistake(
        "relu_kept",
        ("hidden = F.gelu(self.linear1(x))", "hidden = torch.relu(self.linear1(x))"),
        ["test_gelu"],
        "There is still a ReLU between the two linear layers. MiniLM was trained with GELU.",
    ),
    mistake(
        "gelu_by_tanh",
        ("F.gelu(self.linear1(x))", 'F.gelu(self.linear1(x), approximate="tanh")'),
        ["test_gelu"],
        "You used the approximation of GELU by tanh, which differs in the fourth digit. Use `F.gelu` as it is.",
    ),
    mistake(
        "dropout_left_out",
        ("        hidden = self.dropout(hidden)\n", ""),
        ["test_dropout"],
        "The dropout of `FeedForward` is missing between GELU and the second linear layer.",
    ),
    mistake(
        "gelu_not_put_in",
        ("    layer.feed_forward = GeluFeedForward(d_model, d_ff)\n", ""),
        ["test_layer"],
        "The layer still has the `FeedForward` with ReLU. Replace it with a `GeluFeedForward`.",
    ),
    mistake(
        "query_and_key_swapped",
        [
            ('"attention.self.query": "self_attn.w_q"', '"attention.self.query": "self_attn.w_k"'),
            ('"attention.self.key": "self_attn.w_k"', '"attention.self.key": "self_attn.w_q"'),
        ],
        ["test_layer"],
        "The weights of the query are in the layer of the keys, and those of the key in the layer of the queries.",
    ),
    mistake(
        "value_and_output_swapped",
        [
            ('"attention.self.value": "self_attn.w_v"', '"attention.self.value": "self_attn.w_o"'),
            ('"attention.output.dense": "self_attn.w_o"', '"attention.output.dense": "self_attn.w_v"'),
        ],
        ["test_layer"],
        "The weights of the value are in `w_o`, and those of `attention.output.dense` in `w_v`.",
    ),
    mistake(
        "norms_swapped",
        [
            ('"attention.output.LayerNorm": "norm1"', '"attention.output.LayerNorm": "norm2"'),
            ('"output.LayerNorm": "norm2"', '"output.LayerNorm": "norm1"'),
        ],
        ["test_layer"],
        "The two norms are swapped. `norm1` follows the attention, `norm2` the feed-forward network.",
    ),
    mistake(
        "pre_norm",
        ("EncoderLayer(d_model, num_heads, d_ff)", "EncoderLayer(d_model, num_heads, d_ff, norm_first=True)"),
        ["test_layer"],
        "Your layer is pre-norm. BERT's layers are post-norm.",
    ),
    mistake(
        "one_head",
        ("EncoderLayer(d_model, num_heads, d_ff)", "EncoderLayer(d_model, 1, d_ff)"),
        ["test_layer"],
        "Your layer has one head, whatever `num_heads` is.",
    ),
    mistake(
        "weights_not_loaded",
        ("    layer.load_state_dict(state)\n", "    layer.state = state\n"),
        ["test_layer"],
        "The layer still has random weights. Pass the dict to `load_state_dict`.",
    ),
    mistake(
        "biases_left_out",
        [
            ('for kind in ("weight", "bias"):', 'for kind in ("weight",):'),
            ("layer.load_state_dict(state)", "layer.load_state_dict(state, strict=False)"),
        ],
        ["test_layer"],
        "Only the weights are loaded. The biases keep their random values.",
    ),
    mistake(
        "always_layer_0",
        ('f"encoder.layer.{number}.', 'f"encoder.layer.0.'),
        ["test_number"],
        "You always load layer 0. Use `number`.",
    ),
    mistake(
        "layer_found_by_its_beginning",
        (
            'state[f"{name}.{kind}"] = weights[f"encoder.layer.{number}.{theirs}.{kind}"]',
            "for key in weights:\n"
            '                if key.startswith(f"encoder.layer.{number}") and key.endswith(f"{theirs}.{kind}"):\n'
            '                    if "attention" in theirs or "attention" not in key:\n'
            '                        state[f"{name}.{kind}"] = weights[key]',
        ),
        ["test_number"],
        "Names that begin with `encoder.layer.1` are also those of layers 10 and 11. The dot after the number matters.",
    ),
    mistake(
        "eps_ignored",
        ("    layer.norm1.eps = eps\n    layer.norm2.eps = eps\n", ""),
        ["test_eps"],
        "The norms have PyTorch's eps of 1e-5. Set it to `eps`.",
    ),
    mistake(
        "eps_in_one_norm",
        ("    layer.norm2.eps = eps\n", ""),
        ["test_eps"],
        "Only one of the two norms has the eps that was asked for.",
    ),
    mistake(
        "eps_always_the_default",
        [
            ("layer.norm1.eps = eps", "layer.norm1.eps = 1e-12"),
            ("layer.norm2.eps = eps", "layer.norm2.eps = 1e-12"),
        ],
        ["test_eps"],
        "The norms have an eps of 1e-12, whatever `eps` is.",
    ),
    mistake(
        "padding_counts",
        (
            "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)",
            "mean = hidden.mean(dim=1)",
        ),
        ["test_sentence_vectors"],
        "Your mean includes the padding. Leave it out of the sum.",
    ),
    mistake(
        "first_token",
        ("mean = (hidden * real).sum(dim=1) / real.sum(dim=1)", "mean = hidden[:, 0]"),
        ["test_sentence_vectors"],
        "You took the vector of the first token, `[CLS]`. MiniLM was trained with the mean of all real tokens.",
    ),
    mistake(
        "not_of_length_1",
        ("return F.normalize(mean, dim=-1)", "return mean"),
        ["test_sentence_vectors"],
        "Your vectors are not scaled to length 1.",
    ),
    mistake(
        "scaled_before_the_mean",
        [
            ("(hidden * real).sum(dim=1)", "(F.normalize(hidden, dim=-1) * real).sum(dim=1)"),
        ],
        ["test_sentence_vectors"],
        "You scaled the vectors of the tokens to length 1 before you took the mean. Take the mean of them as they are.",
    ),
    mistake(
        "scaled_over_the_batch",
        ("return F.normalize(mean, dim=-1)", "return F.normalize(mean, dim=0)"),
        ["test_sentence_vectors"],
        "You scaled each column over the batch. Scale each sentence's vector to length 1.",
    ),
    mistake(
        "padding_overwritten",
        (
            "mean = (hidden * real).sum(dim=1)",
            "hidden[attention_mask == 0] = 0\n    mean = hidden.sum(dim=1)",
        ),
        ["test_unchanged"],
        "You overwrote the padding in `hidden` itself. Work on a copy, or multiply.",
    ),
]
