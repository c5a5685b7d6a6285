"""The one tree of exceptions. A message has the form "problem (why). What to do next."."""


def reason_of(error: Exception) -> str:
    """Why something failed, in words: of a system call without its number and its file's name."""
    return getattr(error, "strerror", None) or str(error)


class ForebayError(Exception):
    """An error that the user can act on; the command ends with `exit_code`."""

    exit_code = 1


class UsageError(ForebayError):
    """The command line asks for something that does not exist or is not possible."""

    exit_code = 2


class SettingsError(ForebayError):
    """A setting is unknown, or its value is not allowed."""

    exit_code = 2


class RecordError(ForebayError):
    """A record cannot be read."""


class SimulationError(ForebayError):
    """An experiment cannot be simulated."""

    exit_code = 2


class LayoutError(ForebayError):
    """A layout cannot be read or set."""


class SetupError(ForebayError):
    """The installation is incomplete: native libraries or the schema are missing."""

    exit_code = 125


class StatusError(ForebayError):
    """An error whose exit status is known only when it happens."""

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class LaunchError(StatusError):
    """The program cannot be started. The status is a shell's: 126 not executable, 127 not found."""


class StoppedError(StatusError):
    """A signal asked this process to end while a command ran; the status is a shell's (128+n)."""


class BenchUsageError(UsageError):
    """The command line of a benchmark is wrong. The status is 1, as the benchmark's own."""

    exit_code = 1


class BenchError(StatusError):
    """A benchmark failed or wrote no result; the status is the benchmark's own."""


class PoolError(ForebayError):
    """A daemon of the pool cannot be reached, or refused a request."""


class PoolStartError(ForebayError):
    """A daemon of the pool cannot be started; the program was not started either."""

    exit_code = 125


class MountRefusedError(PoolStartError):
    """The folders of a pool cannot be mounted over; the program was not started either."""


class RescueError(ForebayError):
    """The bytes of a rescue file cannot be written to their file."""


class TierError(ForebayError):
    """A tier cannot be started or ended, or refused an order."""


class ProbeError(ForebayError):
    """A file system cannot be probed, or a portrait or advice cannot be read."""


class HangError(ProbeError):
    """A file system does not answer, so that not even cleaning up is possible there."""


class EvidenceError(ForebayError):
    """A log or record has no evidence of a program's I/O."""
