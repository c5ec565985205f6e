"""Asks questions about a traced answer, each with one short answer."""

from collections.abc import Iterator, Sequence

from gradekit_integrity.viva.questions import (
    INTEREST,
    Asked,
    Question,
    QuestionKind,
    as_tuple,
    inputs_of,
    shown_value,
)
from gradekit_integrity.viva.running import Scene
from gradekit_integrity.viva.statements import AnswerStatement, Sort, outside_names
from gradekit_integrity.viva.tracer_reports import Effect, SeenValue, StatementRun, TracedCall

_TAKEN_OUT = (
    "It raises an exception. (Of which type?)",
    "It returns the same as before.",
    "It returns other values, of the same type and shape.",
    "It returns something of another shape, type or length.",
)
#: a call shows at most as many inputs
_MOST_INPUTS = 12


def questions_about(
    asked: Asked, scenes: Sequence[Scene], varied: Sequence[TracedCall] = ()
) -> Iterator[Question]:
    """All questions about an answer that these calls can answer; the same calls lead to the same questions.

    Args:
        varied: calls with inputs that the course has not declared.
    """
    for scene in scenes:
        if all(map(is_shown, scene.calls)):
            yield from _about_crash(asked, scene)
            yield from _about_lines(asked, scene)
            yield from _about_result(asked, scene)
            for number, effect in scene.effects.items():
                yield from _about_taking_out(asked, scene, asked.code.statements[number], effect)
    yield from _about_failing(asked, [scene.call for scene in scenes if scene.made is None], varied)
    for function in asked.code.functions:
        if names := outside_names(asked.code.source, function):
            text = (
                f"Which names does `{function}` take from outside: neither parameters, nor assigned in it, "
                "nor built into Python?"
            )
            yield asked.question(QuestionKind.NAMES, text, ", ".join(f"`{name}`" for name in names))


def _about_crash(asked: Asked, scene: Scene) -> Iterator[Question]:
    call, error = scene.call, scene.call.error
    if error is None or error.line < 1 or error.type == "NotImplementedError":
        return
    number = asked.code.lines[error.line] if error.line < len(asked.code.lines) else -1
    if number < 0 or (asked.code.statements[number].sort == Sort.OTHER and raises(asked, number)):
        return
    what = "The call" if call.name else "Running this cell"
    text = f"{what} stops with an exception. Of which type is it, and which line of the cell causes it?"
    yield asked.question(
        QuestionKind.CRASH, text, f"`{error.type}`, in line {error.line}.", calls=scene.calls
    )


def _about_lines(asked: Asked, scene: Scene) -> Iterator[Question]:
    call = scene.call
    frames = dict(call.frames)
    runs = {run.statement: run for run in call.runs}
    for number, one in enumerate(asked.code.statements):
        run = runs.get(number)
        if run is None or not asked.is_open(number):
            continue
        if one.sort == Sort.ASSIGN and not one.plain:
            yield from _about_values(asked, scene, one, run)
        elif call.error or not (is_certain(asked, scene) or one.counted) or not is_start(asked, one.body):
            continue
        elif one.sort == Sort.IF:
            yield from _about_branch(asked, scene, one, run)
        elif one.sort == Sort.LOOP:
            once = frames.get(one.function) == 1 and not one.in_loop
            count = runs[one.body].count if one.body in runs else 0
            if once:
                text = f"How often does the body of the loop in line {one.first} run?"
                yield asked.question(QuestionKind.LOOP, text, _times(count), one, scene.calls)


def _about_values(asked: Asked, scene: Scene, one: AnswerStatement, run: StatementRun) -> Iterator[Question]:
    when = f"When line {one.first} has run{' for the first time' if run.count > 1 else ''}"
    for name, seen in run.values:
        if name not in one.assigns:
            continue
        if seen.shape:
            text = f"{when}, which shape does `{name}` have?"
            weight = INTEREST[QuestionKind.SHAPE] + _variety(seen.shape)
            yield asked.question(
                QuestionKind.SHAPE, text, f"`{as_tuple(seen.shape)}`", one, scene.calls, interest=weight
            )
        elif seen.length is not None and seen.length > 3 and not is_doubtful(asked, scene):
            text = f"{when}, how many entries does `{name}` have?"
            yield asked.question(QuestionKind.VALUE, text, str(seen.length), one, scene.calls)
        elif scene.call.name and _is_value(seen) and is_certain(asked, scene):
            text = f"{when}, what is the value of `{name}`?"
            yield asked.question(QuestionKind.VALUE, text, f"`{seen.text}`", one, scene.calls)


def _about_branch(asked: Asked, scene: Scene, one: AnswerStatement, run: StatementRun) -> Iterator[Question]:
    when = "the first time, " if run.count > 1 else ""
    if run.then == one.body:
        answer = f"Yes: line {asked.code.statements[one.body].first} runs next."
    elif run.then >= 0 and run.then != one.body:
        answer = f"No: line {asked.code.statements[run.then].first} runs next."
    else:
        answer = "No."
    text = f"Is the condition in line {one.first} true{', ' + when.rstrip(', ') if when else ''}?"
    yield asked.question(QuestionKind.BRANCH, text, answer, one, scene.calls)


