"""The HTML page of a benchmark: one file that holds everything, pictures too."""

import importlib
from pathlib import Path

from forebay.adapters.output_files import OutputFiles
from forebay.domain.bench_result import BenchResult, Measurement
from forebay.domain.errors import BenchError, BenchUsageError, SetupError
from forebay.domain.estimate import Spread

_TEMPLATE = "bench_page.html.j2"
_QUANTILES = (0.5, 0.9, 0.99, 0.999)


class HtmlPages:
    """The port Pages over files."""

    def check(self, path: Path) -> None:
        """Whether a page could be drawn and written to `path`."""
        obstacle = OutputFiles().obstacle(path)
        if obstacle is not None:
            raise BenchUsageError(
                f"cannot write the page {path} ({obstacle}). Name a file that can be written."
            )
        _require_drawing()

    def write(self, result: BenchResult, path: Path) -> None:
        """Renders the page. SetupError: matplotlib or jinja2 is missing; BenchError: cannot be
        written, or there is nothing to show."""
        if not result.measurements:
            raise BenchError(
                f"there is nothing to draw on {path} (nothing was measured). See what it said.",
                exit_code=result.status or 1,
            )
        text = render(result)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BenchError(
                f"cannot write {path} ({error.strerror}). Give another file.", exit_code=2
            ) from error


def render(result: BenchResult) -> str:
    """The page as text."""
    _require_drawing()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from forebay.adapters.bench_pictures import PICTURES

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pictures = [
        {"title": title, "caption": caption, "svg": draw(result)}
        for title, caption, draw in PICTURES
    ]
    rows = [_row(one) for one in result.measurements]
    return environment.get_template(_TEMPLATE).render(result=result, pictures=pictures, rows=rows)


def _require_drawing() -> None:
    """Everything else works without these packages, so they are not imported above."""
    try:
        for name in ("jinja2", "matplotlib.figure"):
            importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"cannot draw the page ({error.name} is not installed). "
            "Install what it needs: pip install matplotlib jinja2."
        ) from error


def _row(one: Measurement) -> dict[str, object]:
    from forebay.adapters.bench_pictures import slowest

    spread = one.spread
    micros = [one.latency.quantile(at) * 1e6 for at in _QUANTILES]
    rank = slowest(one)
    return {
        "name": one.name,
        "unit": one.unit,
        "median": _amount(spread.median),
        "interval": _interval(spread),
        "runs": spread.count,
        "latency": [_amount(value) for value in [*micros, one.latency.seconds_max * 1e6]],
        "slowest": f"{rank} on {one.slowest_host}" if one.slowest_host else str(rank),
    }


def _interval(spread: Spread) -> str:
    if spread.count == 1:
        return "none (one run)"
    certain = f"{spread.confidence:.0%} sure"
    return f"{_amount(spread.low)} – {_amount(spread.high)} ({certain})"


def _amount(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
