"""Parts of pages that are computed: facts for the landing page, the syllabus, the gallery."""

from dataclasses import replace
from html import escape
from pathlib import Path

from building.badges import repository
from building.notebooks import Figure
from building.syllabus import Part, concept_map, plan, table

_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_TERMS = (6, 10, 14)
_FIRST = "02_attention"
#: figures of the landing page: the assignment, and a word of the description
_SHOWN = (
    ("01_positional_encoding", "heatmap"),
    ("02_attention", "heatmap"),
    ("07_inside_pretrained", ""),
    ("08_modern", "loss"),
)


def write_parts(parts: list[Part], figures: list[Figure], generated: Path) -> None:
    """Write what pages include to `parts/` in `generated`, and the page of the gallery."""
    folder = generated / "parts"
    folder.mkdir(parents=True)
    texts = {
        "facts.md": _facts(parts, figures),
        "learner.md": _first(figures),
        "strip.md": _strip(figures),
        "table.md": table(parts),
        "map.md": f"```{{raw}} html\n{concept_map(parts)}\n```",
        "get-it.md": get_it(),
        **{f"weeks-{count}.md": plan(parts, count) for count in _TERMS},
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
    (generated / "gallery.md").write_text(_gallery(parts, figures), encoding="utf-8")


def _number(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)


def _facts(parts: list[Part], figures: list[Figure]) -> str:
    hours = sum(part.hours for part in parts)
    exercises = sum(len(part.exercises) for part in parts)
    return (
        f"{_number(len(parts)).capitalize()} notebooks, {exercises} exercises, {len(figures)} figures, about "
        f"{hours:.0f} hours. No GPU. Code is graded by hidden checks that say what is wrong, not only that "
        "something is."
    )


def _first(figures: list[Figure]) -> str:
    """A figure for the learner's door."""
    chosen = next(figure for figure in figures if figure.assignment == _FIRST)
    return chosen.html("").replace("<img ", '<img class="figure-of-door" ')


def _strip(figures: list[Figure]) -> str:
    """A few figures, each with a link to its place in the notebook."""
    shown = []
    for assignment, word in _SHOWN:
        mine = [figure for figure in figures if figure.assignment == assignment]
        chosen = next((figure for figure in mine if word in figure.description), None)
        if chosen:
            shown.append(_linked(chosen, ""))
    return f'<div class="strip">{"".join(shown)}</div>'


def _linked(figure: Figure, up: str) -> str:
    anchor = Path(figure.file).stem
    return f'<a href="{up}{figure.page}.html#figure-{anchor}">{figure.html(up)}</a>'


def _gallery(parts: list[Part], figures: list[Figure]) -> str:
    """All figures, notebook by notebook."""
    lines = [
        "# Gallery",
        "",
        "All figures of the notebooks, as they look when everything is right. Each leads to its place in the notebook. Below each is "
        "its description, as in the notebook, for readers who can't see it.",
        "",
    ]
    for part in parts:
        mine = [figure for figure in figures if figure.assignment == part.name]
        lines += [f"## {part.number} · {part.title}", "", '<div class="gallery">']
        for number, figure in enumerate(mine, 1):
            short = replace(figure, description=f"{part.number} · {part.title}, figure {number}")
            caption = escape(figure.description)
            lines.append(f"<figure>{_linked(short, '../')}<figcaption>{caption}</figcaption></figure>")
        lines += ["</div>", ""]
    return "\n".join(lines)


def get_it() -> str:
    """How to get the whole course; where the repository is, only if that is known."""
    place = repository()
    if place is None:
        return (
            "The course has no public address yet: ask the person or the institution that published this site for its "
            "folder. To learn alone, you can also ask for its [packages](alone.md#as-a-package). In the folder, run:"
        )
    return f"```\ngit clone https://github.com/{place}.git\ncd {place.split('/')[1]}\n```\n\nThen run:"
