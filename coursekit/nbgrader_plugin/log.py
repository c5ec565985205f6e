"""What nbgrader's commands log, fit for a terminal."""

import copy
import logging

from tornado.log import LogFormatter

from coursekit.printing import printable


class PrintableFormatter(LogFormatter):
    """nbgrader's own formatter; escape sequences in the names of students and files are shown, not sent."""

    def format(self, record: logging.LogRecord) -> str:
        harmless = copy.copy(record)
        harmless.msg = "\n".join(printable(line, None) for line in record.getMessage().split("\n"))
        harmless.args = ()
        return super().format(harmless)
