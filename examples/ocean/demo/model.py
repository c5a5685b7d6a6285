"""The ocean model as the demo sees it: the namelists it is given, the times it prints."""

from demo.errors import DemoError
from forebay.common.files.decoding import decoded
from forebay.common.model.frozen import frozen

_RESULT = "ocean_result "
_SPAN = "ocean_span "


@frozen
class Grid:
    """Cells of the model; both edges in degrees."""

    columns: int = 1440
    rows: int = 640
    south: float = -80.0
    north: float = 80.0


@frozen
class Run:
    """One run. Paths are relative to the run's folder; an empty one means none."""

    grid: Grid = Grid()
    steps: int
    output_every: int = 1
    dt_seconds: int = 600
    mask: str = "../mask.bin"
    history: str = ""
    restart_in: str = ""
    restart_out: str = ""

    def namelist(self) -> str:
        """The file that the model reads."""
        grid = self.grid
        return (
            f"&grid\n   nlon = {grid.columns}, nlat = {grid.rows}\n"
            f"   south = {grid.south}, north = {grid.north}\n"
            f"   mask_file = '{self.mask}'\n/\n"
            f"&run\n   steps = {self.steps}, output_every = {self.output_every}\n"
            f"   dt = {self.dt_seconds}.0\n   history = '{self.history}'\n"
            f"   restart_in = '{self.restart_in}'\n   restart_out = '{self.restart_out}'\n/\n"
            "&physics\n/\n"
        )


@frozen
class ModelTimes:
    """The model's own measurements: seconds of the slowest rank, barriers between the parts."""

    records: int
    mebibytes: float
    day: float
    compute: float
    create: float
    write: float
    close: float
    restart_write: float
    restart_read: float

    @property
    def output(self) -> float:
        """Seconds from creating the history file to closing it, without the computing."""
        return self.create + self.write + self.close

    @property
    def mib_per_second(self) -> float:
        """Rate of writing the history file."""
        return self.mebibytes / self.output if self.output > 0 else 0.0


@frozen
class Span:
    """A part of the output: create, write or close. Seconds of the monotonic clock."""

    what: str
    begin: float
    end: float


def parse_spans(printed: str) -> tuple[Span, ...]:
    """The parts of the output that the model printed, in order."""
    found = []
    for line in printed.splitlines():
        if line.startswith(_SPAN):
            pairs = dict(word.split("=", 1) for word in line.removeprefix(_SPAN).split())
            found.append(
                Span(what=pairs["what"], begin=float(pairs["begin"]), end=float(pairs["end"]))
            )
    return tuple(found)


def parse_times(printed: str) -> ModelTimes:
    """The model's last line as a value. DemoError: there is no such line."""
    line = next((text for text in printed.splitlines() if text.startswith(_RESULT)), None)
    if line is None:
        raise DemoError(
            "cannot read the model's times (it printed no line `ocean_result`). "
            "Run the model by hand, as examples/ocean/README.md says."
        )
    pairs = dict(word.split("=", 1) for word in line.removeprefix(_RESULT).split())
    try:
        return decoded(ModelTimes, pairs)
    except (KeyError, ValueError) as error:
        raise DemoError(
            f"cannot read the model's times ({type(error).__name__}: {error}). "
            "Build examples/ocean again."
        ) from error
