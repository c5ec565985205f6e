"""The kernels that submissions can run in.

Separate from `coursekit.student`, since the command line needs these names before it imports anything large.
"""

from functools import cache

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from coursekit.course import CourseError
from sandbox_kernel import COLD, LIMITED, SANDBOX

#: values of `--sandbox`
BUBBLEWRAP, NONE = "bubblewrap", "none"
KERNELS = {BUBBLEWRAP: SANDBOX, NONE: LIMITED}
__all__ = ["BUBBLEWRAP", "COLD", "KERNELS", "LIMITED", "NONE", "SANDBOX", "require_kernel"]


@cache
def require_kernel(name: str) -> None:
    """Raise CourseError if the kernel `name` is not installed."""
    try:
        KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        raise CourseError(
            f"c.RunChecks.student_kernel names the kernel `{name}`, which is not installed: "
            "`jupyter kernelspec list` shows those that are"
        ) from None
