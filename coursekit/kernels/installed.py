"""Is a kernel there at all?"""

from functools import cache

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from coursekit.course import CourseError


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
