"""Pairs of predictions and measurements on file systems that are probed for the purpose:
`python -m evaluation.tuning coverage --fresh 10`."""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from evaluation.pool.places import places
from evaluation.tuning_coverage import Pair, fresh
from evaluation.tuning_real import BUDGETS, forebay, launcher_words
from forebay_tuning.probe.files.portrait_file import read_portrait
from forebay_tuning.probe.use_case.probe import Budget, ProbeRequest
from forebay_tuning.probe.world import SystemOptions, system_of

TIMES = 3
"""Measurements of each side of a pair, of which the median is taken."""
_PROBE_SECONDS_MAX = 30.0


def fresh_pairs(chosen: argparse.Namespace) -> list[Pair]:
    """`chosen.fresh` pairs for each file system of --on. The measurements are kept beside the
    portraits, as coverage-NAME.json."""
    found = []
    for name in chosen.on:
        with _folder(name, chosen) as folder:
            pairs = _of_folder(name, folder, chosen)
        text = json.dumps([asdict(one) for one in pairs], indent=1)
        (chosen.keep / f"coverage-{name}.json").write_text(text + "\n")
        found += pairs
    return found


@contextlib.contextmanager
def _folder(name: str, chosen: argparse.Namespace) -> Iterator[Path]:
    known = places(chosen.slow_fs, ceph=chosen.ceph)
    if name in known:
        with known[name]() as place:
            yield place.folder
        return
    with tempfile.TemporaryDirectory() as text:
        yield Path(text)


def _of_folder(name: str, folder: Path, chosen: argparse.Namespace) -> list[Pair]:
    chosen.keep.mkdir(parents=True, exist_ok=True)
    path = chosen.keep.resolve() / f"{name}.toml"
    launcher = launcher_words()
    budget = BUDGETS.get(name, BUDGETS["limited200"])
    forebay(["probe", folder, *budget, "--share", "100%", "-o", path, "--", *launcher])
    portrait = read_portrait(path)
    asked = SystemOptions(
        words=[str(folder), *launcher],
        simulate=None,
        formulas=False,
        journal=path.with_suffix(".journal"),
        resume=False,
        targets=None,
        drift=0.0,
    )
    limits = Budget(seconds=1e4, bytes=1 << 40, files=10**6)
    system, _ = system_of(asked, ProbeRequest(level="quick", budget=limits, seed=1))
    system.ground()  # finds the ranks that take part, and the layout
    return fresh(
        portrait,
        system,
        name,
        points=chosen.fresh,
        times=TIMES,
        seconds_max=_PROBE_SECONDS_MAX,
    )
