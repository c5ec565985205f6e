"""Wrong answers to exercise 7, `own_layers`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_gelu")
wrong("relu_kept", "hidden = F.gelu(self.linear1(x))", "hidden = torch.relu(self.linear1(x))")
wrong.says("There is still a ReLU between the two linear layers. MiniLM was trained with GELU.")
wrong("gelu_by_tanh", "F.gelu(self.linear1(x))", 'F.gelu(self.linear1(x), approximate="tanh")')
wrong.says("You used the approximation of GELU by tanh, which differs in the fourth digit.")
wrong.says("Use `F.gelu` as it is.")

wrong.about("test_dropout")
wrong("dropout_left_out", "        hidden = self.dropout(hidden)\n", "")
wrong.says("The dropout of `FeedForward` is missing between GELU and the second linear layer.")

wrong.about("test_layer")
wrong("gelu_not_put_in", "    layer.feed_forward = GeluFeedForward(d_model, d_ff)\n", "")
wrong.says("The layer still has the `FeedForward` with ReLU. Replace it with a `GeluFeedForward`.")
wrong("query_and_key_swapped")
wrong.edit('"attention.self.query": "self_attn.w_q"', '"attention.self.query": "self_attn.w_k"')
wrong.edit('"attention.self.key": "self_attn.w_k"', '"attention.self.key": "self_attn.w_q"')
wrong.says(
    "The weights of the query are in the layer of the keys, and those of the key in the layer of the queries."
)
wrong("value_and_output_swapped")
wrong.edit('"attention.self.value": "self_attn.w_v"', '"attention.self.value": "self_attn.w_o"')
wrong.edit('"attention.output.dense": "self_attn.w_o"', '"attention.output.dense": "self_attn.w_v"')
wrong.says("The weights of the value are in `w_o`, and those of `attention.output.dense` in `w_v`.")
wrong("norms_swapped", '"attention.output.LayerNorm": "norm1"', '"attention.output.LayerNorm": "norm2"')
wrong.edit('"output.LayerNorm": "norm2"', '"output.LayerNorm": "norm1"')
wrong.says("The two norms are swapped. `norm1` follows the attention, `norm2` the feed-forward network.")
wrong("pre_norm", "EncoderLayer(d_model, num_heads, d_ff)")
wrong.to("EncoderLayer(d_model, num_heads, d_ff, norm_first=True)")
wrong.says("Your layer is pre-norm. BERT's layers are post-norm.")
wrong("one_head", "EncoderLayer(d_model, num_heads, d_ff)", "EncoderLayer(d_model, 1, d_ff)")
wrong.says("Your layer has one head, whatever `num_heads` is.")
wrong("weights_not_loaded", "    layer.load_state_dict(state)\n", "    layer.state = state\n")
wrong.says("The layer still has random weights. Pass the dict to `load_state_dict`.")
wrong("biases_left_out", 'for kind in ("weight", "bias"):', 'for kind in ("weight",):')
wrong.edit("layer.load_state_dict(state)", "layer.load_state_dict(state, strict=False)")
wrong.says("Only the weights are loaded. The biases keep their random values.")

wrong.about("test_number")
wrong("always_layer_0", 'f"encoder.layer.{number}.', 'f"encoder.layer.0.')
wrong.says("You always load layer 0. Use `number`.")
wrong(
    "layer_found_by_its_beginning",
    'state[f"{name}.{kind}"] = weights[f"encoder.layer.{number}.{theirs}.{kind}"]',
    "for key in weights:\n"
    '                if key.startswith(f"encoder.layer.{number}") and key.endswith(f"{theirs}.{kind}"):\n'
    '                    if "attention" in theirs or "attention" not in key:\n'
    '                        state[f"{name}.{kind}"] = weights[key]',
)
wrong.says("Names that begin with `encoder.layer.1` are also those of layers 10 and 11.")
wrong.says("The dot after the number matters.")

wrong.about("test_eps")
wrong("eps_ignored", "    layer.norm1.eps = eps\n    layer.norm2.eps = eps\n", "")
wrong.says("The norms have PyTorch's eps of 1e-5. Set it to `eps`.")
wrong("eps_in_one_norm", "    layer.norm2.eps = eps\n", "")
wrong.says("Only one of the two norms has the eps that was asked for.")
wrong("eps_always_the_default", "layer.norm1.eps = eps", "layer.norm1.eps = 1e-12")
wrong.edit("layer.norm2.eps = eps", "layer.norm2.eps = 1e-12")
wrong.says("The norms have an eps of 1e-12, whatever `eps` is.")

wrong.about("test_sentence_vectors")
wrong("padding_counts", "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)", "mean = hidden.mean(dim=1)")
wrong.says("Your mean includes the padding. Leave it out of the sum.")
wrong("first_token", "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)", "mean = hidden[:, 0]")
wrong.says("You took the vector of the first token, `[CLS]`.")
wrong.says("MiniLM was trained with the mean of all real tokens.")
wrong("not_of_length_1", "return F.normalize(mean, dim=-1)", "return mean")
wrong.says("Your vectors are not scaled to length 1.")
wrong("scaled_before_the_mean")
wrong.edit("(hidden * real).sum(dim=1)", "(F.normalize(hidden, dim=-1) * real).sum(dim=1)")
wrong.says("You scaled the vectors of the tokens to length 1 before you took the mean.")
wrong.says("Take the mean of them as they are.")
wrong("scaled_over_the_batch", "return F.normalize(mean, dim=-1)", "return F.normalize(mean, dim=0)")
wrong.says("You scaled each column over the batch. Scale each sentence's vector to length 1.")

wrong.about("test_unchanged")
wrong("padding_overwritten", "mean = (hidden * real).sum(dim=1)")
wrong.to("hidden[attention_mask == 0] = 0\n    mean = hidden.sum(dim=1)")
wrong.says("You overwrote the padding in `hidden` itself. Work on a copy, or multiply.")
