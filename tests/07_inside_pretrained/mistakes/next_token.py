"""Wrong answers to exercise 2, `next_token`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_without_gradients")
wrong("left_in_training_mode", "        logits = model(input_ids).logits  # (batch, length, vocab)")
wrong.to("        logits = model.eval()(input_ids).logits  # (batch, length, vocab)\n    model.train()")
wrong.says("You leave the model in training mode, which turns its dropout on.")
wrong.says("It need not change its mode at all.")
wrong("with_gradients", "with torch.no_grad():", "with torch.enable_grad():")
wrong.says("The model runs with gradients on. Use `torch.no_grad()`.")

wrong.about("test_after_the_last_token")
wrong("first_position", "logits[:, -1]", "logits[:, 0]")
wrong.says("You used the logits of the first position, which predict the second token.")
wrong.says("Use the last position.")
wrong("only_the_last_token_seen")
wrong.edit("logits = model(input_ids).logits", "logits = model(input_ids[:, -1:]).logits")
wrong.says("You passed the model only the last token. It has to see the whole sequence.")

wrong.about("test_rows_sum_to_1")
wrong("softmax_over_batch", "torch.softmax(last, dim=-1)", "torch.softmax(last, dim=0)")
wrong.says("Your softmax runs over the batch. It should run over the vocabulary, the last axis.")
wrong.costs("It computes a different function, and most checks are about the function.")

wrong.about("test_rows_sum_to_1", "test_after_the_last_token")
wrong("logits_returned", "return torch.softmax(last, dim=-1)", "return last")
wrong.says("You returned logits. Apply a softmax to get probabilities.")

wrong.about("test_candidates")
wrong("candidates_not_sorted", "candidates = list(zip(tokens, top.values.tolist(), strict=True))")
wrong.to("candidates = sorted(zip(tokens, top.values.tolist(), strict=True))")
wrong.says("The candidates are sorted by token. Sort them by probability, likeliest first.")
wrong("candidates_ascending")
wrong.edit("top.values.tolist(), strict=True))", "top.values.tolist(), strict=True))[::-1]")
wrong.says("The likeliest candidate comes last. It should come first.")
wrong("tokens_by_decode", "tokenizer.convert_ids_to_tokens(top.indices.tolist())")
wrong.to("[tokenizer.decode([number]) for number in top.indices.tolist()]")
wrong.says("Your candidates are not spelled as the tokens are, such as `Ġcat`, with its mark for a space.")
wrong.says("Return them as `convert_ids_to_tokens` does.")

wrong.about("test_number_of_candidates")
wrong("k_beyond_the_vocabulary", "min(k, len(probabilities))", "k")
wrong.says("You ask for k tokens even if the vocabulary has fewer. Return all of them in this case.")
wrong("always_ten", "min(k, len(probabilities))", "min(10, len(probabilities))")
wrong.says("You return ten candidates, whatever k is. Use k.")

wrong.about("test_appends_the_likeliest")
wrong("nothing_appended", "new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = input_ids")
wrong.says("You return the ids without the new one. Append the id of the likeliest token.", lacks=("*cat*",))
wrong("only_the_new_id", "new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = likeliest")
wrong.says("You return only the new id. Keep the given ids in front of it.", lacks=("*cat*",))
wrong("place_in_the_list_appended", "top.indices[:1].unsqueeze(0)", "top.values.argmax().reshape(1, 1)")
wrong.says("You appended 0, an index in the list of candidates.")
wrong.says("Append the id of the token in the vocabulary.")
wrong(
    "encoded_anew",
    "return new_ids, candidates",
    "new_ids = torch.tensor([tokenizer.encode(tokenizer.decode(new_ids[0]))])\n    return new_ids, candidates",
)
wrong.says(
    "You decoded the ids and encoded the text again, which can change the tokens. Append to the ids.",
    uses=("encode",),
)

wrong.unnamed(
    "Its values are too few and simple: other mistakes return them, too.", "place_in_the_list_appended"
)
