"""Packs the contents of a matplotlib figure as plain data; runs in the student's kernel.

A figure only travels to the grader, where it becomes a `gradekit_data.figure_codec.Figure`.
"""

import sys
from typing import Any

import numpy as np

from gradekit.inside.packing import Packer, PackingError

#: the most axes in a figure, and the most lines, texts and so on of each kind in one of its axes
MAX_AXES, MAX_PARTS = 100, 500
MAX_WORDS = 1_000


class FigurePacker(Packer):
    """Figures, and axes as the figure that they are in."""

    def takes(self, value: Any) -> bool:
        return not isinstance(value, list | tuple) and self.drawing_of(value) is not None

    def drawing_of(self, value: Any) -> Any:
        """The figure of a value: a figure, axes, several axes, or a seaborn grid; None for anything else."""
        module = sys.modules.get("matplotlib.figure")
        if module is None:
            return None
        if isinstance(value, np.ndarray) and value.dtype == object and value.size:
            value = value.flat[0]
        elif isinstance(value, list | tuple) and value:
            value = value[0]
        try:
            found = value if isinstance(value, module.Figure) else getattr(value, "figure", None)
        except Exception:  # a property of the student's own class
            return None
        return found if isinstance(found, module.Figure) else None

    def pack(self, value: Any) -> Any:
        figure = self.drawing_of(value)
        everything = list(figure.axes)
        axes = [part for part in everything if not hasattr(part, "_colorbar")]
        if len(axes) > MAX_AXES:
            raise PackingError(f"the figure has more than {MAX_AXES} axes")
        return {
            "axes": [_axes(part) for part in axes],
            "title": _words(figure.get_suptitle()),
            "legend": [_words(text.get_text()) for legend in figure.legends for text in legend.get_texts()],
            "colorbars": len(everything) - len(axes),
            "size": [float(inches) for inches in figure.get_size_inches()],
        }


def _axes(axes: Any) -> dict[str, Any]:
    from matplotlib import collections, container, image, patches

    legend = axes.get_legend()
    titles = [axes.get_title(loc=place) for place in ("center", "left", "right")]
    bars = [part for part in axes.containers if isinstance(part, container.BarContainer)]
    points = [part for part in axes.collections if isinstance(part, collections.PathCollection)]
    meshes = [part for part in axes.collections if isinstance(part, collections.QuadMesh)]
    pictures = [part for part in axes.images if isinstance(part, image.AxesImage)]
    wedges = [part for part in axes.patches if isinstance(part, patches.Wedge)]
    return {
        "title": _words(next(filter(None, titles), "")),
        "xlabel": _words(axes.get_xlabel()),
        "ylabel": _words(axes.get_ylabel()),
        "xlim": [float(end) for end in axes.get_xlim()],
        "ylim": [float(end) for end in axes.get_ylim()],
        "xscale": str(axes.get_xscale()),
        "yscale": str(axes.get_yscale()),
        "xticks": _floats(axes.get_xticks()),
        "yticks": _floats(axes.get_yticks()),
        "xticklabels": _texts(axes.get_xticklabels()),
        "yticklabels": _texts(axes.get_yticklabels()),
        "legend": None if legend is None else _texts(legend.get_texts()),
        "texts": _texts(axes.texts),
        "lines": [_line(part) for part in _few(axes.lines, "lines")],
        "bars": [_bars(part) for part in _few(bars, "groups of bars")],
        "points": [_points(part) for part in _few(points, "groups of points")],
        "images": [_image(part) for part in _few([*pictures, *meshes], "images")],
        "wedges": _floats([(part.theta2 - part.theta1) / 360 for part in wedges]),
        "projection": str(axes.name),
    }


def _line(line: Any) -> dict[str, Any]:
    return {
        "x": _floats(line.get_xdata(orig=False)),
        "y": _floats(line.get_ydata(orig=False)),
        "label": _label(line),
        "color": _color(line.get_color()),
        "style": str(line.get_linestyle()),
        "marker": str(line.get_marker()),
        "width": float(line.get_linewidth()),
    }


def _bars(group: Any) -> dict[str, Any]:
    boxes = np.array(
        [[b.get_x(), b.get_y(), b.get_width(), b.get_height()] for b in group.patches], np.float64
    )
    x, y, width, height = boxes.reshape(-1, 4).T
    lying = group.orientation == "horizontal"
    along, across, start, length = (y, height, x, width) if lying else (x, width, y, height)
    return {
        "positions": _floats(along + across / 2),
        "heights": _floats(length),
        "widths": _floats(across),
        "bottoms": _floats(start),
        "label": _label(group),
        "color": _color(group.patches[0].get_facecolor()) if group.patches else "",
        "horizontal": bool(lying),
    }


def _points(points: Any) -> dict[str, Any]:
    places = np.ma.filled(points.get_offsets().astype(np.float64), np.nan).reshape(-1, 2)
    colors, values = points.get_facecolor(), points.get_array()
    return {
        "x": _floats(places[:, 0]),
        "y": _floats(places[:, 1]),
        "sizes": _floats(points.get_sizes()),
        "values": None if values is None else _floats(values),
        "label": _label(points),
        "color": _color(colors[0]) if len(colors) else "",
    }


def _image(image: Any) -> dict[str, Any]:
    values = image.get_array()
    array = np.ma.filled(values.astype(np.float64), np.nan) if np.ma.is_masked(values) else np.asarray(values)
    return {
        "values": array if array.dtype.kind in "biuf" and array.itemsize <= 8 else array.astype(np.float64),
        "colormap": str(image.get_cmap().name),
        "limits": [None if end is None else float(end) for end in image.get_clim()],
        "origin": str(getattr(image, "origin", "lower")),
    }


def _few(parts: Any, kind: str) -> Any:
    if len(parts) > MAX_PARTS:
        raise PackingError(f"the figure has more than {MAX_PARTS} {kind} in one pair of axes")
    return parts


def _floats(values: Any) -> Any:
    """The numbers as a new one-dimensional array."""
    return np.array(np.ma.filled(np.ma.asarray(values, np.float64), np.nan), np.float64).ravel()


def _texts(parts: Any) -> list[str]:
    return [_words(part.get_text()) for part in _few(parts, "texts")]


def _label(part: Any) -> str:
    """The label, unless matplotlib made it up."""
    label = str(part.get_label() or "")
    return "" if label.startswith("_") else _words(label)


def _color(color: Any) -> str:
    from matplotlib import colors

    try:
        return colors.to_hex(color)
    except ValueError:
        return ""


def _words(text: Any) -> str:
    return str(text)[:MAX_WORDS]