def _about_result(asked: Asked, scene: Scene) -> Iterator[Question]:
    call = scene.call
    if not call.name or call.error or call.name.endswith("__init__"):
        return
    seen = call.result
    ran = (run.statement for run in call.runs)
    ends = [number for number in ran if asked.code.statements[number].is_return_of(call.name)]
    one = asked.code.statements[ends[0]] if len(ends) == 1 and asked.is_open(ends[0]) else None
    if seen.shape:
        text = "Which shape does the returned value have?"
        yield asked.question(QuestionKind.RESULT, text, f"`{as_tuple(seen.shape)}`", one, scene.calls)
    elif seen.parts and len(seen.parts) == seen.length and all(part.shape for part in seen.parts):
        shapes = ", ".join(f"`{as_tuple(part.shape or ())}`" for part in seen.parts)
        text = f"It returns {seen.length} values. Which shapes do they have, in order?"
        yield asked.question(QuestionKind.RESULT, text, shapes, one, scene.calls)
    elif _is_value(seen) and is_certain(asked, scene):
        yield asked.question(QuestionKind.RESULT, "What does it return?", f"`{seen.text}`", one, scene.calls)


def _about_taking_out(asked: Asked, scene: Scene, one: AnswerStatement, effect: Effect) -> Iterator[Question]:
    if effect.effect in ("same", "values") and not is_certain(asked, scene):
        return
    match effect.effect:
        case "error":
            if effect.error is None or not effect.error.type.isidentifier() or effect.error.line < 1:
                return
            answer = f"It raises an exception: `{effect.error.type}`, in line {effect.error.line}."
        case "same":
            answer = _TAKEN_OUT[1]
        case "values":
            answer = _TAKEN_OUT[2]
        case "shape" if effect.result.shape is not None:
            answer = f"It returns something of another shape: `{as_tuple(effect.result.shape)}`."
        case "shape" | "dtype" | "length" | "type":
            answer = _TAKEN_OUT[3]
        case _:
            return
    # a missing variable says little about whether somebody understood the line
    obvious = effect.error is not None and effect.error.type in ("NameError", "UnboundLocalError")
    text = f"Line {one.first} is taken out. What does the call do then?"
    weight = 1 if obvious else None
    yield asked.question(QuestionKind.TAKEN_OUT, text, answer, one, scene.calls, _TAKEN_OUT, weight)


def _about_failing(
    asked: Asked, calls: Sequence[TracedCall], varied: Sequence[TracedCall]
) -> Iterator[Question]:
    """Which of up to three calls of a function stops with an exception; if none does, one with other inputs may."""
    for name in dict.fromkeys(call.name for call in calls if call.name):
        mine = [call for call in calls if call.name == name]
        if all(call.error is None for call in mine):
            mine = [*(call for call in varied if call.name == name), *mine]
        shown = {inputs_of(call): call for call in mine if is_shown(call)}
        failing = [call for call in shown.values() if call.error]
        working = [call for call in shown.values() if not call.error]
        if (
            not failing
            or not working
            or any(call.error.type == "AssertionError" for call in failing if call.error)
        ):
            continue
        chosen = sorted([failing[0], *working[:2]], key=inputs_of)
        letter = "ABC"[chosen.index(failing[0])]
        kind = failing[0].error.type if failing[0].error else ""
        text = "Which of these calls stops with an exception, and of which type?"
        yield asked.question(QuestionKind.FAILS, text, f"Call {letter}: `{kind}`.", calls=chosen)


def raises(asked: Asked, number: int) -> bool:
    """True for a statement that raises on purpose."""
    one = asked.code.statements[number]
    return asked.code.source.split("\n")[one.first - 1].lstrip().startswith(("raise", "assert"))


def is_start(asked: Asked, number: int) -> bool:
    """True if the statement, which begins a block, runs exactly once each time the block is entered."""
    if number < 0 or not asked.code.is_clear(number):
        return False
    one = asked.code.statements[number]
    return one.simple or one.sort == Sort.IF


def _variety(shape: tuple[int, ...]) -> int:
    """How informative a shape is: most if all its sizes differ."""
    return 1 if 1 < len(shape) == len(set(shape)) else -1 if len(set(shape)) == 1 else 0


def _is_value(seen: SeenValue) -> bool:
    return bool(seen.text) and seen.type != "NoneType" and "`" not in seen.text and seen.text.isprintable()


def is_shown(call: TracedCall) -> bool:
    """True if a reader can tell what the inputs are, at least their shapes."""
    return len(call.args) <= _MOST_INPUTS and all(shown_value(seen) for _, seen in call.args)


def is_certain(asked: Asked, scene: Scene) -> bool:
    """True if the values follow from the code and the inputs that a reader sees."""
    known = all(seen.about for call in scene.calls for _, seen in call.args)
    return known and not is_doubtful(asked, scene)


def is_doubtful(asked: Asked, scene: Scene) -> bool:
    """True if values may depend on chance, or on variables of the notebook: two runs might agree by chance."""
    return asked.code.is_unpredictable or any(call.random or not call.closed for call in scene.calls)


def _times(count: int) -> str:
    return "Never." if count == 0 else "Once." if count == 1 else f"{count} times."
