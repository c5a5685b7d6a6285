"""The pages of `forebay bench`, `probe`, `advise`, `verify` and `report` as a browser shows them:
nothing fails, nothing is fetched, nothing is wider than the window, every picture is there, and
words and lines can be read, on light ground and on dark."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.browser import Browser, browser
from suite.on import FULL
from suite.prober import PACKAGES
from suite.verdict import ensure

WIDE, NARROW, HEIGHT = 1200, 360, 900
"""A window on a desk, and a telephone, in px."""
SECONDS_MAX = 300
# Elements that reach out of the window, pictures without a size, and labels of pictures that reach
# out of them or lie over each other; content that scrolls inside `.wide` is there to be scrolled.
LOOK = """(() => {
  const said = one => [...one.childNodes].find(node => node.nodeType === Node.COMMENT_NODE);
  const label = one => `label "${said(one) ? said(one).data.trim() : one.id}"`;
  const wide = [], empty = [], cut = [], most = document.documentElement.clientWidth + 0.5;
  for (const one of document.querySelectorAll('body, body *')) {
    const box = one.getBoundingClientRect();
    const name = `${one.tagName.toLowerCase()} ${one.textContent.trim().slice(0, 40)}`;
    const scrolls = one.closest('.wide') && one.closest('.wide') !== one;
    const inPicture = one.closest('svg') && one.tagName !== 'svg';
    if (!inPicture && !(scrolls && SCROLLED) && box.right > most)
      wide.push(`${name}: ${box.right}`);
    if (one.closest('details:not([open])')) continue;  // folded away
    if (['svg', 'IMG', 'CANVAS'].includes(one.tagName) && !(box.width > 50 && box.height > 50))
      empty.push(`${name}: ${box.width} x ${box.height}`);
  }
  for (const picture of document.querySelectorAll('svg')) {
    const frame = picture.getBoundingClientRect();
    const boxes = [...picture.querySelectorAll('g[id^=text]')]
      .map(one => [one, one.getBoundingClientRect()]).filter(([_, box]) => box.width > 0);
    for (const [one, box] of boxes)
      if (box.left < frame.left - 1 || box.right > frame.right + 1
          || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        cut.push(`${label(one)} is cut off`);
    for (const [at, [one, box]] of boxes.entries())
      for (const [other, its] of boxes.slice(at + 1))
        if (Math.min(box.right, its.right) - Math.max(box.left, its.left) > 2
            && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 2)
          cut.push(`${label(one)} lies over ${label(other)}`);
  }
  return {
    wide, empty, cut,
    across: document.documentElement.scrollWidth,
    pictures: document.querySelectorAll('svg').length,
    words: document.body.innerText,
  };
})()"""


ORIGIN = re.compile(
    r"Page made by Forebay \d+\.\d+\.\d+\S*, \d{4}-\d\d-\d\d \d\d:\d\d UTC, on \S+: "
    r"(.+, )?\d+ cores?, Linux \d\S+"
)
"""The one form of all footers: version, date, host, processor, cores and kernel."""
QUICK = "hpio"
"""The page that `make test` looks at."""
# Words and lines of charts whose colour is close to that of the ground, by the contrast ratio of
# WCAG 2; 3 is what it asks of large text and of graphics. Grids and fills may be faint.
CONTRASTS = """(() => {
  const parts = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = light(parts(getComputedStyle(document.body).backgroundColor));
  const ratio = text => {
    const one = light(parts(text));
    return (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05);
  };
  const found = new Set();
  for (const one of document.querySelectorAll('h1, h2, p, li, td, th, summary, footer, code'))
    if (ratio(getComputedStyle(one).color) < 4.5)
      found.add(`${one.tagName} ${getComputedStyle(one).color}`);
  for (const one of document.querySelectorAll('svg g[id^=text] g'))
    if (ratio(getComputedStyle(one).fill) < 4.5) found.add(`label ${getComputedStyle(one).fill}`);
  for (const one of document.querySelectorAll('svg g[id^=line2d] > path')) {
    const stroke = getComputedStyle(one).stroke;
    const grid = one.closest('g[id^=xtick], g[id^=ytick]');
    if (!grid && stroke !== 'none' && ratio(stroke) < 3) found.add(`line ${stroke}`);
  }
  return [...found];
})()"""
# For each frame with something wider than it: whether it can be moved sideways, by keys as well.
FRAMES = """[...document.querySelectorAll('.wide')]
  .filter(one => one.scrollWidth > one.clientWidth)
  .map(one => getComputedStyle(one).overflowX === 'auto' && one.tabIndex === 0)"""


def forebay(folder: Path, *words: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "forebay", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        env={
            **m.clean_environment(),
            "PYTHONPATH": PACKAGES,
            "FOREBAY_LIBDIR": str(m.LIBRARIES),
        },
    )
    ensure(ended.returncode == 0, f"{words}: status {ended.returncode}\n{ended.stderr[-1500:]}")


def portrait(folder: Path) -> Path:
    machine = ("--simulate", "lustre-96-ost", "--formulas")
    forebay(folder, "probe", *machine, "-o", "model.toml", "--html", "portrait.html")
    return folder / "portrait.html"


def advice(folder: Path) -> Path:
    portrait(folder)
    program = ("--ranks", "512", "--nodes", "16", "--bytes", "256g", "--collective")
    forebay(folder, "advise", "--portrait", "model.toml", *program, "--html", "advice.html")
    return folder / "advice.html"


def verification(folder: Path) -> Path:
    portrait(folder)
    program = ("--ranks", "64", "--nodes", "2", "--bytes", "32g", "--collective")
    forebay(folder, "advise", "--portrait", "model.toml", *program, "-o", "advice.json")
    words = ("--simulate", "lustre-96-ost", "--pairs", "6", "--html", "verify.html")
    forebay(folder, "verify", "advice.json", *words)
    return folder / "verify.html"


def report(folder: Path) -> Path:
    darshan = pytest.importorskip("darshan")
    logs = Path(darshan.__file__).parent.rglob("sample-badost.darshan")
    forebay(folder, "report", str(next(logs)), "--html", "report.html")
    return folder / "report.html"


def comparison(folder: Path) -> Path:
    """The page of two sizes of transfers, in interleaved pairs."""
    own = ("--pairs", "6", "--html", "comparison.html")
    sides = [["ior", "-t", size, "-b", "1m", "-o", str(folder / "f")] for size in ("64k", "256k")]
    forebay(folder, "bench", "compare", "-np", "1", *own, *sides[0], "--", *sides[1])
    return folder / "comparison.html"


def benchmark(folder: Path, name: str) -> Path:
    """The page of a result that a benchmark has left."""
    from forebay.bench.files import decode_result
    from forebay.bench.report.page import render

    result = (m.ROOT / "schema" / "examples" / f"bench-{name}-1.json").read_text(encoding="utf-8")
    page = folder / f"{name}.html"
    page.write_text(render(decode_result(result)), encoding="utf-8")
    return page


def course(folder: Path) -> Path:
    """The page of a run through the pool."""
    writes = "import time\nfor part in range(5): file.write(bytes(1 << 20)); time.sleep(0.3)"
    program = f"file = open('out', 'wb', 0)\n{writes}"
    line = ("run", "--record", "run.jsonl", "--pool", ".", "--", sys.executable, "-c", program)
    forebay(folder, *line)
    forebay(folder, "report", "run.jsonl", "--html", "course.html")
    return folder / "course.html"


PAGES: dict[str, tuple[Callable[[Path], Path], int]] = {
    "storm": (partial(benchmark, name="meta"), 2),
    "hpio": (partial(benchmark, name="hpio"), 2),
    "course": (course, 1),
    "portrait": (portrait, 6),
    "advice": (advice, 1),
    "report": (report, 1),
    "verification": (verification, 2),
    "comparison": (comparison, 2),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == QUICK else FULL) for name in PAGES]
)
def test_page_is_shown_whole_on_a_desk_and_on_a_telephone_by_day_and_night(
    name: str, folder: Path
) -> None:
    make, pictures = PAGES[name]
    page = make(folder)
    with browser(folder) as shown:
        for width in (WIDE, NARROW):
            shown.open(page, width=width, height=HEIGHT)
            for scheme in ("light", "dark"):
                feature = {"name": "prefers-color-scheme", "value": scheme}
                shown.do("Emulation.setEmulatedMedia", features=[feature])
                found = look_at(shown, scrolled=width == NARROW)
                shown.screenshot(folder / f"{name}-{width}-{scheme}.png")
                ensure_whole(found, width)
                faint = shown.evaluate(CONTRASTS)
                ensure(not faint, f"hard to read in the {scheme}: {faint}")
            ensure_alone(shown, page)
        ensure(found["pictures"] >= pictures, f"{found['pictures']} pictures, not {pictures}")
        footer = shown.evaluate("document.querySelector('footer').innerText")
        ensure(ORIGIN.fullmatch(footer), f"the footer has another form: {footer}")
        for text in ("undefined", "NaN", "None", "{{", "nan"):
            ensure(text not in found["words"].split(), f'"{text}" is on the page')
        frames = shown.evaluate(FRAMES)
        ensure(frames and all(frames), f"charts that are not scrolled inside their frame: {frames}")


def look_at(shown: Browser, *, scrolled: bool) -> Mapping[str, Any]:
    """The faults that LOOK finds; with `scrolled`, what is in a frame may be wider than it."""
    found: Mapping[str, Any] = shown.evaluate(LOOK.replace("SCROLLED", str(scrolled).lower()))
    return found


def ensure_alone(shown: Browser, page: Path) -> None:
    """Nothing was said on the console, and nothing but the page was asked for."""
    thrown = [str(one["exceptionDetails"]) for one in shown.events("Runtime.exceptionThrown")]
    logged = [one["entry"]["text"] for one in shown.events("Log.entryAdded")]
    said = [str(one["args"]) for one in shown.events("Runtime.consoleAPICalled")]
    ensure(not [*thrown, *logged, *said], f"on the console: {[*thrown, *logged, *said]}")
    asked = {one["request"]["url"] for one in shown.events("Network.requestWillBeSent")}
    ensure(asked == {page.resolve().as_uri()}, f"asked for: {asked}")


def ensure_whole(found: Mapping[str, Any], width: int) -> None:
    ensure(not found["wide"], f"wider than the window: {found['wide']}")
    ensure(found["across"] <= width, f"the page is {found['across']} px wide")
    ensure(not found["empty"], f"without a size: {found['empty']}")
    ensure(not found["cut"], f"labels that cannot be read: {found['cut']}")


@FULL
def test_what_is_wrong_with_a_page_is_seen(folder: Path) -> None:
    """The checks above can fail."""
    page = folder / "wrong.html"
    page.write_text(
        '<!doctype html><link rel="icon" href="data:,"><script>throw new Error("here")</script>'
        '<img src="http://elsewhere.example/x.png"><div style="width: 2000px">wide</div>'
        '<svg width="0"></svg><svg width="100" height="100"><g id="text_1"><!-- a label -->'
        '<rect x="80" width="40" height="9"/></g><g id="text_2"><rect x="90" width="9" height="9"/>'
        "</g></svg>"
    )
    with browser(folder) as shown:
        shown.open(page, width=WIDE, height=HEIGHT)
        found = look_at(shown, scrolled=False)
        with pytest.raises(AssertionError, match="here"):
            ensure_alone(shown, page)
        ensure(any("div" in one for one in found["wide"]), str(found))
        ensure(any("svg" in one for one in found["empty"]), str(found))
        for text in ('"a label" is cut off', '"a label" lies over label "text_2"'):
            ensure(any(text in one for one in found["cut"]), str(found))
        asked = [one["request"]["url"] for one in shown.events("Network.requestWillBeSent")]
        ensure(any("elsewhere" in one for one in asked), str(asked))
