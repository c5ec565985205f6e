"""Wrong answers to exercise 3, `sampling`."""

from gradekit.checks import Mistakes

TOP_K = 'scaled.masked_fill(scaled < smallest, float("-inf"))'

wrong = Mistakes()

wrong.about("test_temperature")
wrong("times_temperature", "logits / temperature", "logits * temperature")
wrong.says("You multiplied the logits by the temperature. Divide by it.")
wrong("temperature_after_softmax", "logits / temperature", "logits / 1.0")
wrong.edit("scaled, dim=-1)\n", "scaled, dim=-1) / temperature\n")
wrong.says("You divided the probabilities by the temperature. Divide the logits, before the softmax.")
wrong("softmax_over_the_batch", "return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled, dim=0)")
wrong.says("Your softmax runs over the batch. It should run over the vocabulary, the last axis.")

wrong.about("test_top_k")
wrong("top_k_plus_one", "k = min(top_k, logits.shape[-1])", "k = min(top_k + 1, logits.shape[-1])")
wrong.says("You keep k + 1 tokens. Keep k.")
wrong("top_k_minus_one", "scaled < smallest", "scaled <= smallest")
wrong.says("You also drop the k-th token. Fill only where the logit is smaller than that of the k-th token.")
wrong("top_k_filled_with_0", 'float("-inf")', "0.0")
wrong.says("You set the logits of the other tokens to 0, but e to the power of 0 is 1. Fill with -inf.")
wrong("top_k_not_renormalised", f"scaled = {TOP_K}\n    return torch.softmax(scaled, dim=-1)")
wrong.to("""return torch.softmax(scaled, dim=-1).masked_fill(scaled < smallest, 0.0)
    return torch.softmax(scaled, dim=-1)""")
wrong.says("The probabilities of the remaining tokens don't sum to 1. Mask the logits before the softmax.")
wrong("threshold_of_first_row", ".values[:, -1:]", ".values[0, -1]")
wrong.says("You use one limit for all rows. Each row has its own: its k-th logit.")

wrong.about("test_all_tokens")
wrong("top_k_too_large", "k = min(top_k, logits.shape[-1])", "k = top_k")
wrong.says("Your function fails for a top_k larger than the vocabulary. It should keep all tokens.")

wrong.about("test_logits_unchanged")
wrong("logits_filled_in_place", "scaled = logits / temperature", "scaled = logits")
wrong.edit(f"scaled = {TOP_K}", 'scaled[scaled < smallest] = float("-inf")')
wrong.edit("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)")
wrong.says("You change the caller's logits in place. Create a new tensor.")
wrong.costs("Everything else is right; it is one property among many.")

wrong.about("test_greedy", "test_draws")
wrong("greedy_first_position", "logits[:, -1]", "logits[:, 0]")
wrong.says("You used the logits of the first position.")
wrong.says("The logits of the last position predict the next token.")

wrong.about("test_greedy")
wrong("greedy_forgotten", "if temperature == 0:", "if temperature is None:")
wrong.says("You divide by a temperature of 0. It means greedy decoding: take the likeliest token.")
wrong("one_step_too_many", "range(n_tokens)", "range(n_tokens + 1)")
wrong.says("You append one token too many.")

wrong.about("test_draws")
wrong("always_greedy", "if temperature == 0:", "if temperature >= 0:")
wrong.says(
    "You take the likeliest token where you should draw. Above temperature 0, draw from the probabilities, however sure the model is."
)
wrong("one_draw_for_the_batch", "torch.multinomial(probabilities, num_samples=1)")
wrong.to("torch.multinomial(probabilities, num_samples=1)[:1].expand(len(ids), 1)")
wrong.says("You use one draw for the whole batch. Draw for every sequence.")
wrong("drawn_without_temperature")
wrong.edit("sampling_probabilities(logits, temperature, top_k)", "sampling_probabilities(logits, 1.0, top_k)")
wrong.says("You don't use the temperature when you draw. Pass it to sampling_probabilities.")

wrong.about("test_greedy", "test_sees_the_whole_sequence")
wrong("logits_of_the_start", "        with torch.no_grad():\n            logits = model(ids)")
wrong.to("        with torch.no_grad():\n            logits = model(input_ids)")
wrong.says("You pass the model the initial ids at every step.")
wrong.says("Pass it all ids so far, including the new ones.")

wrong.about("test_sees_the_whole_sequence")
wrong("feeds_only_the_last_token", "model(ids)", "model(ids[:, -1:])")
wrong.says("You pass the model only the last token. It has to see the whole sequence so far.")

wrong.about("test_sees_the_whole_sequence", "test_greedy")
wrong("not_appended", "ids = torch.cat([ids, chosen], dim=1)", "ids = torch.cat([input_ids, chosen], dim=1)")
wrong.says("Every step replaces the token of the previous step. Append it to the ids so far.")

wrong.about("test_without_gradients")
wrong("drawn_with_gradients", "with torch.no_grad():", "with torch.enable_grad():")
wrong.says("The model runs with gradients on. Nothing is learned here: use `torch.no_grad()`.")

wrong.unnamed("Its exceptions have other causes, too.", "greedy_forgotten")
wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "drawn_without_temperature"
)
