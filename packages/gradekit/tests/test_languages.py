"""Students' pages in other languages: every fixed text is in the catalogue, and German is complete."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import jinja2
import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po, write_po
from bs4 import BeautifulSoup
from jinja2 import nodes

import gradekit
from gradekit.attempts import time_in_words
from gradekit.course import CourseError
from gradekit.course.language import _, current_language, ngettext, speaking
from gradekit.verdict.results import points_in_words, score_in_words

from .test_attempt_line import NOON, Student

PACKAGE = Path(__file__).parents[1]
SOURCE = PACKAGE / "src" / "gradekit"
#: writes letters about new scores, whose texts are in the same catalogues
AUTHORING = PACKAGE.with_name("gradekit-authoring") / "src" / "gradekit_authoring"
TEMPLATE = SOURCE / "page" / "templates" / "feedback.html.j2"
INSTALLED = Path(gradekit.__file__).parent / "languages"
LANGUAGES = sorted((SOURCE / "languages").glob("*.po"))
#: the modules with fixed texts of the page and of letters
PAGE_MODULES = [
    *(SOURCE / "page" / f"{name}.py" for name in ("check_table", "headings", "markdown", "page_parts")),
    SOURCE / "nbgrader_plugin" / "feedback.py",
    SOURCE / "attempts" / "attempt_line.py",
    SOURCE / "attempts" / "__init__.py",
    SOURCE / "verdict" / "results.py",
    AUTHORING / "letters.py",
]
MARKS = {"_", "N_", "ngettext", "gettext"}
#: text for people: two words, or one that begins with a capital letter
WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]+\b")
#: what only instructors and programs read
NOT_SHOWN = re.compile(
    r"This notebook was autograded by another version of gradekit"
    r"|hand-ins in a period|length of a period in hours|minutes between|what a page shows before|minutes after"
    r"|which attempt is in|other rules for single|a result of another version"
)


def ids(catalog: Catalog) -> set[object]:
    return {message.id for message in catalog if message.id}


def extracted() -> set[object]:
    """What `pybabel extract` finds."""
    with (PACKAGE / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    folders = SOURCE, AUTHORING
    return {message for folder in folders for *_, message, _, _ in extract_from_dir(folder, methods, options)}


def is_for_people(text: str) -> bool:
    visible = re.sub(r"<[^>]*(>|$)|[\w-]+: ?[^;:]+;", " ", text).strip()
    return bool(WORDS.search(visible)) and not NOT_SHOWN.search(text)


def unmarked_in_module(source: str) -> list[str]:
    """Strings for people that no translator gets to see."""
    return [text for text in _strings(ast.parse(source)) if is_for_people(text)]


def _strings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS:
        for keyword in node.keywords:
            yield from _strings(keyword.value)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "warning":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            yield from _strings(child)


def unmarked_in_template(source: str) -> list[str]:
    """Letters between the tags of a template, and strings in its expressions, that are not translated."""
    tree = jinja2.Environment(extensions=["jinja2.ext.i18n"]).parse(source)
    data = "".join(node.data for node in tree.find_all(nodes.TemplateData))
    data = re.sub(r"<style>.*?</style>", " ", data, flags=re.DOTALL)
    found = re.findall(r"[^\W\d_]{2,}", re.sub(r"<[^>]*>", " ", data))
    marked = {
        id(argument)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in MARKS
        for argument in call.args
    }
    strings = (node for node in tree.find_all(nodes.Const) if id(node) not in marked)
    return found + [
        node.value for node in strings if isinstance(node.value, str) and is_for_people(node.value)
    ]


@pytest.mark.slow
def test_the_template_of_the_catalogue_has_every_marked_text():
    """If this fails, run `pybabel extract` as CONTRIBUTING.md says."""
    with (SOURCE / "languages" / "gradekit.pot").open("rb") as file:
        assert ids(read_po(file)) == extracted()
    assert "Try it yourself" in extracted() and "What to look at first" in extracted()


@pytest.mark.parametrize("module", PAGE_MODULES, ids=lambda path: path.stem)
def test_no_module_of_the_page_has_a_fixed_text_that_is_not_marked(module):
    assert unmarked_in_module(module.read_text()) == []


def test_no_template_of_the_page_has_a_fixed_text_that_is_not_marked():
    assert unmarked_in_template(TEMPLATE.read_text()) == []


def test_a_text_that_is_not_marked_is_found():
    found = unmarked_in_module('x = f"<b>Your score</b>: {y}"\nz = "Result"')
    assert found == ["<b>Your score</b>: ", "Result"]
    assert unmarked_in_module('_("Your score %(n)s", n="of points")') == ["of points"]
    assert unmarked_in_template('<p class="x y">Hello {{ _("Bye") }} {{ "Well done" if x == "no" }}</p>') == [
        "Hello",
        "Well done",
    ]


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_a_language_is_complete_and_names_the_same_values(path):
    with path.open("rb") as file:
        catalog = read_po(file, locale=path.stem)
    assert ids(catalog) == extracted()
    texts = {message.id: message.string for message in catalog if message.id}
    plurals = [text if isinstance(text, tuple) else (text,) for text in texts.values()]
    assert all(all(forms) for forms in plurals)
    assert not catalog.obsolete and not any(message.fuzzy for message in catalog if message.id)
    assert [errors for _, errors in catalog.check()] == []


def test_german_is_there():
    assert "de" in [path.stem for path in LANGUAGES] and (INSTALLED / "de.po").is_file()


@pytest.mark.parametrize(
    ("points", "english", "german"),
    [
        (0, "0 points", "0 Punkte"),
        (1, "1 point", "1 Punkt"),
        (2.5, "2.5 points", "2.5 Punkte"),
        (0.5, "0.5 points", "0.5 Punkte"),
        (12, "12 points", "12 Punkte"),
    ],
)
def test_plural_forms_follow_the_language_and_numbers_stay_as_they_are(points, english, german):
    assert points_in_words(points) == english
    with speaking("de"):
        assert points_in_words(points) == german
        assert score_in_words(1, 5) == "1 von 5 Punkten"
        assert time_in_words(datetime(2026, 5, 3, 14, 5, tzinfo=UTC)) == "3. Mai, 14:05 Uhr UTC"
    assert time_in_words(datetime(2026, 5, 3, 14, 5, tzinfo=UTC)) == "14:05 UTC on 3 May"


def test_the_attempt_line_is_in_the_language_of_the_course():
    student = Student().hand_in(0)
    assert student.reads(1).sentences[0] == "4 of 5 left until 12:00 UTC on 4 May."
    with speaking("de"):
        line = student.reads(1)
    assert line.sentences == (
        "Noch 4 von 5 Versuchen bis 4. Mai, 12:00 Uhr UTC.",
        "Dieser Versuch zählt, wenn du nicht noch einmal abgibst.",
    )
    assert NOON.month == 5


def configured(course, language: str):
    config = course.root / "nbgrader_config.py"
    line = f"c.FeedbackPage.language = {language!r}\nconfigure("
    config.write_text(config.read_text().replace("configure(", line))
    if "c = get_config()" not in config.read_text():
        config.write_text("c = get_config()\n" + config.read_text())
    return course


def own_catalogue(course, language: str, translate) -> Path:
    """A catalogue in the course's folder, as a translator makes it from the template."""
    with (INSTALLED / "gradekit.pot").open("rb") as file:
        template = read_po(file)
    catalog = Catalog(locale=language)
    for message in template:
        if message.id:
            forms = message.id if isinstance(message.id, tuple) else (message.id,)
            strings = [translate(forms[min(index, len(forms) - 1)]) for index in range(catalog.num_plurals)]
            string = tuple(strings) if len(forms) > 1 else strings[0]
            catalog.add(message.id, string, flags=message.flags)
    path = course.root / "languages" / f"{language}.po"
    path.parent.mkdir()
    with path.open("wb") as file:
        write_po(file, catalog)
    return path


