"""The figures of the class report, each with a description in words."""

import base64
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradekit.course import CourseError
from gradekit.course.printing import printable, shortened
from gradekit.report.statistics import AssignmentScores, quartiles
from gradekit.report.table import ClassTable, Row
from gradekit.session.values import CheckOutcome

try:
    import matplotlib

    matplotlib.use("Agg")  # the machine may have no display
    import matplotlib.pyplot as plt
    import seaborn as sns
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator
    from scipy.cluster import hierarchy
except ModuleNotFoundError as error:
    raise CourseError(
        f'the class report needs {error.name}, which is not installed: pip install "gradekit[report]"'
    ) from error

warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a name may have such letters
#: from seaborn's palette for the color-blind
BLUE, ORANGE = (sns.color_palette("colorblind")[index] for index in (0, 1))
PASSED_COLOR, FAILED_COLOR, NO_VERDICT_COLOR = "#cfe3f3", "#c44e00", "#4d4d4d"
_MAX_NAMES, _MAX_NAME, _MAX_LABEL = 60, 40, 44
#: scores above 100 %, by extra credit, are drawn at the edge
_DRAWN = (0, 100)


@dataclass(frozen=True)
class Picture:
    """A PNG as a data URL, and its alternative text."""

    address: str
    text: str


def score_distribution(results: ClassTable) -> Picture:
    scores = results.scores
    low, middle, high = quartiles(scores)
    drawn = np.clip(scores, *_DRAWN).tolist()
    figure, axes = _histogram(drawn, 10, 100, 2.5, "score (% of the points graded so far)")
    axes.axvline(np.median(drawn), color=ORANGE, linewidth=2.5)
    axes.set_title(f"median {middle:.0f}", loc="left", fontsize=10, color="#333333")
    axes.set(xlim=(0, 100))
    text = (
        f"Histogram of the scores of {len(scores)} students: median {middle:.0f} %, "
        f"the middle half from {low:.0f} to {high:.0f} %, lowest {min(scores):.0f}, highest {max(scores):.0f}."
    )
    return _picture(figure, text)


def outcome_map(results: ClassTable) -> Picture:
    """Students × checks, passed or not, with similar students and similar checks next to each other."""
    members = results.graded
    values = np.array([[_code(member, check.key) for check in results.checks] for member in members])
    missed = (values != 1).astype(float)
    rows, columns = _order(missed), _order(missed.T)
    named = len(members) <= _MAX_NAMES
    labels = [results.checks[index].label for index in columns]
    # matplotlib takes text between dollar signs for a formula
    names = [printable(members[index].student, _MAX_NAME).replace("$", r"\$") for index in rows]
    height = min(3 + 0.19 * len(members), 11)
    figure, axes = plt.subplots(figsize=(max(6, 3 + 0.25 * len(labels)), height + 1.8), layout="constrained")
    colors = {"passed": PASSED_COLOR, "failed": FAILED_COLOR, "no answer, or no verdict": NO_VERDICT_COLOR}
    sns.heatmap(
        values[np.ix_(rows, columns)],
        ax=axes, cmap=ListedColormap([NO_VERDICT_COLOR, FAILED_COLOR, PASSED_COLOR]), vmin=-1, vmax=1, cbar=False,
        linewidths=0.5 if named else 0, rasterized=True,
        xticklabels=[shortened(label, _MAX_LABEL) for label in labels], yticklabels=names if named else False,
    )  # fmt: skip
    axes.tick_params(length=0, labelsize=9)
    axes.set_ylabel("" if named else f"{len(members)} students", fontsize=11)
    handles = [Patch(facecolor=color, edgecolor="#888888", label=name) for name, color in colors.items()]
    figure.legend(handles=handles, loc="outside upper left", ncols=3, frameon=False, fontsize=11)
    share = missed.mean(axis=0)
    worst = sorted(range(len(share)), key=lambda index: -share[index])[:3]
    most = "; ".join(f"{results.checks[index].label} ({share[index]:.0%})" for index in worst)
    text = (
        f"Heatmap of {len(members)} students and {len(labels)} checks, clustered by which checks are missed. "
        f"Missed by most: {most}. The same data is in students.csv and in the table of checks."
    )
    return _picture(figure, text)


def progress_chart(stages: Sequence[AssignmentScores]) -> Picture:
    """The scores of each assignment as a box, in the order of the course."""
    figure, axes = plt.subplots(figsize=(6, 1.1 + 0.4 * len(stages)), layout="constrained")
    sns.boxplot(
        [np.clip(stage.scores, *_DRAWN) for stage in stages], orient="h", ax=axes, color=PASSED_COLOR, width=0.6,
        fliersize=3, medianprops={"color": ORANGE, "linewidth": 2.5},
    )  # fmt: skip
    axes.set_yticks(range(len(stages)), [stage.assignment for stage in stages])
    axes.set(xlabel="score (% of the points graded so far)", xlim=(-2, 102))
    medians = ", ".join(f"{stage.assignment} {stage.quartiles[1]:.0f} %" for stage in stages)
    return _picture(figure, f"Box plots of the scores of each assignment. Medians: {medians}.")


def time_distribution(seconds: Sequence[float]) -> Picture:
    middle, longest = float(np.median(seconds)), max(seconds)
    figure, _ = _histogram(seconds, 20, max(longest, 1.0), 2.1, "seconds to run and check a submission")
    text = f"Histogram of the time that grading took: median {middle:.1f} seconds, longest {longest:.1f} seconds."
    return _picture(figure, text)


def _histogram(
    values: Sequence[float], bins: int, highest: float, height: float, label: str
) -> tuple[Figure, Axes]:
    figure, axes = plt.subplots(figsize=(6, height), layout="constrained")
    axes.hist(values, bins=bins, range=(0, highest), color=BLUE, edgecolor="white")
    axes.set(xlabel=label, ylabel="students")
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    return figure, axes


def _code(member: Row, key: str) -> int:
    """1 passed, 0 failed, -1 no verdict."""
    result = member.outcomes.get(key)
    if result is None:
        return -1
    return {CheckOutcome.PASSED: 1, CheckOutcome.FAILED: 0}.get(result.outcome, -1)


def _order(missed: np.ndarray) -> list[int]:
    """The rows with similar ones next to each other (average linkage), starting where most is missed."""
    if len(missed) < 3:
        return list(range(len(missed)))
    tree = hierarchy.linkage(missed, method="average", metric="cityblock")
    order = [int(index) for index in hierarchy.leaves_list(tree)]
    half = len(order) // 2
    return order if missed[order[:half]].sum() >= missed[order[half:]].sum() else order[::-1]


def _picture(figure: Figure, text: str) -> Picture:
    for axes in figure.axes:
        sns.despine(ax=axes)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    plt.close(figure)
    return Picture("data:image/png;base64," + base64.b64encode(file.getvalue()).decode(), text)
