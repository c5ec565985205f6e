"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

TWO_AXES = "There are two axes, so -1 is 1."
ALONE = "A table with one word has no neighbors."
ANY_ORDER = "`min` takes its arguments in any order."
OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
SAME_LENGTH = "Both have the same length."
AN_INDEX = "A number in a tensor is an index, too."
SYMMETRIC = "The cosine is the same in either order."
ALLOWED = "The exercise allows it, since nothing is trained here."
LIKELIEST = "likeliest = top.indices[:1].unsqueeze(0)"
SMALLEST = "smallest = torch.topk(scaled, k, dim=-1).values[:, -1:]"
PAIRS = (
    "return [(words[i], score) for i, score in zip(top.indices.tolist(), top.values.tolist(), strict=True)]"
)
CANDIDATES = "candidates = list(zip(tokens, top.values.tolist(), strict=True))"
QUOTIENT = "return product / lengths.clamp(min=1e-30)"
SIMILARITY = "similarity = F.cosine_similarity(target, vectors, dim=-1)"
MEAN = "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)"
SPELLED = 'return b"".join(tokens[number] for number in ids).decode("utf-8", errors="replace")'
NORMALIZE = "return F.normalize(mean, dim=-1)"

same = Equivalents("byte_pairs")

same.because("It is the default.")
same('ids = list(text.encode("utf-8"))', "ids = list(text.encode())")
same.edit(SPELLED, '"utf-8", errors', "errors")

same.because("Bytes are a sequence of numbers, too, and only the list that is made from them changes.")
same('ids = list(text.encode("utf-8"))', 'ids = text.encode("utf-8")')

NO_DOUBLE = "The text doesn't promise double precision."

same = Equivalents("next_token")

same.because(ALLOWED)
same("", "model.eval()")

same.because(TWO_AXES)
same.edit("return torch.softmax(last, dim=-1)", "-", "")

same.because("There is one sequence only, and one token.")
same.edit("probabilities = next_token_probabilities(model, input_ids)[0]", "0", "-1")
same.edit(LIKELIEST, "0", "1")
same.edit(LIKELIEST, "0", "-1")

same.because(ANY_ORDER)
same("top = torch.topk(probabilities, min(k, len(probabilities)))")
same.to("top = torch.topk(probabilities, min(len(probabilities), k))")

same.because("Tokenizers also take a tensor of ids.")
same("tokens = tokenizer.convert_ids_to_tokens(top.indices.tolist())")
same.to("tokens = tokenizer.convert_ids_to_tokens(top.indices)")

same.because(SAME_LENGTH)
same.edit(CANDIDATES, ", strict=True", "")
same.edit(CANDIDATES, "True", "False")

same.because(OWN_TENSOR)
same.edit(LIKELIEST, ".unsqueeze", ".unsqueeze_")

same = Equivalents("sampling")

same.because(NO_DOUBLE)
same("", "`sampling_probabilities` loses the digits of double precision")

same.because(ALLOWED)
same("", "model.eval()")

same.because(ANY_ORDER)
same("k = min(top_k, logits.shape[-1])", "k = min(logits.shape[-1], top_k)")

same.because(TWO_AXES)
same.edit("k = min(top_k, logits.shape[-1])", "-", "")
same.edit(SMALLEST, "=-1", "=1")
same.edit("return torch.softmax(scaled, dim=-1)", "-", "")
same.edit("chosen = logits.argmax(dim=-1, keepdim=True)", "-", "")

same.because("It is the default.")
same.edit(SMALLEST, ", dim=-1", "")

same.because(OWN_TENSOR)
same('scaled = scaled.masked_fill(scaled < smallest, float("-inf"))')
same.to('scaled = scaled.masked_fill_(scaled < smallest, float("-inf"))')

same.because("A temperature is never negative.")
same.edit("if temperature == 0:", " ==", " <=")

same = Equivalents("cosine")

same.because(NO_DOUBLE)
same("", "`cosine_similarity` loses the digits of double precision")

same.because(ALONE)
same("", "`nearest_words` drops axes of size 1 from its result for a first axis of size 1")

same.because(OWN_TENSOR)
same(QUOTIENT, "return product.div_(lengths.clamp(min=1e-30))")
same.edit(QUOTIENT, "lengths.clamp", "lengths.clamp_")

same.because(SYMMETRIC)
same.edit("similarity = cosine_similarity(vectors[place], vectors)", "[place], vectors", ", vectors[place]")

same.because(SAME_LENGTH)
same.edit(PAIRS, ", strict=True", "")
same.edit(PAIRS, "True", "False")

same.because(AN_INDEX)
same.edit(PAIRS, "top.indices.tolist()", "top.indices")

same = Equivalents("analogy")

same.because(ALONE)
same("", "`analogy` drops axes of size 1 from its result for a first axis of size 1")

same.because(SAME_LENGTH)
same.edit(PAIRS, ", strict=True", "")
same.edit(PAIRS, "True", "False")

same.because(AN_INDEX)
same.edit(PAIRS, "top.indices.tolist()", "top.indices")

