"""What puts coursekit into nbgrader's own commands. In `nbgrader_config.py`:

from coursekit.nbgrader_plugin import configure

configure(get_config())
"""

from coursekit.nbgrader_plugin.configure import configure

__all__ = ["configure"]
