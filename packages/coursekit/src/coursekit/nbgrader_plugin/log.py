"""What nbgrader's commands log, fit for a terminal."""

import copy
import logging
from pathlib import Path

from tornado.log import LogFormatter

from coursekit.printing import printable


class PrintableFormatter(LogFormatter):
    """nbgrader's own formatter; escape sequences in the names of students and files are shown, not sent."""

    def format(self, record: logging.LogRecord) -> str:
        harmless = copy.copy(record)
        harmless.msg = "\n".join(printable(line, None) for line in record.getMessage().split("\n"))
        harmless.args = ()
        return super().format(harmless)


class OnlyMissingNotebooks(logging.Filter):
    """Drops nbgrader's warning about a folder whose name it took for a pattern, such as `[ab]`.

    The notebooks in it are found later on (see `coursekit.nbgrader_plugin.converters.find_folders`).
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg != "No notebooks were matched by '%s'" or not record.args:
            return True
        pattern = Path(str(record.args[0]))
        return not any(pattern.parent.glob(pattern.name))
