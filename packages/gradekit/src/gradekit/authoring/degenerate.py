"""Answers that compute nothing: zeros, ones, NaN, or the input, in the shape of the right output.

They are made from the solution of every answer cell, and show which checks such an answer passes. A check of a shape
or a dtype may pass, but such an answer must not earn a whole exercise.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from gradekit.checks.variants import Variant
from gradekit.course import Assignment, read_notebook
from gradekit.course.cells import TEST_PREFIX, answer_of, find_cell, is_answer_cell
from gradekit.submission.names import defined_names

KINDS = ("zeros", "ones", "nan", "input")

# Runs in the kernel after the solution, and replaces what the cell has defined.
_REPLACE = """
def _degenerate(kind, names, namespace):
    import copy, functools, inspect, sys

    import numpy as np

    torch, pandas = sys.modules.get("torch"), sys.modules.get("pandas")
    number = {"zeros": 0, "ones": 1, "nan": float("nan"), "input": 0}[kind]

    def column(series):
        constant = np.full(len(series), number if number == number else np.nan)
        if pandas.api.types.is_bool_dtype(series.dtype) or pandas.api.types.is_integer_dtype(series.dtype):
            constant = np.nan_to_num(constant).astype(int)
        elif not pandas.api.types.is_float_dtype(series.dtype):
            return series.where(np.zeros(len(series), bool))
        return pandas.Series(constant, index=series.index, name=series.name).astype(series.dtype)

    def blank(figures):
        for figure in figures:
            figure.clear()

    def drawn():
        # with those that `plt.show()` has closed
        kept = getattr(sys.modules.get("gradekit.inside.agent"), "cell_figures", None)
        if kept:
            kept.notice()
        return kept.drawn_now() if kept else []

    def emptied(value, inputs):
        if torch and isinstance(value, torch.nn.Module):
            return value
        if "matplotlib.figure" in sys.modules and hasattr(value, "figure") and hasattr(value.figure, "clear"):
            blank([value.figure])
            return value
        if pandas and isinstance(value, (pandas.DataFrame, pandas.Series)):
            for other in inputs:
                if kind == "input" and type(other) is type(value) and other.shape == value.shape:
                    return other
            if isinstance(value, pandas.Series):
                return column(value)
            parts = {place: column(value.iloc[:, place]) for place in range(value.shape[1])}
            return pandas.DataFrame(parts, index=value.index).set_axis(value.columns, axis=1)
        if isinstance(value, np.ndarray):
            for other in inputs:
                if kind == "input" and isinstance(other, np.ndarray) and other.shape == value.shape:
                    return other.astype(value.dtype)
            exact = value.dtype.kind in "fc"
            return np.full_like(value, number if exact or number == number else 0)
        if torch and isinstance(value, torch.Tensor):
            for other in inputs:
                if kind == "input" and isinstance(other, torch.Tensor) and other.shape == value.shape:
                    return other.to(value.dtype)
            exact = value.is_floating_point() or value.is_complex()
            return torch.full_like(value, number if exact or number == number else 0)
        if isinstance(value, np.generic):
            return emptied(np.asarray(value), inputs)[()]
        if isinstance(value, bool):
            return bool(number == 1)
        if isinstance(value, int):
            return int(number == 1)
        if isinstance(value, float):
            return float(number)
        if isinstance(value, str):
            return ""
        if type(value) in (list, tuple):
            return type(value)(emptied(part, inputs) for part in value)
        if type(value) is dict:
            return {key: emptied(part, inputs) for key, part in value.items()}
        return value

    def apart(inputs):
        try:
            return copy.deepcopy(inputs)
        except Exception:
            return inputs

    def replaced(function, method=False):
        @functools.wraps(function)
        def run(*args, **kwargs):
            # changes that the function makes to its arguments are undone as well
            own_args, own_kwargs = (args, kwargs) if method else apart((args, kwargs))
            try:
                value = function(*own_args, **own_kwargs)
            except AssertionError:  # what a test that students write has for a result
                value = None
            blank(drawn())
            return emptied(value, [*args, *kwargs.values()])
        return run

    blank(drawn())
    if "get_ipython" in namespace:
        from IPython.display import clear_output

        clear_output()

    for name in names:
        value = namespace.get(name)
        if inspect.isclass(value):
            for method, function in list(vars(value).items()):
                public = not method.startswith("_") or method in ("__call__", "__len__")
                if inspect.isfunction(function) and public:
                    setattr(value, method, replaced(function, method=True))
        elif inspect.isfunction(value):
            namespace[name] = replaced(value)
        elif not inspect.ismodule(value):
            namespace[name] = emptied(value, [])

"""


@dataclass(frozen=True)
class Degenerate(Variant):
    """The solution of a cell, with everything that it returns replaced by zeros, ones, NaN or the input."""


def degenerate_answers(assignment: Assignment, only: str = "*") -> list[Degenerate]:
    """The degenerate answers of every answer cell, for each bound test cell that is about it."""
    found = []
    for path in assignment.source_notebooks():
        notebook = read_notebook(path)
        for test in assignment.bound_cells(path.stem, notebook.cells):
            name = answer_of(notebook, test)
            answer = find_cell(notebook, name)
            if answer is None or answer.cell_type != "code" or not is_answer_cell(answer):
                continue
            names = sorted(defined_names(answer.source))
            where = name if test == TEST_PREFIX + name else f"{name} in {test}"
            for kind in KINDS:
                source = f"{answer.source}\n{_REPLACE}\n_degenerate({kind!r}, {names!r}, globals())\n"
                found.append(Degenerate(f"{kind} for {where}", name, source=source, test=test))
    return [answer for answer in found if fnmatchcase(answer.name, only)]
