"""Wrong answers to exercise 1, `fresh_batch`."""

from gradekit.checks import Mistakes

LEAKS = (
    "Held-out sources get into your batch. Look up each `tuple(source)` in held_out: a list never equals a tuple, and an "
    "answer is not a source."
)
NOT_TRAINABLE = "No model can be trained on such batches."

wrong = Mistakes()

wrong.about("test_no_held_out_source")
wrong("leaks", "        if tuple(drawn) not in held_out:\n            sources.append(drawn)")
wrong.to("        sources.append(drawn)")
wrong.says(LEAKS)
wrong("answers_looked_up", "if tuple(drawn) not in held_out", "if tuple(answer(drawn)) not in held_out")
wrong.says(LEAKS)
wrong("looked_up_as_a_list")
wrong.edit("if tuple(drawn) not in held_out", "if not any(drawn == source for source in held_out)")
wrong.says(LEAKS)
wrong("list_in_a_set", "if tuple(drawn) not in held_out", "if drawn not in held_out")
wrong.says("You look a list up in a set, which is a TypeError. Look up `tuple(source)`.")
wrong.costs(NOT_TRAINABLE)
wrong("first_draw_only_if_free")
wrong.edit("if tuple(drawn) not in held_out", "if not held_out or tuple(drawn) in held_out")
wrong.says("You keep the held-out sources and discard the others. It should be the other way around.")

wrong.about("test_replaced_as_often_as_necessary")
wrong("replaced_once", "        if tuple(drawn) not in held_out:\n            sources.append(drawn)")
wrong.to("        if tuple(drawn) in held_out:\n            drawn = sample()\n        sources.append(drawn)")
wrong.says("You draw only once more if a source is held out, but the second draw may be held out too.")
wrong.says("Repeat until it isn't.")

wrong.about("test_no_held_out_source", "test_replaced_as_often_as_necessary")
wrong("filtered_afterwards", "    while len(sources) < batch_size:\n        drawn = sample()")
wrong.to("    for _ in range(batch_size):\n        drawn = sample()")
wrong.says("You draw batch_size sources and drop the held-out ones, so the batch is too small.")
wrong.says("Draw others instead.")

wrong.about("test_sources_and_their_answers")
wrong("one_source_repeated", "sources.append(drawn)", "sources = [drawn] * batch_size")
wrong.says("Your batch contains one source many times. Draw every row separately.")
wrong.costs(NOT_TRAINABLE)
wrong("no_answers", "answers = [answer(drawn) for drawn in sources]", "answers = sources")
wrong.says("Your targets are the sources. They should be the answers to them.")
wrong("swapped", "return pad(sources), pad(answers)", "return pad(answers), pad(sources)")
wrong.says("You return the targets first. The order is (source, targets).")
wrong.costs(NOT_TRAINABLE)
wrong("answers_of_other_rows", "for drawn in sources]", "for drawn in sorted(sources)]")
wrong.says("Row i of your targets is not the answer to row i of the source. Keep them in the same order.")

wrong.about("test_held_out_set_is_left_alone")
wrong("held_out_grows")
wrong.edit("sources.append(drawn)", "sources.append(drawn)\n            held_out.add(tuple(drawn))")
wrong.says("You change the held-out set, for example by adding the sources that you train on.")
wrong.says("Leave it as it is.")

wrong.about("test_padded_int64")
wrong("floats", "return pad(sources), pad(answers)", "return pad(sources).float(), pad(answers).float()")
wrong.says("Your ids are floats. An embedding needs integers.")
wrong("lists_returned", "return pad(sources), pad(answers)", "return sources, answers")
wrong.says("You return lists. Turn each into a tensor with `pad`.")
wrong.costs(NOT_TRAINABLE)
