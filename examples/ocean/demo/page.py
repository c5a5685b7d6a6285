"""The HTML page: one file that holds everything, pictures too."""

import base64
from collections.abc import Sequence
from pathlib import Path

from demo.experiment import Comparison
from demo.summary import rows, setting, spread_text, untouched, verdict
from forebay.common.report.page_template import filled

_TEMPLATE = Path(__file__).with_name("page.html.j2")


def write_page(
    comparisons: Sequence[tuple[Comparison, Path | None]],
    path: Path,
    *,
    map_png: Path,
    timings_png: Path,
) -> None:
    """Render the page from its template beside this module. A comparison on a disk that was watched
    has a picture of its time lines."""
    page = filled(
        _TEMPLATE,
        parts=[_part(*one) for one in comparisons],
        map=_embedded(map_png),
        timings=_embedded(timings_png),
    )
    path.write_text(page, encoding="utf-8")


def _part(comparison: Comparison, timeline: Path | None) -> dict[str, object]:
    last = comparison.pairs[-1]
    return {
        "title": comparison.variant.title,
        "timeline": None if timeline is None else _embedded(timeline),
        "verdict": verdict(comparison.ratio),
        "pairs": len(comparison.pairs),
        "spread": spread_text(comparison.ratio),
        "setting": setting(comparison),
        "rows": rows(comparison),
        "digests": comparison.digests,
        "untouched": untouched(comparison),
        "plain_command": last.plain.command,
        "forebay_command": last.forebay.command,
    }


def _embedded(png: Path) -> str:
    return base64.b64encode(png.read_bytes()).decode("ascii")
