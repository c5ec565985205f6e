"""Questions with options about a traced answer: one is right, and the others are what other lines or misreadings give."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gradekit_integrity.defend.probed import ProbedCode
from gradekit_integrity.viva.asking import is_certain, is_shown, is_start, raises
from gradekit_integrity.viva.questions import Asked, as_tuple, inputs_of, title_of
from gradekit_integrity.viva.running import Scene
from gradekit_integrity.viva.statements import AnswerStatement, Sort
from gradekit_integrity.viva.tracer_reports import Effect, Raised, SeenValue, StatementRun, TracedCall

#: wrong options at least, so that guessing rarely helps, and at most
WRONG_AT_LEAST, WRONG_AT_MOST = 2, 3
_CHANGED_IN_PLACE = (
    *("resize_", "t_", "unsqueeze_", "squeeze_", "transpose_", "swapaxes_", "set_"),
    *("resize", "as_strided_"),
)
_EFFECTS = {
    "error": "It stops with an exception.",
    "same": "It returns the same as before.",
    "values": "It returns other numbers or text, with the same type and shape.",
    "shape": "It returns something of another shape or length.",
}


class ClosedKind(StrEnum):
    SHAPE = "shape"
    VALUE = "value"
    FIRST = "first line of a shape"
    NEXT = "branch"
    COUNT = "loop"
    FAILS = "which fails"
    CRASH = "crash"
    TAKEN_OUT = "taken out"
    STOPS = "where it stops without a line"


@dataclass(frozen=True)
class ClosedQuestion:
    """A question about the answer cell `cell`, its right option, and wrong ones. Text in backticks is code.

    Two runs agree if all but the wrong options are equal; these only have to be different from the right one.

    Args:
        line: the line of the cell that it is about; 0 for none.
        calls: the calls that it is about, each with its inputs, as text.
        about: the name or expression it is about, for a comparison with other students' code.
        key: of its statement, which is equal for equivalent ones.
    """

    kind: ClosedKind
    notebook: str
    cell: str
    line: int
    text: str
    right: str
    calls: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wrong: tuple[str, ...] = field(default=(), compare=False)
    about: str = field(default="", compare=False)
    key: str = field(default="", compare=False)

    @property
    def chance(self) -> float:
        """The probability that a guess is right."""
        return 1 / (1 + len(self.wrong))


def closed_questions(
    asked: Asked, scenes: Sequence[Scene], varied: Sequence[TracedCall] = ()
) -> Iterator[ClosedQuestion]:
    """All questions about an answer that these calls can answer, if there are enough wrong options."""
    for one in _all_questions(asked, scenes, varied):
        if len(one.wrong) >= WRONG_AT_LEAST:
            yield one


def _all_questions(
    asked: Asked, scenes: Sequence[Scene], varied: Sequence[TracedCall]
) -> Iterator[ClosedQuestion]:
    code = asked.code
    assert isinstance(code, ProbedCode)
    scenes = [scene for scene in scenes if not _is_of_unknown_object(scene)]
    for scene in scenes:
        if not scene.call.name or not all(map(_is_described, scene.calls)) or not inputs_of(scene.call):
            continue
        about = _SceneQuestions(asked, code, scene)
        yield from about.crash()
        yield from about.lines()
        if not scene.call.error:
            yield from about.first_lines()
            yield from about.taken_out()
    yield from _failing(asked, [scene.call for scene in scenes if scene.made is None], varied)


@dataclass(frozen=True)
class _SceneQuestions:
    """Asks about one call."""

    asked: Asked
    code: ProbedCode
    scene: Scene

    @property
    def _runs(self) -> dict[int, StatementRun]:
        return {run.statement: run for run in self.scene.call.runs}

    @property
    def _is_exact(self) -> bool:
        """True if the values follow from the code and from inputs that the page doesn't round."""
        shown = all(_is_unrounded(seen) for call in self.scene.calls for _, seen in call.args)
        return shown and is_certain(self.asked, self.scene)

    def _is_once(self, one: AnswerStatement) -> bool:
        """True if the function that a statement is in was entered once in this call."""
        return dict(self.scene.call.frames).get(one.function) == 1

    def _question(
        self, kind: ClosedKind, text: str, right: str, wrong: Iterable[str], one: AnswerStatement | None,
        about: str = "",
    ) -> ClosedQuestion:  # fmt: skip
        return _made(self.asked, kind, text, right, wrong, self.scene.calls, one, about)

    def crash(self) -> Iterator[ClosedQuestion]:
        error = self.scene.call.error
        if error is None or error.line < 1 or error.type == "NotImplementedError":
            return
        number = self.code.lines[error.line] if error.line < len(self.code.lines) else -1
        if number < 0 or raises(self.asked, number) or not self.asked.is_open(number):
            return
        here = self.code.statements[number]
        passed = self._passed(error)
        others = [
            one.first
            for place, one in enumerate(self.code.statements)
            if place in self._runs and one.function and one.first not in (here.first, *passed)
        ]
        other = "ValueError" if error.type == "TypeError" else "TypeError"
        wrong = [f"`{error.type}`, in line {line}." for line in others[:2]]
        wrong += [f"`{other}`, in line {line}." for line in (error.line, *others[:1])]
        text = "The call stops with an exception. Of which type is it, and which line of the cell causes it?"
        yield self._question(ClosedKind.CRASH, text, f"`{error.type}`, in line {error.line}.", wrong, here)

    def lines(self) -> Iterator[ClosedQuestion]:
        for number, one in enumerate(self.code.statements):
            run = self._runs.get(number)
            if run is None or not one.function or not self.asked.is_open(number) or not self._is_once(one):
                continue
            if one.sort == Sort.IF and not self.scene.call.error:
                yield from self._branch(number, one, run)
            elif one.sort == Sort.LOOP and not self.scene.call.error:
                yield from self._count(one)
            elif one.simple:
                yield from self._values(one, run)

    def _values(self, one: AnswerStatement, run: StatementRun) -> Iterator[ClosedQuestion]:
        first = " for the first time" if run.count > 1 else ""
        for name, seen in run.values:
            if name not in one.assigns or (one.plain and name not in self.code.parts):
                continue
            about = self.code.parts.get(name, name)
            part = name in self.code.parts
            what = f"its part `{about}`" if part else f"`{about}`"
            when = f"When line {one.first} {'runs' if part else 'has run'}{first}"
            if seen.shape and not self._may_change_in_place():
                right = f"`{as_tuple(seen.shape)}`"
                wrong = (f"`{as_tuple(shape)}`" for shape in self._other_shapes(seen.shape))
                text = f"{when}, which shape does {what} have?"
                yield self._question(ClosedKind.SHAPE, text, right, wrong, one, about)
            elif seen.shape is None and _is_scalar(seen) and self._is_exact:
                wrong = (f"`{text}`" for text in self._other_values(seen))
                text = f"{when}, what is the value of {what}?"
                yield self._question(ClosedKind.VALUE, text, f"`{seen.text}`", wrong, one, about)

    def _may_change_in_place(self) -> bool:
        return any(f".{name}(" in self.code.as_written for name in _CHANGED_IN_PLACE)

    def _branch(self, number: int, one: AnswerStatement, run: StatementRun) -> Iterator[ClosedQuestion]:
        if not self._is_exact or not is_start(self.asked, one.body) or run.then < 0:
            return
        then = self.code.statements[run.then].first
        if then < one.first:
            return  # a loop or `with` that may end there: some say the line behind it
        near = sorted(
            {
                other.first
                for place, other in enumerate(self.code.statements)
                if other.function == one.function and place not in (number, run.then)
            },
            key=lambda line: (line != self.code.statements[one.body].first, abs(line - one.first)),
        )
        first = ", the first time" if run.count > 1 else ""
        text = f"Which line runs right after line {one.first}{first}?"
        yield self._question(
            ClosedKind.NEXT, text, f"Line {then}.", (f"Line {line}." for line in near if line != then), one
        )

    def _count(self, one: AnswerStatement) -> Iterator[ClosedQuestion]:
        if one.in_loop or not is_start(self.asked, one.body):
            return
        if not (one.counted or self._is_exact):
            return
        count = self._runs[one.body].count if one.body in self._runs else 0
        sizes = [size for _, seen in self.scene.call.args for size in seen.shape or ()]
        others = [*sizes, count + 1, count - 1, 2 * count, count + 2]
        wrong = (_times(other) for other in others if other >= 0 and other != count)
        text = f"How often does the body of the loop in line {one.first} run?"
        yield self._question(ClosedKind.COUNT, text, _times(count), wrong, one)

    def first_lines(self) -> Iterator[ClosedQuestion]:
        """Which line is the first to assign something of a shape: only where all that is assigned is known."""
        name = self.scene.call.name
        if [*self.scene.call.frames] != [(name, 1)]:
            return  # another function of the cell assigns, too
        inside = [(number, one) for number, one in enumerate(self.code.statements) if one.function == name]
        simple = all(
            one.sort in (Sort.ASSIGN, Sort.RETURN, Sort.CALL, Sort.OTHER)
            and one.simple
            and self.code.is_clear(number)
            for number, one in inside
        )
        if not simple or self._may_change_in_place() or not _assigns_names_only(self.code, name):
            return
        shapes: dict[tuple[int, ...], AnswerStatement] = {}
        lines: list[AnswerStatement] = []
        for number, one in inside:
            run = self._runs.get(number)
            if one.sort != Sort.ASSIGN or run is None:
                continue
            lines.append(one)
            for variable, seen in run.values:
                if variable not in self.code.parts and seen.shape:
                    shapes.setdefault(seen.shape, one)
        for shape, one in shapes.items():
            if self.asked.given(one):
                continue
            wrong = (f"Line {other.first}." for other in lines if other is not one)
            text = f"Which line is the first that assigns a variable of shape `{as_tuple(shape)}`?"
            yield self._question(ClosedKind.FIRST, text, f"Line {one.first}.", wrong, None, str(shape))

    def taken_out(self) -> Iterator[ClosedQuestion]:
        for number, effect in self.scene.effects.items():
            one = self.code.statements[number]
            yield from self._stops(one, effect)
            if effect.effect not in _EFFECTS or number in self.code.needed:
                continue
            if effect.effect == "same" and not self._is_exact:
                continue
            if effect.effect == "values" and not is_certain(self.asked, self.scene):
                continue
            right = _EFFECTS[effect.effect]
            wrong = [text for text in _EFFECTS.values() if text != right]
            text = f"Line {one.first} is taken out. What does the call do then?"
            yield self._question(ClosedKind.TAKEN_OUT, text, right, wrong, one)

    def _stops(self, one: AnswerStatement, effect: Effect) -> Iterator[ClosedQuestion]:
        """Where the call stops without a line."""
        error = effect.error
        if effect.effect != "error" or error is None or error.line < 1:
            return
        place = self.code.lines[error.line] if error.line < len(self.code.lines) else -1
        if place < 0 or not self.code.is_clear(place) or raises(self.asked, place):
            return
        if self.code.statements[place].first != self.code.statements[place].last:
            return  # Python may name any of its lines
        needed = one in [self.code.statements[number] for number in self.code.needed]
        if needed and error.type not in ("NameError", "UnboundLocalError"):
            return
        stop = self.code.statements[place].first
        ran = [self.code.statements[number] for number in self._runs]
        # who takes the line out and runs the cell reads the number that the line of the exception has then
        moved = stop - (one.last - one.first + 1) if one.first < stop else stop
        unclear = (stop, one.first, moved, *self._passed(error))
        lines = {other.first for other in ran if other.function and other.first not in unclear}
        near = sorted(lines, key=lambda line: (line < one.first, abs(line - stop)))
        wrong = [*(f"In line {line}." for line in near[:2]), "It does not stop."]
        text = (
            f"Line {one.first} is taken out; the others keep their numbers. Where does the call then stop with an "
            "exception?"
        )
        yield self._question(ClosedKind.STOPS, text, f"In line {stop}.", wrong, one)

    def _passed(self, error: Raised) -> set[int]:
        """The lines that an exception went through after its own: some say that the call stops there."""
        numbers = {self.code.lines[line] for line in error.through if 0 < line < len(self.code.lines)}
        return {self.code.statements[number].first for number in numbers if number >= 0}

    def _other_shapes(self, shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Shapes that other lines or inputs have, or that a misreading would give."""
        call = self.scene.call
        values = [seen for run in call.runs for _, seen in run.values]
        seen = [one.shape for one in (*values, *(arg for _, arg in call.args), call.result) if one.shape]
        near = [other for other in seen if len(other) == len(shape)]
        if len(shape) > 1:
            near += [(*shape[:-2], shape[-1], shape[-2]), (*shape[:-1], 1), shape[:-1]]
        yield from near
        yield from seen
        yield (*shape, 1)
        yield (1, *shape)
        yield (*shape[:-1], shape[-1] + 1)

    def _other_values(self, seen: SeenValue) -> Iterator[str]:
        call = self.scene.call
        values = [one for run in call.runs for _, one in run.values] + [one for _, one in call.args]
        for other in (*values, call.result):
            if other.text and other.type == seen.type and not other.shape:
                yield other.text
            yield from (str(size) for size in other.shape or () if seen.type == "int")
        value = ast.literal_eval(seen.text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            for number in (value + 1, value * 2, value - 1, -value):
                yield repr(round(number, 3))


def _failing(
    asked: Asked, calls: Sequence[TracedCall], varied: Sequence[TracedCall]
) -> Iterator[ClosedQuestion]:
    """Which of three calls of a function stops with an exception."""
    for name in dict.fromkeys(call.name for call in calls if call.name):
        mine = [call for call in (*varied, *calls) if call.name == name]
        shown = {inputs_of(call): call for call in mine if _is_described(call)}
        failing = [call for call in shown.values() if call.error]
        working = [call for call in shown.values() if not call.error]
        if any(call.error.type == "AssertionError" for call in failing if call.error):
            continue
        for bad in failing[:2]:
            chosen = sorted([bad, *working[:2]], key=inputs_of)
            text = "Which of these calls stops with an exception?"
            letters = [f"Call {'ABC'[place]}." for place in range(len(chosen))]
            right = letters[chosen.index(bad)]
            wrong = [letter for letter in letters if letter != right]
            yield _made(asked, ClosedKind.FAILS, text, right, wrong, chosen, None, "")


def _is_described(call: TracedCall) -> bool:
    """True if the page shows the contents of each input, or its shape: nothing follows from a name, as of a model."""
    return is_shown(call) and all(seen.about or seen.shape is not None for _, seen in call.args)


def _is_of_unknown_object(scene: Scene) -> bool:
    """True for a method of an object that another class made: its sizes aren't shown."""
    name = scene.call.name
    return "." in name and not name.endswith(".__init__") and scene.made is None


def _made(
    asked: Asked, kind: ClosedKind, text: str, right: str, wrong: Iterable[str], calls: Sequence[TracedCall],
    one: AnswerStatement | None, about: str,
) -> ClosedQuestion:  # fmt: skip
    shown = tuple((title_of(call), inputs_of(call)) for call in calls)
    others = tuple(_different(right, wrong))[:WRONG_AT_MOST]
    place = (one.first, one.key) if one else (0, "")
    return ClosedQuestion(
        *(kind, asked.notebook, asked.cell, place[0], text, right, shown),
        wrong=others, about=about, key=place[1],
    )  # fmt: skip


def _different(right: str, wrong: Iterable[str]) -> Iterator[str]:
    """Options that differ from the right one and from each other, also as numbers: 2 and 2.0 are one."""
    known = [_meaning(right)]
    for text in wrong:
        if _meaning(text) not in known:
            known.append(_meaning(text))
            yield text


def _meaning(text: str) -> object:
    try:
        return ast.literal_eval(text.strip("`"))
    except (SyntaxError, ValueError):
        return text


def _is_unrounded(seen: SeenValue) -> bool:
    """True if the page shows all digits, as of 0.5, and not of 1/3 or 12.345."""
    exact, about = (
        _meaning(re.sub(r"-?\b(?:inf|nan)\b", r"'\g<0>'", text)) for text in (seen.text, seen.about)
    )
    return seen.type == "function" or exact == about


def _is_scalar(seen: SeenValue) -> bool:
    """True for a number or a short text, of which a reader can tell apart more than two."""
    known = seen.type in ("int", "float", "str") and seen.text.lstrip("-") not in ("", "inf", "nan")
    return known and "`" not in seen.text and not isinstance(_meaning(seen.text), bool)


def _assigns_names_only(code: ProbedCode, function: str) -> bool:
    tree = ast.parse(code.as_written)
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == function.rpartition(".")[2]
    ]
    if len(nodes) != 1 or any(isinstance(one, ast.NamedExpr) for one in ast.walk(nodes[0])):
        return False
    assigned = [one for one in ast.walk(nodes[0]) if isinstance(one, ast.Assign | ast.AnnAssign)]
    targets = [
        target for one in assigned for target in getattr(one, "targets", [getattr(one, "target", None)])
    ]
    flat = [
        part for one in targets for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])
    ]
    return all(isinstance(part, ast.Name) for part in flat)


def _times(count: int) -> str:
    return "Never." if count == 0 else "Once." if count == 1 else f"{count} times."
