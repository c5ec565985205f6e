"""Wrong answers to exercise 1, `answer_batch`."""

from gradekit.checks import Mistakes

ROW = "rows.append(prompt + answer + [pad] * rest)"
MARKS = "marks.append([False] * len(prompt) + [True] * len(answer) + [False] * rest)"
RETURN = "return torch.tensor(rows), torch.tensor(marks)"
OF_ALL = "The whole batch is laid out differently."

wrong = Mistakes("batch_")

wrong.about("test_ids")
wrong("padding_on_the_left", ROW, "rows.append([pad] * rest + prompt + answer)")
wrong.edit(MARKS, "marks.append([False] * rest + [False] * len(prompt) + [True] * len(answer))")
wrong.says("You fill up the rows on the left. Fill them up on the right.")
wrong.costs(OF_ALL)
wrong("padding_between", ROW, "rows.append(prompt + [pad] * rest + answer)")
wrong.edit(MARKS, "marks.append([False] * len(prompt) + [False] * rest + [True] * len(answer))")
wrong.says("Your padding is between prompt and answer. The answer follows the prompt directly.")
wrong.costs(OF_ALL)
wrong("pad_is_always_0", "[pad] * rest", "[0] * rest")
wrong.says("You always fill up with 0. Use the argument `pad`.")
wrong("answer_first", ROW, "rows.append(answer + prompt + [pad] * rest)")
wrong.says("Your answers come before their prompts.")

wrong.about("test_counts")
wrong("everything_counts", MARKS, "marks.append([True] * (len(prompt) + len(answer)) + [False] * rest)")
wrong.says("The tokens of the prompt count in your batch. Only those of the answer should.")
wrong("prompt_counts", MARKS, "marks.append([True] * len(prompt) + [False] * (len(answer) + rest))")
wrong.says("Your `counts` mark the prompts. They should mark the answers.")
wrong("padding_counts", MARKS, "marks.append([False] * len(prompt) + [True] * (len(answer) + rest))")
wrong.says("The padding counts in your batch. Only the tokens of the answer should.")
wrong("last_token_left_out", MARKS)
wrong.to("marks.append([False] * len(prompt) + [True] * (len(answer) - 1) + [False] * (rest + 1))")
wrong.says(
    "The last token of the answer doesn't count in your batch. It should: it teaches the model to stop."
)
wrong("first_token_left_out", MARKS)
wrong.to("marks.append([False] * (len(prompt) + 1) + [True] * (len(answer) - 1) + [False] * rest)")
wrong.says("The first token of the answer doesn't count in your batch. It should.")
wrong("shifted_already", MARKS)
wrong.to("marks.append([False] * (len(prompt) - 1) + [True] * len(answer) + [False] * (rest + 1))")
wrong.says(
    "Your `counts` are one place too far to the left. They mark tokens, not predictions: `answer_loss` shifts."
)

wrong.about("test_pad_within_a_dialogue")
wrong("pad_never_counts", RETURN)
wrong.to("ids = torch.tensor(rows)\n    return ids, torch.tensor(marks) & (ids != pad)")
wrong.says(
    "An id that equals `pad` doesn't count in your answers. Go by the lengths, not by the ids.", uses=("pad",)
)

wrong.about("test_types_and_lists_unchanged")
wrong("counts_as_numbers", RETURN, "return torch.tensor(rows), torch.tensor(marks).float()")
wrong.says("Your `counts` are numbers. They should be boolean.")
wrong("ids_as_floats", RETURN, "return torch.tensor(rows).float(), torch.tensor(marks)")
wrong.says("Your `ids` are floats. Ids should be int64.")
wrong("lists_extended", ROW, "prompt += answer + [pad] * rest\n        rows.append(prompt)")
wrong.edit(MARKS, MARKS.replace("len(prompt)", "(len(prompt) - len(answer) - rest)"))
wrong.says("You add to the lists that were passed in, with `+=` or `extend`. Build new ones.")
