"""The fixed texts of students' pages and letters, in the language that the course has chosen.

A text is in English in the code, inside `_()`, `ngettext()` or a template's `trans`. Its translations are in
`languages/<language>.po`: in this package, or in the course's folder, which comes first.
"""

import gettext
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

from traitlets import Bool, Unicode
from traitlets.config import Configurable

from gradekit.course import CourseError

ENGLISH = "en"
_FOLDER = "languages"
_CODE = re.compile(r"[A-Za-z]{2,3}([-_]\w+)*")
_OURS = Path(__file__).parents[1] / _FOLDER


class FeedbackPage(Configurable):
    """Settings for students' pages."""

    language = Unicode(
        ENGLISH, help="language of the fixed texts on students' pages: one with a catalogue languages/*.po"
    ).tag(config=True)
    requests = Bool(
        False, help="show beside each failed check how to say that it is wrong; see `gradekit requests`"
    ).tag(config=True)


@dataclass(frozen=True)
class _Spoken:
    language: str
    texts: gettext.NullTranslations


_IN_ENGLISH = _Spoken(ENGLISH, gettext.NullTranslations())
_spoken: ContextVar[_Spoken] = ContextVar("_spoken", default=_IN_ENGLISH)


def _(text: str, /, **values: object) -> str:
    """The text in the current language, with values in place of `%(name)s`."""
    # gettext's own text for "" is about the catalogue
    found = _spoken.get().texts.gettext(text) if text else ""
    return found % values if values else found


def ngettext(one: str, many: str, number: float, /, **values: object) -> str:
    """The form of the text that fits the number, which may be a fraction such as 2.5, in the current language."""
    whole = int(number) if number == int(number) else 2
    found = _spoken.get().texts.ngettext(one, many, whole)
    return found % values if values else found


def N_(text: str) -> str:
    """Mark a text that is translated later, where it is shown."""
    return text


def current_language() -> str:
    """The code of the language, as in HTML."""
    return _spoken.get().language.replace("_", "-")


def month_name(time: datetime) -> str:
    """The name of the month, as after a day."""
    language = current_language()
    if language != ENGLISH:
        from babel import Locale, UnknownLocaleError

        try:
            return str(Locale.parse(language, sep="-").months["format"]["wide"][time.month])
        except (UnknownLocaleError, ValueError):
            pass  # a language that has a catalogue, but no data in Babel
    return f"{time:%B}"


@contextmanager
def speaking(language: str, course: Path | None = None) -> Iterator[None]:
    """Use this language in the block.

    Args:
        language: a code such as `de` or `pt-BR`.
        course: the course's folder, which may have its own catalogues.

    Raises:
        CourseError: there is no catalogue for it, or it can't be used.
    """
    before = _spoken.set(_Spoken(language, _texts(language, course)))
    try:
        yield
    finally:
        _spoken.reset(before)


def _texts(language: str, course: Path | None) -> gettext.NullTranslations:
    folders = [course / _FOLDER, _OURS] if course else [_OURS]
    paths = [folder / f"{language}.po" for folder in folders]
    path = next((path for path in paths if _CODE.fullmatch(language) and path.is_file()), None)
    if path is not None:
        return _compiled(path, path.stat().st_mtime_ns)
    if language == ENGLISH:
        return gettext.NullTranslations()
    known = sorted({ENGLISH, *(path.stem for folder in folders for path in folder.glob("*.po"))})
    raise CourseError(
        f"c.FeedbackPage.language: there is no catalogue for {language!r}, only for {', '.join(known)}: "
        f"add {folders[0] / 'LANGUAGE.po'}"
    )


@lru_cache
def _compiled(path: Path, changed: int) -> gettext.NullTranslations:
    """The texts of a catalogue, which must name the same values as the English ones."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            catalog: Any = read_po(file, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise CourseError(f"{path} can't be read: {error}") from None
    if not len(catalog):
        raise CourseError(f"{path} has no texts: it isn't a catalogue made from gradekit.pot")
    for message, errors in catalog.check():
        raise CourseError(f"{path}:{message.lineno or ''} {message.id!r}: {errors[0]}")
    compiled = BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
