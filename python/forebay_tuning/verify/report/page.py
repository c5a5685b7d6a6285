"""The HTML page of a verification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from forebay.common.model.newer_python import zip_of
from forebay.common.model.printable import shell_words
from forebay.common.report.drawn_pages import DrawnPages, write_page
from forebay.common.report.page_template import filled
from forebay_tuning.apply.report import effect_text
from forebay_tuning.verify.model import Verification
from forebay_tuning.verify.report.text import as_text
from forebay_tuning.verify.use_case.verify_advice import Verified

_TEMPLATE = Path(__file__).with_name("page.html.j2")


class VerificationPages(DrawnPages):
    """The HTML pages of verifications."""

    def write(
        self, done: Verified, command: Sequence[str], path: Path, *, platform: str | None
    ) -> None:
        """Writes the verification as one self-contained page. `platform` is the simulated machine;
        None for runs on this one."""
        write_page(render(done, command, platform=platform), path)


def render(done: Verified, command: Sequence[str], *, platform: str | None = None) -> str:
    """The page's HTML."""
    from forebay_tuning.verify.report.pictures import PICTURES

    found = done.verification
    verdict, *details = as_text(done, command).splitlines()
    return filled(
        _TEMPLATE,
        verdict=verdict,
        details=[line.strip() for line in details if line.strip() not in _effects(done)],
        effects=_effects(done),
        trouble=done.trouble,
        about=f"simulated on {platform}: a model, and no proof" if platform else "of the command ",
        command="" if platform else shell_words(command),
        pictures=[]
        if found is None
        else [
            {"title": title, "caption": caption, "svg": draw(found)}
            for title, caption, draw in PICTURES
        ],
        rows=[] if found is None else _rows(found, [one.value for one in done.firsts]),
    )


def _rows(found: Verification, firsts: Sequence[str]) -> list[tuple[str, ...]]:
    """A row for each pair, and one with the medians."""
    pairs = zip_of(found.default, found.advised, firsts, strict=False)
    rows = [
        (
            str(number),
            "as it is" if first == "A" else "advised",
            f"{default:.4g}",
            f"{advised:.4g}",
            f"{default / advised:.3f}",
        )
        for number, (default, advised, first) in enumerate(pairs, start=1)
    ]
    return [
        *rows,
        ("median", "", f"{median(found.default):.4g}", f"{median(found.advised):.4g}", ""),
    ]


def _effects(done: Verified) -> list[str]:
    return [effect_text(one) for one in done.missing]
