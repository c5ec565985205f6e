"""The kernels that submissions run in: which there are, and whether one is installed."""

from functools import cache

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from coursekit.course import CourseError
from sandbox_kernel import COLD, LIMITED, SANDBOX

#: values of the option --sandbox
BUBBLEWRAP, NONE = "bubblewrap", "none"
KERNELS = {BUBBLEWRAP: SANDBOX, NONE: LIMITED}
__all__ = ["BUBBLEWRAP", "COLD", "KERNELS", "LIMITED", "NONE", "SANDBOX", "require_kernel"]


@cache
def require_kernel(name: str) -> None:
    """Raise CourseError if there is no kernelspec of that name."""
    try:
        KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        raise CourseError(
            f"c.RunChecks.student_kernel names the kernel `{name}`, which is not installed: "
            "`jupyter kernelspec list` shows those that are"
        ) from None
