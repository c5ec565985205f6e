"""Wrong answers to 07_inside_pretrained, written from the text of its exercises."""

from answers import Unseen


def answer(cell: str, name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"{cell}_{name}", cell, [(old, new)], fault=fault)


UNSEEN = [
    answer("next_token", "first", "last = logits[:, -1]", "last = logits[:, 0]", "first position"),
    answer("next_token", "all_positions", "return torch.softmax(last, dim=-1)", "return torch.softmax(logits, dim=-1).mean(dim=1)", "mean over positions"),
    answer("next_token", "batch_axis", "return torch.softmax(last, dim=-1)", "return torch.softmax(last, dim=0)", "softmax over the batch"),
    answer("next_token", "logs", "return torch.softmax(last, dim=-1)", "return torch.log_softmax(last, dim=-1)", "log probabilities"),
    answer("next_token", "in_front", "torch.cat([input_ids, likeliest], dim=1)", "torch.cat([likeliest, input_ids], dim=1)", "new token in front"),
    answer("next_token", "renormalized", "top.values.tolist()", "(top.values / top.values.sum()).tolist()", "probabilities of the k candidates sum to 1"),
    answer("sampling", "multiplied", "scaled = logits / temperature", "scaled = logits * temperature", "multiplied by the temperature"),
    answer("sampling", "zeros", 'float("-inf")', "0.0", "left-out logits set to 0"),
    answer("sampling", "top_k_after", "return torch.softmax(scaled, dim=-1)", "probabilities = torch.softmax(logits / temperature, dim=-1)\n    return torch.where(scaled.isinf(), 0.0, probabilities)", "not renormalized"),
    answer("sampling", "over_batch", "values[:, -1:]", "values.min()", "one limit for the batch"),
    answer("sampling", "always_argmax", "chosen = torch.multinomial(probabilities, num_samples=1)", "chosen = probabilities.argmax(dim=-1, keepdim=True)", "never draws"),
    answer("sampling", "new_only", "    return ids\n", "    return ids[:, input_ids.shape[1] :]\n", "only the new tokens"),
    answer("sampling", "top_k_forgotten", "sampling_probabilities(logits, temperature, top_k)", "sampling_probabilities(logits, temperature)", "top_k not passed on"),
    answer("cosine", "dot", "return product / lengths.clamp(min=1e-12)", "return product", "dot product"),
    answer("cosine", "squared", "u.norm(dim=-1) * v.norm(dim=-1)", "(u.norm(dim=-1) * v.norm(dim=-1)) ** 2", "lengths squared"),
    answer("cosine", "distance", "return product / lengths.clamp(min=1e-12)", "return 1 - product / lengths.clamp(min=1e-12)", "distance in place of similarity"),
    answer("cosine", "eps_added", "lengths.clamp(min=1e-12)", "(lengths + 1e-2)", "a hundredth added to the lengths"),
    answer("cosine", "word_kept", "    similarity[place] = -torch.inf\n", "", "the word itself is in the list"),
    answer("cosine", "least", "top = torch.topk(similarity, k)", "top = torch.topk(similarity, k, largest=False)", "least similar"),
    answer("analogy", "sign", "target = v_b - v_a + v_c", "target = v_a - v_b + v_c", "a and b exchanged"),
    answer("analogy", "only_c", "similarity[places] = -torch.inf", "similarity[places[2]] = -torch.inf", "only c left out"),
    answer("analogy", "dot", "F.cosine_similarity(target, vectors, dim=-1)", "vectors @ target", "dot product"),
    answer("analogy", "plus", "target = v_b - v_a + v_c", "target = v_b + v_a + v_c", "plus in place of minus"),
    answer("additive", "inverted", "zeros.masked_fill(~mask, -torch.inf)", "zeros.masked_fill(mask, -torch.inf)", "mask inverted"),
    answer("additive", "large", "-torch.inf)", "-1.0)", "-1 in place of minus infinity"),
    answer("additive", "after", "weights = torch.softmax(scores + additive, dim=-1)", "weights = torch.softmax(scores, dim=-1) + additive", "added after the softmax"),
    answer("additive", "no_scale", " / math.sqrt(q.shape[-1])", "", "no scale"),
    answer("own_layers", "relu", "F.gelu(", "F.relu(", "ReLU kept"),
    answer("own_layers", "eps", "    layer.norm2.eps = eps\n", "", "second eps forgotten"),
    answer("own_layers", "first_layer", "encoder.layer.{number}", "encoder.layer.0", "always layer 0"),
    answer("own_layers", "norms_exchanged", '"attention.output.LayerNorm": "norm1"', '"attention.output.LayerNorm": "norm2"', "norms exchanged"),
    answer("own_layers", "mean_of_all", "(hidden * real).sum(dim=1) / real.sum(dim=1)", "hidden.mean(dim=1)", "mean over padding, too"),
    answer("own_layers", "first_token", "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)", "mean = hidden[:, 0]", "first token only"),
    answer("training_step", "no_shift", "logits = model(input_ids).logits[:, :-1]", "logits = model(input_ids).logits[:, 1:]", "targets one too early"),
    answer("training_step", "no_zero", "    optimizer.zero_grad()\n", "", "gradients add up"),
    answer("training_step", "tensor", "return loss.item()", "return loss", "a tensor"),
    answer("training_step", "after", "    return loss.item()", "    with torch.no_grad():\n        return F.cross_entropy(model(input_ids).logits[:, :-1].flatten(0, 1), targets.flatten()).item()", "the loss after the step"),
]  # fmt: skip
