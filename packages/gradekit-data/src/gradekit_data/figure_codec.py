"""The contents of a matplotlib figure, as plain values for a check to look at."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from msgspec import Meta

from gradekit.codecs import Codec, Drawing, Tolerance, describe
from gradekit.course.printing import counted
from gradekit.inside.arrays import Numpy, is_array, to_numpy
from gradekit.inside.packing import PackingError
from gradekit_data.figure_packer import MAX_AXES, MAX_PARTS, MAX_WORDS, FigurePacker

Words = Annotated[str, Meta(max_length=MAX_WORDS)]
Texts = Annotated[tuple[Words, ...], Meta(max_length=MAX_PARTS)]
Span = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A line of `plot`: its points in order, and how it is drawn.

    `color` is "#1f77b4", `style` "-", "--", "-.", ":" or "None", `marker` "o" or "None". Dates and categories are
    numbers, as matplotlib places them. A label that matplotlib made up is empty.
    """

    x: np.ndarray
    y: np.ndarray
    label: Words
    color: Words
    style: Words
    marker: Words
    width: float

    def __post_init__(self) -> None:
        _same_length(self.x, self.y)


@dataclass(frozen=True)
class Bars:
    """The bars of one call of `bar`, `barh` or `hist`.

    `positions` are the centers of the bars, `heights` their lengths from `bottoms`, even where they are horizontal.
    """

    positions: np.ndarray
    heights: np.ndarray
    widths: np.ndarray
    bottoms: np.ndarray
    label: Words
    color: Words
    horizontal: bool

    def __post_init__(self) -> None:
        _same_length(self.positions, self.heights, self.widths, self.bottoms)


@dataclass(frozen=True)
class Points:
    """The points of one call of `scatter`; `values` are the numbers that choose their colors, if there are any."""

    x: np.ndarray
    y: np.ndarray
    sizes: np.ndarray
    values: np.ndarray | None
    label: Words
    color: Words

    def __post_init__(self) -> None:
        _same_length(self.x, self.y)


@dataclass(frozen=True)
class Image:
    """The array of `imshow`, `pcolormesh` or a heatmap; `limits` are the values at the ends of the colormap."""

    values: np.ndarray
    colormap: Words
    limits: tuple[float | None, float | None]
    origin: Words

    def __post_init__(self) -> None:
        if not 0 < self.values.ndim <= 3:
            raise ValueError("an image that is not an array of pixels")


@dataclass(frozen=True)
class Axes:
    """One pair of axes. `legend` is None if there is none; `wedges` are the shares of a pie.

    `marks` has the positions of all separate marks, whether drawn by `scatter` or by `plot` without a line.
    """

    title: Words
    xlabel: Words
    ylabel: Words
    xlim: Span
    ylim: Span
    xscale: Words
    yscale: Words
    xticks: np.ndarray
    yticks: np.ndarray
    xticklabels: Texts
    yticklabels: Texts
    legend: Texts | None
    texts: Texts
    lines: Annotated[tuple[Line, ...], Meta(max_length=MAX_PARTS)]
    bars: Annotated[tuple[Bars, ...], Meta(max_length=MAX_PARTS)]
    points: Annotated[tuple[Points, ...], Meta(max_length=MAX_PARTS)]
    images: Annotated[tuple[Image, ...], Meta(max_length=MAX_PARTS)]
    wedges: np.ndarray
    projection: Words

    @property
    def marks(self) -> Numpy:
        """Positions of the marks, sorted by x: an array of shape (number of marks, 2)."""
        loose = [line for line in self.lines if line.style in ("None", "", " ") and line.marker != "None"]
        parts: list[Points | Line] = [*self.points, *loose]
        groups = [np.stack([part.x, part.y], axis=1) for part in parts]
        found = np.concatenate([np.empty((0, 2)), *groups])
        return found[np.lexsort((found[:, 1], found[:, 0]))]


@dataclass(frozen=True)
class Figure(Drawing):
    """A figure: its axes in the order of their creation, without colorbars; `title` is that of `suptitle`."""

    axes: Annotated[tuple[Axes, ...], Meta(max_length=MAX_AXES)]
    title: Words
    legend: Texts
    colorbars: Annotated[int, Meta(ge=0, le=MAX_AXES)]
    size: Span
    noun: ClassVar[str] = "figure"

    @property
    def is_empty(self) -> bool:
        return not self.axes

    @property
    def type_name(self) -> str:
        """The name of the figure's type in a message."""
        return f"figure with {counted(len(self.axes), 'pair')} of axes"


def read_figure(data: Any) -> Figure:
    """The figure from which `FigurePacker` made `data`.

    Raises:
        PackingError: `data` isn't a packed figure.
    """
    try:
        return msgspec.convert(data, Figure, dec_hook=_vector)
    except (msgspec.ValidationError, ValueError) as error:
        raise PackingError(f"whose parts are not those of a figure ({str(error)[:100]})") from None


class FigureCodec(Codec):
    """Figures, which are looked at in parts and never compared as a whole."""

    packer = FigurePacker
    kernel_modules = ("gradekit_data.figure_packer",)

    def takes(self, value: Any) -> bool:
        return FigurePacker().takes(value)

    def unpack(self, data: Any) -> Figure:
        return read_figure(data)

    def describe(self, value: Any) -> str:
        return "a figure"

    def difference(self, actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
        return f"is {describe(actual)}, which can't be compared with a figure"

    def fingerprint(self, value: Any) -> tuple[str, Numpy | None]:
        return "a figure", None


def _vector(kind: Any, value: Any) -> Numpy:
    """A NumPy array of numbers, whatever kind of array arrived."""
    found = to_numpy(value) if kind is np.ndarray and is_array(value) else None
    if found is None or found.dtype.kind not in "biuf":
        raise ValueError("something other than an array")
    return found


def _same_length(*arrays: Numpy) -> None:
    if any(array.shape != (len(arrays[0]),) for array in arrays):
        raise ValueError("arrays of different lengths")
