"""The HTML page of a benchmark: one file that holds everything, pictures too."""

from pathlib import Path

from forebay.domain.bench_result import BenchResult, Measurement
from forebay.domain.errors import BenchError, SetupError

_TEMPLATE = "bench_page.html.j2"
_QUANTILES = (0.5, 0.9, 0.99, 0.999)


class HtmlPages:
    """The port Pages over files."""

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
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        from forebay.adapters.bench_pictures import PICTURES
    except ImportError as error:
        raise SetupError(
            f"cannot draw the page ({error.name} is not installed). "
            "Install what it needs: pip install matplotlib jinja2."
        ) from error
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


def _row(one: Measurement) -> dict[str, object]:
    from forebay.adapters.bench_pictures import slowest

    spread = one.spread
    micros = [one.latency.quantile(at) * 1e6 for at in _QUANTILES]
    rank = slowest(one)
    return {
        "name": one.name,
        "unit": one.unit,
        "median": _amount(spread.median),
        "interval": f"{_amount(spread.low)} – {_amount(spread.high)} ({spread.confidence:.0%})",
        "runs": spread.count,
        "latency": [_amount(value) for value in [*micros, one.latency.seconds_max * 1e6]],
        "slowest": f"{rank} on {one.slowest_host}" if one.slowest_host else str(rank),
    }


def _amount(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