def pages(course, student: str = "*") -> dict[str, str]:
    done = course.run("nbgrader", "generate_feedback", "01_double", "--force", f"--student={student}")
    assert done.returncode == 0, done.stderr
    return {
        path.parts[-3]: path.read_text() for path in (course.root / "feedback").glob("*/01_double/*.html")
    }


@pytest.mark.slow
def test_a_course_can_bring_a_language_and_no_fixed_text_stays_english(graded_class):
    """Every text of this language is in brackets, so anything outside of them is not in the catalogue."""
    own_catalogue(configured(graded_class, "fr"), "fr", lambda text: f"⟦{text}⟧")
    found = pages(graded_class)
    assert {"right", "mistake", "exception", "loop", "exits", "blank", "broken"} <= set(found)
    for student, html in found.items():
        page = BeautifulSoup(html, "html.parser")
        assert page.html["lang"] == "fr"
        result = graded_class.autograded(student).metadata.gradekit
        theirs = [*result["notes"], *result["cells"], student, "01_double", "test_", "double", "half", "why"]
        theirs += [cell.source for cell in graded_class.assignment.released("double").cells]
        for exercise in result["exercises"]:
            for check in exercise["checks"]:
                theirs += [check[name] for name in ("sentence", "message", "diagnosis", "relation", "tried")]
        for element in page(["style", "pre"]):
            element.decompose()
        labels = [element["data-label"] for element in page.find_all(attrs={"data-label": True})]
        text = page.get_text() + " ".join(labels)
        for known in sorted(theirs, key=len, reverse=True):
            text = text.replace(known.replace("`", ""), "")
        inside = None
        while text != inside:
            inside, text = text, re.sub(r"⟦[^⟦⟧]*⟧", "", text)
        assert (student, re.findall(r"[^\W\d_]{3,}", text)) == (student, [])


