"""The screen of `forebay pool status --watch`: rates, orders of files, and what fits on it."""

import pytest
from pool_test import file, status

from forebay.pool.model.watching import SAMPLES_MAX, FileOrder, RateHistory, ordered
from forebay.pool.report.watch_view import Screen, bar, interval_line, screen_lines, sparkline

MIB = 1 << 20
WIDE = Screen(width=140, height=30)


def watched(*stored: int) -> RateHistory:
    history = RateHistory()
    for second, count in enumerate(stored):
        one = file(taken=2 * count * MIB, storage_bytes=count * MIB)
        history.add(status(files=(one,)), float(second))
    return history


def test_rates_are_those_between_two_statuses() -> None:
    history = watched(0, 3, 3, 1)
    assert [one.stored / MIB for one in history.samples] == [3, 0, 0]
    assert [one.deposited / MIB for one in history.samples] == [6, 0, 0]
    history.add(status(files=()), 3.0)  # at the same moment as the one before
    assert len(history.samples) == 3
    assert RateHistory().last.stored == 0
    assert len(watched(*range(SAMPLES_MAX + 9)).samples) == SAMPLES_MAX


FILES = (
    file(path="/a", outstanding=1, oldest_seconds=9.0, waited_seconds=0.0, taken=30),
    file(path="/b", outstanding=5, oldest_seconds=1.0, waited_seconds=2.0, taken=20),
    file(path="/c", outstanding=0, oldest_seconds=0.0, waited_seconds=5.0, taken=90),
    file(path="/d", outstanding=0, oldest_seconds=0.0, waited_seconds=0.0, taken=1),
)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (FileOrder.LAG, "bacd"),
        (FileOrder.AGE, "abcd"),
        (FileOrder.WAITED, "cbad"),
        (FileOrder.TAKEN, "cabd"),
        (FileOrder.NAME, "abcd"),
    ],
)
def test_files_have_an_order_and_those_with_an_error_come_first(
    order: FileOrder, names: str
) -> None:
    assert "".join(one.path[1] for one in ordered(FILES, order)) == names
    bad = file(path="/z", error=28, error_text="No space left on device")
    assert ordered((*FILES, bad), order)[0].path == "/z"


def test_the_sort_key_goes_through_all_orders() -> None:
    order, seen = FileOrder.LAG, []
    for _ in FileOrder:
        order = order.following
        seen.append(order)
    assert set(seen) == set(FileOrder)
    assert order is FileOrder.LAG


def test_bars_and_lines_of_rates() -> None:
    narrow = Screen(width=20, height=9)
    assert narrow.bar_cells == 8
    assert bar(1, 1 << 40, narrow) == "█░░░░░░░"
    assert bar(3, 4, Screen(width=20, height=9, is_ascii=True)) == "######.."
    assert bar(9, 4, narrow) == "█" * 8
    assert bar(0, 0, narrow) == "░" * 8
    assert sparkline([0.0, 4.0, 8.0], narrow) == "     ▁▅█"
    assert sparkline([], narrow) == " " * 8
    assert sparkline([float(n) for n in range(99)], narrow)[-1] == "█"
    assert sparkline([0.0, 0.0], Screen(width=20, height=9, is_ascii=True)) == "      __"


@pytest.mark.parametrize(("width", "height"), [(140, 30), (80, 24), (40, 12), (10, 4), (1, 1)])
def test_the_screen_is_as_large_as_the_terminal(width: int, height: int) -> None:
    now = status(files=FILES * 20, notes=("a note " * 30,))
    screen = Screen(width=width, height=height)
    lines = screen_lines(now, "/run/me/pool", watched(0, 5), FileOrder.LAG, screen)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_the_screen_has_cap_rates_and_files_by_lag() -> None:
    now = status(files=FILES, cap=4 * MIB, leased=MIB, host="n1", ended=False, closing=False)
    text = "\n".join(screen_lines(now, "/s", watched(0, 5), FileOrder.LAG, WIDE))
    assert "s: sort (now by what is to go)   q: quit" in text
    assert "1.00 MiB of 4.00 MiB reserved" in text
    assert "10.0 MiB/s" in text  # deposited
    assert "5.00 MiB/s" in text  # at the file system
    assert text.index("/b") < text.index("/a") < text.index("/c")


def test_a_long_name_is_shown_by_its_end() -> None:
    now = status(files=(file(path="/scratch/" + "long/" * 40 + "out.nc"),))
    screen = Screen(width=100, height=30)
    lines = screen_lines(now, "/s", RateHistory(), FileOrder.LAG, screen)
    assert any(line.endswith("long/out.nc") and len(line) == 100 for line in lines)


def test_names_cannot_control_the_terminal() -> None:
    now = status(files=(file(path="/a\x1b[2J", outstanding=1),))
    assert "\x1b" not in "\n".join(screen_lines(now, "/s", RateHistory(), FileOrder.LAG, WIDE))
    assert "\x1b" not in interval_line(now, RateHistory())


def test_a_line_says_what_lags_and_what_is_wrong() -> None:
    now = status(files=FILES, process=77)
    line = interval_line(now, watched(0, 5))
    assert "\n" not in line
    assert line.startswith("daemon 77 up 3.000 s; taken 141 B (10.0 MiB/s); file system 5.00 MiB/s")
    assert line.endswith("6 B to go, the oldest 0.000 s old; most of /b (5 B)")
    full = file(path="/z", error=28, error_text="No space left on device")
    assert "/z: No space left on device" in interval_line(status(files=(full,)), RateHistory())
