"""Wrong answers to exercise 1, `fresh_batch`."""

from gradekit.checks import Mistake, with_costs

LEAKS = (
    "Held-out sources get into your batch. Look up each `tuple(source)` in held_out: a list never equals a tuple, and an "
    "answer is not a source."
)

MISTAKES = [
    Mistake(
        "leaks",
        cell="fresh_batch",
        edits=[
            (
                "        if tuple(drawn) not in held_out:\n            sources.append(drawn)",
                "        sources.append(drawn)",
            )
        ],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "replaced_once",
        cell="fresh_batch",
        edits=[
            (
                "        if tuple(drawn) not in held_out:\n            sources.append(drawn)",
                "        if tuple(drawn) in held_out:\n            drawn = sample()\n        sources.append(drawn)",
            )
        ],
        about=["test_replaced_as_often_as_necessary"],
        sentence="You draw only once more if a source is held out, but the second draw may be held out "
        "too. Repeat until it isn't.",
    ),
    Mistake(
        "filtered_afterwards",
        cell="fresh_batch",
        edits=[
            (
                "    while len(sources) < batch_size:\n        drawn = sample()",
                "    for _ in range(batch_size):\n        drawn = sample()",
            )
        ],
        about=["test_no_held_out_source", "test_replaced_as_often_as_necessary"],
        sentence="You draw batch_size sources and drop the held-out ones, so the batch is too small. "
        "Draw others instead.",
    ),
    Mistake(
        "answers_looked_up",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if tuple(answer(drawn)) not in held_out")],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "looked_up_as_a_list",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if not any(drawn == source for source in held_out)")],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "one_source_repeated",
        cell="fresh_batch",
        edits=[("sources.append(drawn)", "sources = [drawn] * batch_size")],
        about=["test_sources_and_their_answers"],
        sentence="Your batch contains one source many times. Draw every row separately.",
    ),
    Mistake(
        "no_answers",
        cell="fresh_batch",
        edits=[("answers = [answer(drawn) for drawn in sources]", "answers = sources")],
        about=["test_sources_and_their_answers"],
        sentence="Your targets are the sources. They should be the answers to them.",
    ),
    Mistake(
        "swapped",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return pad(answers), pad(sources)")],
        about=["test_sources_and_their_answers"],
        sentence="You return the targets first. The order is (source, targets).",
    ),
    Mistake(
        "answers_of_other_rows",
        cell="fresh_batch",
        edits=[("for drawn in sources]", "for drawn in sorted(sources)]")],
        about=["test_sources_and_their_answers"],
        sentence="Row i of your targets is not the answer to row i of the source. Keep them in the same order.",
    ),
    Mistake(
        "held_out_grows",
        cell="fresh_batch",
        edits=[("sources.append(drawn)", "sources.append(drawn)\n            held_out.add(tuple(drawn))")],
        about=["test_held_out_set_is_left_alone"],
        sentence="You change the held-out set, for example by adding the sources that you train on. Leave it as it is.",
    ),
    Mistake(
        "floats",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return pad(sources).float(), pad(answers).float()")],
        about=["test_padded_int64"],
        sentence="Your ids are floats. An embedding needs integers.",
    ),
    Mistake(
        "list_in_a_set",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if drawn not in held_out")],
        about=["test_no_held_out_source"],
        sentence="You look a list up in a set, which is a TypeError. Look up `tuple(source)`.",
    ),
    Mistake(
        "lists_returned",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return sources, answers")],
        about=["test_padded_int64"],
        sentence="You return lists. Turn each into a tensor with `pad`.",
    ),
    Mistake(
        "first_draw_only_if_free",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if not held_out or tuple(drawn) in held_out")],
        about=["test_no_held_out_source"],
        sentence="You keep the held-out sources and discard the others. It should be the other way around.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "No model can be trained on such batches.": [
            "one_source_repeated",
            "swapped",
            "list_in_a_set",
            "lists_returned",
        ],
    },
)
