"""The screen of `forebay pool status --watch`, and its one line where there is no screen."""

from collections.abc import Iterator, Sequence

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import zip_of
from forebay.common.model.printable import printable, printable_name
from forebay.common.model.units import counted, human_bytes, human_rate, human_seconds
from forebay.common.report.sparkline import columns
from forebay.common.report.text_table import aligned
from forebay.pool.model.pool import PoolFile, PoolStatus
from forebay.pool.model.watching import FileOrder, RateHistory, ordered
from forebay.pool.report.drain_progress import hang_text
from forebay.pool.report.text import STATUS_COLUMNS, durability_text, status_cells

_BAR_CELLS_MAX = 60
_LABEL_CELLS = 14
_BETWEEN = "  "
_NUMBER_CELLS = 42


@frozen
class Screen:
    """The size of a screen in cells, and whether it shows nothing but ASCII."""

    width: int
    height: int
    is_ascii: bool = False

    @property
    def bar_cells(self) -> int:
        """The width of a bar or of a line of rates, beside a label and numbers."""
        return max(8, min(_BAR_CELLS_MAX, self.width - _LABEL_CELLS - _NUMBER_CELLS))


def sparkline(values: Sequence[float], screen: Screen) -> str:
    """The newest values as columns, the largest of them as the full one."""
    shown = values[-screen.bar_cells :]
    return columns(shown, is_ascii=screen.is_ascii).rjust(screen.bar_cells)


def bar(part: int, whole: int, screen: Screen) -> str:
    """The part of the whole as a bar; a part above zero has a cell at least."""
    full, empty = ("#", ".") if screen.is_ascii else ("█", "░")
    share = min(1.0, part / whole) if whole > 0 else 0.0
    cells = max(int(part > 0), round(share * screen.bar_cells))
    return full * cells + empty * (screen.bar_cells - cells)


def screen_lines(
    status: PoolStatus, place: str, history: RateHistory, order: FileOrder, screen: Screen
) -> list[str]:
    """All lines of the screen, none longer than it is wide, and not more than it is high."""
    lines = [*_head(status, place, history, order, screen), *_warnings(status), ""]
    left = max(0, screen.height - len(lines) - 2)  # without the titles and the line of the rest
    lines += _file_lines(ordered(status.files, order), left, screen)
    return [_cut(line, screen) for line in lines[: screen.height]]


def _head(
    status: PoolStatus, place: str, history: RateHistory, order: FileOrder, screen: Screen
) -> Iterator[str]:
    state = ", draining" if status.closing else ""
    up = human_seconds(status.uptime_seconds)
    programs = counted(len(status.clients), "program")
    node = f" on {printable(status.host)}" if status.host else ""
    yield f"s: sort (now by {order})   q: quit"
    yield f"daemon {status.process}{node} at {printable_name(place)}, up {up} s, {programs}{state}"
    rates = history.samples
    held = f"{human_bytes(status.leased)} of {human_bytes(status.cap)} reserved"
    yield _row("memory", bar(status.leased, status.cap, screen), held)
    deposited = sparkline([one.deposited for one in rates], screen)
    told = f"{human_rate(history.last.deposited)}, {human_bytes(status.taken)} in all"
    yield _row("deposits", deposited, told)
    stored = sparkline([one.stored for one in rates], screen)
    moved = sum(file.storage_bytes for file in status.files)
    told = f"{human_rate(history.last.stored)}, {human_bytes(moved)} in all"
    yield _row("file system", stored, told)
    yield _row("", "", _to_go(status))


def _row(label: str, drawing: str, told: str) -> str:
    return f"{label:<{_LABEL_CELLS}}{drawing}  {told}" if drawing else told


def _to_go(status: PoolStatus) -> str:
    if not status.outstanding:
        return "nothing is to go"
    age = human_seconds(status.oldest_seconds)
    return f"{human_bytes(status.outstanding)} to go, the oldest {age} s old"


def _warnings(status: PoolStatus) -> Iterator[str]:
    if hang := hang_text(status):
        yield hang
    if status.durability_ended:
        yield durability_text(status)
    yield from (printable(note) for note in status.notes)


def _file_lines(files: Sequence[PoolFile], rows_max: int, screen: Screen) -> Iterator[str]:
    shown = files[:rows_max]
    if shown:
        rows = [STATUS_COLUMNS, *(status_cells(file) for file in shown)]
        numbers = aligned([row[:-1] for row in rows], left={6})
        widest = max(map(len, numbers))
        for line, row in zip_of(numbers, rows, strict=True):
            name = _end_of(row[-1], screen.width - widest - len(_BETWEEN))
            yield f"{line:<{widest}}{_BETWEEN}{name}"
    if len(shown) < len(files):
        yield f"and {counted(len(files) - len(shown), 'more file')}"


def _end_of(name: str, cells: int) -> str:
    """The name, or where it is too long, its end, which tells it from others of its folder."""
    return name if len(name) <= cells else f"…{name[len(name) - max(1, cells - 1) :]}"


def _cut(line: str, screen: Screen) -> str:
    return line if len(line) <= screen.width else line[: max(0, screen.width - 1)] + "…"


def interval_line(status: PoolStatus, history: RateHistory) -> str:
    """One line on an interval, for a log: what is there, the rates, and the file that lags most."""
    worst = next(iter(ordered(status.files, FileOrder.LAG)), None)
    parts = [
        f"daemon {status.process} up {human_seconds(status.uptime_seconds)} s",
        f"taken {human_bytes(status.taken)} ({human_rate(history.last.deposited)})",
        f"file system {human_rate(history.last.stored)}",
        f"memory {human_bytes(status.leased)} of {human_bytes(status.cap)}",
        counted(len(status.clients), "program"),
        _to_go(status),
    ]
    if worst is not None and worst.outstanding:
        lag = human_bytes(worst.outstanding)
        parts.append(f"most of {printable_name(worst.path)} ({lag})")
    if worst is not None and worst.error:
        parts.append(f"{printable_name(worst.path)}: {printable(worst.error_text)}")
    if hang := hang_text(status):
        parts.append(hang)
    return "; ".join(parts)
