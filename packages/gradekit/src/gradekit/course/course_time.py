"""The course's time zone, in which deadlines are shown and days are counted.

nbgrader stores deadlines in UTC, and reads a time zone that it doesn't know as UTC, without a word.
"""

import math
import re
import zoneinfo
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from dateutil.parser import ParserError, parse
from traitlets import Bunch, TraitError, Unicode, validate
from traitlets.config import Configurable

from gradekit.course import CourseError

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_WITH_ZONE = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d?:\d\d(?::\d\d)?)\s*(\S*)")
#: seconds that people write in a deadline
_USUAL_SECONDS = (0, 59)


class CourseTime(Configurable):
    """How the course reads a clock."""

    zone = Unicode(
        "UTC",
        help="the time zone of the course, such as Europe/Berlin: deadlines are shown in it, and a day late is a day in it",
    ).tag(config=True)

    @validate("zone")
    def _known(self, proposal: Bunch) -> str:
        name = str(proposal["value"])
        if zone_named(name) is None:
            raise TraitError(
                f"c.CourseTime.zone: {name!r} isn't a time zone; write one such as Europe/Berlin"
            )
        return name

    @property
    def tz(self) -> tzinfo:
        return zone_named(self.zone) or UTC

    def in_words(self, moment: datetime) -> str:
        """The moment in the course's zone, and in UTC if that is another."""
        local = moment.astimezone(self.tz)
        seconds = ":%S" if local.second else ""
        in_utc = f" ({moment.astimezone(UTC):%H:%M{seconds}} UTC)" if local.utcoffset() else ""
        return f"{local:%Y-%m-%d %H:%M{seconds} %Z}{in_utc}"

    def read(self, text: str) -> datetime:
        """The moment that a person wrote, in the course's zone unless the text has another.

        Raises:
            CourseError: it isn't a date and a time, or has a zone that is not known.
        """
        found = _WITH_ZONE.fullmatch(text.strip())
        if not found:
            raise CourseError(f"{text!r} isn't a date and a time: write one such as 2026-03-09 23:59")
        zone = zone_named(found[2]) if found[2] else self.tz
        if zone is None:
            raise CourseError(
                f"{text!r}: there is no time zone {found[2]}. Write a place or an offset, such as Europe/Berlin or +02:00, or "
                f"nothing for the course's zone, {self.zone}"
            )
        try:
            written: datetime = parse(found[1])
            moment = written.replace(tzinfo=zone).astimezone(UTC)
            shown = moment.astimezone(zone).replace(tzinfo=None)
        except (ParserError, OverflowError) as error:
            raise CourseError(f"{text!r} isn't a date and a time: {error}") from error
        if shown != written:
            raise CourseError(
                f"{text!r} doesn't exist: clocks are set forward then. Write a time such as {shown:%Y-%m-%d %H:%M}"
            )
        return moment

    def days_after(self, deadline: datetime, days: int) -> datetime:
        """The same time of day, so many days later, in UTC.

        Raises:
            CourseError: no calendar goes that far.
        """
        try:
            return (deadline.astimezone(self.tz) + timedelta(days)).astimezone(UTC)
        except OverflowError:
            raise CourseError(f"{days} days after the deadline isn't a date") from None

    def days_late(self, deadline: datetime, handed_in: datetime) -> int:
        """How many days, whole or in part, after the deadline: each ends at the same time of day, however long it is."""
        if handed_in <= deadline:
            return 0
        due, came = (time.astimezone(self.tz).replace(tzinfo=None) for time in (deadline, handed_in))
        return max(1, math.ceil((came - due) / timedelta(days=1)))


def zone_named(name: str) -> tzinfo | None:
    """The zone with this name, such as `Europe/Berlin`, or this offset, such as `+02:00`; None if there is none."""
    if found := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(-offset if found[1] == "-" else offset) if offset < timedelta(days=1) else None
    try:
        return zoneinfo.ZoneInfo(name) if name and not name.startswith("/") else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def looks_misread(deadline: datetime) -> bool:
    """Whether nobody would have written this time: nbgrader reads a zone such as +0200 as 200 seconds."""
    return deadline.second not in _USUAL_SECONDS
