"""A second kernel, where implementations run on which a student's test is tried. It has no code of the student's."""

from nbformat import v4

from gradekit.course import CourseError
from gradekit.inside import messages
from gradekit.session.channel import KernelGone, Unresponsive
from gradekit.session.kernel import NotStarted, StudentKernel
from gradekit.session.limits import Limits, Stopwatch
from gradekit.session.replies import Failure, read_reply
from gradekit.session.values import Implemented
from sandbox_kernel.environment import NO_FILES, WorkingFiles
from sandbox_kernel.usage import Usage


class BenchGone(Exception):
    """The kernel of the implementations failed to start, or has ended; the message says why."""


class Bench:
    """Runs one implementation at a time, and calls it with what a student's test chooses.

    The kernel has the limits of a submission, since the arguments can make a call large or endless. It is started when it is
    first needed, and again after it has ended.

    Args:
        files: copied into its working folder; none of them is the student's.
    """

    def __init__(self, limits: Limits, kernel_name: str, files: WorkingFiles = NO_FILES) -> None:
        self._limits, self._kernel_name, self._files = limits, kernel_name, files
        self._kernel: StudentKernel | None = None
        self._used_before = Usage()
        #: why the kernel ended while it ran an implementation; empty if it didn't
        self.ended = ""

    def load(self, implementation: Implemented) -> None:
        """Make this the implementation that stubs stand for.

        Raises:
            CourseError: its code raises an exception.
            BenchGone: the kernel failed to start.
        """
        self.ended = ""
        request = {
            "do": "implement",
            "source": implementation.source,
            "function": implementation.name,
            "methods": list(implementation.methods),
        }
        watch = Stopwatch(lambda: None, self._limits.startup_seconds)
        try:
            if self._kernel is None:
                empty = v4.new_notebook()
                self._kernel = StudentKernel.start(empty, self._limits, self._kernel_name, self._files)
            reply = read_reply(self._kernel.channel.ask(messages.encode([request]), watch), lambda _: None)
        except NotStarted as error:
            raise BenchGone(str(error)) from None
        except (TimeoutError, Unresponsive, KernelGone, messages.MessageError) as error:
            self.close()
            raise BenchGone(f"an implementation could not be loaded: {type(error).__name__}") from None
        if isinstance(reply, Failure):
            raise CourseError(
                f"an implementation of `{implementation.name}` can't be run: "
                f"{reply.error.type}: {reply.error.message}"
            )

    def answer(self, buffers: list[bytes], watch: Stopwatch) -> list[bytes]:
        """Answer what a stub asks.

        Raises:
            TimeoutError: the time of the student's call is up, or the kernel has ended.
        """
        if self._kernel is None:
            raise TimeoutError
        try:
            return self._kernel.channel.ask_for_stub(buffers, watch)
        except (KernelGone, Unresponsive, messages.MessageError):
            reason = self._kernel.ended_because or "it ended its process"
            self.ended = "" if watch.breach else reason
            self.close()
            raise TimeoutError from None

    def usage(self) -> Usage | None:
        """The time that this bench's kernels have used; None if it can't be measured."""
        if self._kernel is None:
            return self._used_before
        used = self._kernel.usage()
        return None if used is None else self._used_before + used

    def close(self) -> None:
        """End the kernel."""
        if self._kernel is not None:
            kernel, self._used_before = self._kernel, self.usage() or self._used_before
            self._kernel = None
            kernel.close()