same.because("b and c are added, so they may change places.")
same.edit("places = [words.index(word) for word in (a, b, c)]", "b, c", "c, b")

same.because("`vectors[places]` is a copy.")
same.edit("target = v_b - v_a + v_c", "v_b - v_a", "v_b.sub_(v_a)")

same.because(SYMMETRIC)
same.edit(SIMILARITY, "target, vectors", "vectors, target")

same.because(TWO_AXES)
same.edit(SIMILARITY, ", dim=-1", "")
same.edit(SIMILARITY, "-", "")

same = Equivalents("additive")

same.because(NO_DOUBLE)
same("", "`attention_with_additive_mask` loses the digits of double precision")

same.because(OWN_TENSOR)
same.edit("return zeros.masked_fill(~mask, -torch.inf)", "zeros.masked_fill", "zeros.masked_fill_")
same.edit("weights = torch.softmax(scores + additive, dim=-1)", "scores + additive", "scores.add_(additive)")

same.because("`transpose` takes its two axes in either order.")
same.edit("scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])", "2, -1", "1, -2")

same = Equivalents("own_layers")

same.because(NO_DOUBLE)
same("", "`GeluFeedForward` loses the digits of double precision")
same("", "`sentence_vectors` loses the digits of double precision")

same.because("All 16 tensors come from the checkpoint, and nobody asks which numbers are drawn afterwards.")
same("", "`load_layer` sets the random seed")

same.because("A mask has no other ids than 0 and 1.")
same("", "`sentence_vectors` is wrong for ids above 26")

same.because("Only the direction of the mean counts, since it is scaled to length 1.")
same.edit(MEAN, "/", "*")
same.edit(MEAN, " / real.sum(dim=1)", "")
same.edit(MEAN, ").sum(", ").mean(")
same.edit(MEAN, "real.sum(dim=1)", "real.sum()")

same.because(TWO_AXES)
same.edit(NORMALIZE, ", dim=-1", "")
same.edit(NORMALIZE, "-", "")

same.because("The order is free.")
same.edit('for kind in ("weight", "bias"):', 'weight", "bias', 'bias", "weight')

same.because("Each call writes all 16 entries again.")
same.edit("state = {}", "{}", 'vars(load_layer).setdefault("_state", {})')

same.because("The names are the same in every call.")
same(
    'ours = {\n    "attention.self.query": "self_attn.w_q",\n    "attention.self.key": "self_attn.w_k",\n    "attention.self.value": "self_attn.w_v",\n    "attention.output.dense": "self_attn.w_o",\n    "attention.output.LayerNorm": "norm1",\n    "intermediate.dense": "feed_forward.linear1",\n    "output.dense": "feed_forward.linear2",\n    "output.LayerNorm": "norm2",\n}',
    'ours = vars(load_layer).setdefault("_ours", {\n    "attention.self.query": "self_attn.w_q",\n    "attention.self.key": "self_attn.w_k",\n    "attention.self.value": "self_attn.w_v",\n    "attention.output.dense": "self_attn.w_o",\n    "attention.output.LayerNorm": "norm1",\n    "intermediate.dense": "feed_forward.linear1",\n    "output.dense": "feed_forward.linear2",\n    "output.LayerNorm": "norm2",\n})',
)

same = Equivalents("training_step")

same.because("Training leaves a model in training mode, and the exercise doesn't ask for another.")
same("", "`training_step` leaves the model in training mode")

same.because("05 recommends it: one can't tell which mode a model arrives in.")
same("", "model.train()")

same = Equivalents("top_p")

same.because(TWO_AXES)
same.edit("shares, order = probabilities.sort(dim=-1, descending=True)", "dim=-1, ", "")
same.edit("shares, order = probabilities.sort(dim=-1, descending=True)", "=-1", "=1")
same.edit("likelier = shares.cumsum(dim=-1) - shares  # what the tokens before have together", "=-1", "=1")
same.edit("kept = kept / kept.sum(dim=-1, keepdim=True)", "=-1", "=1")
same.edit("return torch.zeros_like(kept).scatter(-1, order, kept)", "(-1", "(1")

same.because("The tensor was just made, so nobody else sees the change.")
same.edit(
    "kept = shares * (likelier < top_p)", "shares * (likelier < top_p)", "shares.mul_(likelier < top_p)"
)
same("kept = kept / kept.sum(dim=-1, keepdim=True)", "kept = kept.div_(kept.sum(dim=-1, keepdim=True))")

same.because("Where a sum is top_p up to rounding, both are right.")
same.edit("kept = shares * (likelier < top_p)", "<", "<=")

same.because("Every place is written: `order` has each of them once.")
same.edit("return torch.zeros_like(kept).scatter(-1, order, kept)", "torch.zeros_like(kept)", "kept")
same.edit("return torch.zeros_like(kept).scatter(-1, order, kept)", "zeros_like", "ones_like")

same.because("No probability is above 1.")
same("", "`keep_top_p` is wrong for numbers above 30")
