"""Measures the price of files on a real file system: runs forebay-meta under the user's launcher,
each rank with files of its own, and reads how many it created and opened in a second."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.bench.model.command_line import Launch, Tool
from forebay.bench.use_case.bench import BenchWorld, plan_bench, run_and_read
from forebay.common.model.errors import ProbeError
from forebay.common.model.newer_python import zip_of
from forebay.ports import Captured
from forebay_tuning.model.metadata import (
    ROUNDS,
    FileRate,
    FilesAsk,
    MetadataRates,
    rate_of_rounds,
)

_FOLDERS_MOST = 64
"""Ranks beyond these share folders: each folder is a word of the command line."""
_PHASES = 4
"""Creating, opening, asking for the size, and removing."""
_SHARE_OF_PHASES = 0.5
"""Share of the seconds for them; the rest is for the start of the ranks."""


def measure_files(ask: FilesAsk, folder: Path, launch: Launch, bench: BenchWorld) -> MetadataRates:
    """Creates and opens the files below `folder`, and removes them. Raises ProbeError if that
    fails, or takes longer than it may."""
    if "@" in str(folder):
        raise ProbeError('the path of the directory has an "@", by which forebay-meta splits paths')
    phase = _SHARE_OF_PHASES * ask.seconds / (len(ask.levels) * ROUNDS * _PHASES)
    folders = [str(folder / str(at)) for at in range(min(ask.levels[-1], _FOLDERS_MOST))]
    words = ["--storm", "private", "--ranks", ",".join(map(str, ask.levels))]
    words += ["-n", str(ask.files_each), "-i", str(ROUNDS), "--phase-time", f"{phase:.3f}"]
    words += ["--no-live", "-d", "@".join(folders)]
    plan = plan_bench(Tool.META, words, launch, bench, read_by="forebay probe")

    def run() -> Captured:
        return bench.world.processes.capture(
            plan.words, environment=plan.environment, seconds_max=ask.seconds
        )

    ended, left = run_and_read(plan, bench, run)
    if ended.status is None:
        raise ProbeError(f"it took longer than {ask.seconds:.0f} s")
    if ended.status != 0 or not left.text:
        said = (left.complaint or ended.errors or ended.output).strip().splitlines()
        raise ProbeError(
            f"forebay-meta failed with status {ended.status}: {said[-1] if said else 'no word'}"
        )
    rows = json.loads(left.text)["rows"]
    return MetadataRates(
        creates=_rates(rows, ask.levels, "create", "close of new"),
        opens=_rates(rows, ask.levels, "open", "close"),
    )


def _rates(
    rows: Sequence[Mapping[str, Any]], levels: Sequence[int], *names: str
) -> tuple[FileRate, ...]:
    """The rates of the calls `names` together, at each number of processes."""
    found = []
    for processes in levels:
        parts = [
            row["repetitions"] for row in rows if row["ranks"] == processes and row["name"] in names
        ]
        rounds = [
            (int(calls[0]["operations"]), sum(float(one["seconds"]) for one in calls))
            for calls in zip_of(*parts, strict=True)
        ]
        rates = [files / seconds for files, seconds in rounds if files and seconds > 0]
        if len(parts) != len(names) or not rates:
            raise ProbeError(f"forebay-meta measured nothing with {processes} ranks")
        found.append(rate_of_rounds(processes, rates))
    return tuple(found)
