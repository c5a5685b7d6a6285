"""The one tree of exceptions. A message reads: problem (why). What to do next."""


class ForebayError(Exception):
    """An error that the user can do something about; the command ends with `exit_code`."""

    exit_code = 1


class UsageError(ForebayError):
    """The command line asks for something that there is not."""

    exit_code = 2


class SettingsError(ForebayError):
    """A setting is unknown, or its value is not one it can have."""

    exit_code = 2


class RecordError(ForebayError):
    """A record cannot be read."""


class SimulationError(ForebayError):
    """An experiment cannot be simulated."""

    exit_code = 2


class LayoutError(ForebayError):
    """A layout cannot be read or set."""


class SetupError(ForebayError):
    """Forebay itself is not whole: native libraries or its schema are missing."""

    exit_code = 125


class StatusError(ForebayError):
    """An error that ends the command with a status that is known only when it happens."""

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class LaunchError(StatusError):
    """The program cannot be started (126: not executable, 127: not found, as shells say it)."""


class StoppedError(StatusError):
    """A signal came while something ran; the status is what shells say of it (128+n)."""


class BenchUsageError(UsageError):
    """The command line of a benchmark makes no sense; its programs end with 1 then, too."""

    exit_code = 1


class BenchError(StatusError):
    """A benchmark failed or left no result; the status is the benchmark's own."""


class PoolError(ForebayError):
    """A daemon of the pool cannot be reached, or cannot do what it was asked."""


class PoolStartError(ForebayError):
    """A daemon of the pool cannot be started: nothing else was."""

    exit_code = 125


class RescueError(ForebayError):
    """Bytes of a rescue file cannot be written to where they belong."""


class ProbeError(ForebayError):
    """A file system cannot be probed, or a portrait or advice cannot be read."""


class HangError(ProbeError):
    """A file system does not answer: nothing more can be done there, not even cleaning up."""


class EvidenceError(ForebayError):
    """A log tells nothing of a program's I/O."""
