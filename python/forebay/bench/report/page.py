"""The HTML page of a benchmark or a comparison, one self-contained file."""

from pathlib import Path
from statistics import median

from forebay.bench.model.comparison import QuantityFinding
from forebay.bench.model.result import BenchResult, Measurement
from forebay.bench.use_case.compare import BenchComparison
from forebay.common.model.errors import BenchError
from forebay.common.model.estimate import Spread
from forebay.common.model.units import counted
from forebay.common.report.drawn_pages import DrawnPages, require_drawing, write_page
from forebay.common.report.page_template import filled

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_COMPARISON_TEMPLATE = Path(__file__).with_name("comparison_page.html.j2")
_QUANTILES = (0.5, 0.9, 0.99, 0.999)
_ROUNDING = 1e-9
_NO_BREAK, _JOINER = "\u00a0", "\u2060"
"""A line may end behind a dash, even before a blank that does not break: but for the joiner."""
_HEADS = (
    *("measurement", "unit", "median", "interval of the median", "runs", "calls"),
    *("p50 µs", "p90", "p99", "p99.9", "max", "slowest rank"),
)
_COMPARISON_HEADS = (
    *("quantity", "B ÷ A", "interval", "verdict on B", "median of A", "median of B", "unit"),
)


class HtmlPages(DrawnPages):
    """The port Pages, over files."""

    def write(self, result: BenchResult, path: Path) -> None:
        """Writes the page of a result. Raises SetupError if matplotlib or jinja2 is missing, and
        BenchError if the file cannot be written or nothing was measured."""
        if not result.measurements:
            raise BenchError(
                f"there is nothing to draw on {path} (nothing was measured). See what it said.",
                exit_code=result.status or 1,
            )
        write_page(render(result), path)

    def write_comparison(self, result: BenchComparison, path: Path) -> None:
        """As `write`, for a comparison. Raises BenchError also if nothing was compared."""
        if not result.findings:
            raise BenchError(
                f"there is nothing to draw on {path} (no quantity is in every pair). See the "
                "warnings.",
                exit_code=1,
            )
        write_page(render_comparison(result), path)


def render(result: BenchResult) -> str:
    """The HTML of a result's page."""
    require_drawing()
    from forebay.bench.report.pictures import pictures_of

    return filled(
        _TEMPLATE,
        result=result,
        pictures=list(pictures_of(result)),
        heads=_HEADS,
        rows=[_row(one) for one in result.measurements],
        ranks=counted(result.ranks, "rank"),
    )


def render_comparison(result: BenchComparison) -> str:
    """The HTML of a comparison's page; `result` has at least one finding."""
    require_drawing()
    from forebay.bench.report.comparison_pictures import COMPARISON_PICTURES

    compared = len(result.findings)
    pictures = [
        {
            "title": title,
            "caption": caption + _left_out(compared, most),
            "svg": draw(result.findings),
        }
        for title, caption, most, draw in COMPARISON_PICTURES
    ]
    return filled(
        _COMPARISON_TEMPLATE,
        result=result,
        pictures=pictures,
        heads=_COMPARISON_HEADS,
        rows=[_compared(one) for one in result.findings],
        margin=f"{result.design.margin:.0%}",
        certain=f"{result.design.level:.0%} sure",
    )


def _left_out(count: int, shown_max: int) -> str:
    """A note that the pictures show only the first measurements; empty if they show all."""
    return f" The first {shown_max} of {count}; the table has all." if count > shown_max else ""


def _compared(one: QuantityFinding) -> tuple[str, ...]:
    ratio = one.ratio
    medians = (_amount(median(one.a)), _amount(median(one.b)))
    return (
        one.quantity,
        f"{ratio.estimate:.3f}",
        ratio.interval,
        one.verdict.value,
        *medians,
        one.unit,
    )


def _row(one: Measurement) -> tuple[str, ...]:
    spread = one.spread
    return (
        one.name,
        one.unit,
        _amount(spread.median),
        _interval(spread),
        str(spread.count),
        str(one.latency.calls),
        *(_quantile(one, at) for at in _QUANTILES),
        _amount(one.latency.seconds_max * 1e6),
        f"{one.slowest_rank} on {one.slowest_host}".removesuffix(" on "),
    )


def _quantile(one: Measurement, at: float) -> str:
    """In microseconds; a dash if fewer calls are beyond it than one."""
    if one.latency.calls * (1 - at) < 1 - _ROUNDING:
        return "–"
    return _amount(one.latency.quantile(at) * 1e6)


def _interval(spread: Spread) -> str:
    if spread.count == 1:
        return "none (one run)"
    certain = f"{spread.confidence:.0%} sure".replace(" ", _NO_BREAK)
    between = f"{_NO_BREAK}–{_JOINER}{_NO_BREAK}"
    return f"{_amount(spread.low)}{between}{_amount(spread.high)} ({certain})"


def _amount(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