def test_a_language_of_a_country_is_named_as_html_and_babel_do(tiny_course):
    own_catalogue(tiny_course, "pt_BR", lambda text: text)
    with speaking("pt_BR", tiny_course.root):
        assert current_language() == "pt-BR"
        assert time_in_words(datetime(2026, 5, 3, 14, 5, tzinfo=UTC)) == "14:05 UTC on 3 maio"


def test_a_german_page(graded_class):
    page = BeautifulSoup(pages(configured(graded_class, "de"), "floor")["floor"], "html.parser")
    text = " ".join(page.get_text().split())
    assert page.html["lang"] == "de"
    for part in (
        "Feedback für floor",
        "Status: bewertet. Alle Prüfungen sind gelaufen.",
        "15 von 20 Punkten",
    ):
        assert part in text


@pytest.mark.parametrize("language", ["xx", "../de", "German"])
def test_a_language_without_a_catalogue_is_refused_in_a_sentence(graded_class, language):
    done = configured(graded_class, language).run("nbgrader", "generate_feedback", "01_double", "--force")
    assert done.returncode != 0
    assert f"c.FeedbackPage.language: there is no catalogue for {language!r}, only for de, en" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_translation_that_names_another_value_is_refused_with_its_text(tiny_course):
    path = own_catalogue(tiny_course, "fr", lambda text: text.replace("%(student)s", "%(name)s"))
    with pytest.raises(CourseError, match=r"fr\.po.*%\(student\)s"), speaking("fr", tiny_course.root):
        pass
    for content, what in [
        ("hello there\n", "can't be read"),
        ('msgid ""\nmsgstr ""\n', "has no texts"),
    ]:
        path.write_text(content)
        with pytest.raises(CourseError, match=rf"fr\.po {what}"), speaking("fr", tiny_course.root):
            pass


def test_outside_of_a_page_everything_is_english():
    with speaking("de"):
        assert _("passed") == "bestanden"
        assert _("") == ""
    assert _("passed") == "passed"
    assert ngettext("%(points)s point", "%(points)s points", 1, points=1) == "1 point"
