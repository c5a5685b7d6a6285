"""Fills docs/performance/*.md: the text is written by hand, and every number between the markers
`<!-- bench:NAME -->` and `<!-- /bench:NAME -->` comes from the JSON of a campaign."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from evaluation.model import STACKS, BenchError, Outcome
from evaluation.results import Results
from evaluation.suites import LIMITS, suite_named
from evaluation.summary import summarise
from evaluation.tables import limit_table, markdown, number, result_tables
from forebay.common.model.estimate import spread

ROOT = Path(__file__).resolve().parents[1]


def section(results: Results) -> str:
    """The text between a suite's markers."""
    parts = [f"```sh\n{results.command}\n```", _circumstances(results)]
    if results.suite == LIMITS:
        parts.append(markdown(limit_table(results.limits)))
        return "\n\n".join(parts)
    suite = suite_named(results.suite)
    rows = summarise(suite, results.cases, results.samples, results.limits)
    parts += [markdown(table) for table in result_tables(suite, rows)]
    return "\n\n".join([*parts, *_remarks(results)])


def _circumstances(results: Results) -> str:
    machine = results.machine
    systems = ", ".join(f"{kind} is {name}" for kind, name in sorted(machine.file_systems.items()))
    words = [
        f"Commit `{results.commit}`{' (modified)' if results.modified else ''}, "
        f"{results.started}, {results.seconds / 60:.0f} min, seed {results.seed}.",
        f"{machine.processor}, {machine.cores} cores, {machine.memory_mebibytes // 1024} GiB, "
        f"Linux {machine.kernel}; {systems}.",
    ]
    if results.samples:
        load = spread([one.load for one in results.samples])
        words.append(
            f"{len(results.samples)} launches; load before a launch {number(load.median)} "
            f"({number(load.least)}-{number(load.most)})."
        )
    most = max((case.ranks for case in results.cases), default=0)
    if most > machine.cores:
        words.append(f"Up to {most} ranks share {machine.cores} cores.")
    if results.settings:
        words.append("Settings: " + ", ".join(f"`{k}={v}`" for k, v in results.settings.items()))
    return " ".join(words)


def _remarks(results: Results) -> Sequence[str]:
    """For each stack that failed, the message of its first failure."""
    seen: dict[str, str] = {}
    for one in results.samples:
        if one.outcome in (Outcome.FAILED, Outcome.INACTIVE) and one.stack not in seen:
            seen[one.stack] = f"{one.case}: {' '.join(one.message.split())[:200]}"
    if not seen:
        return []
    lines = [f"- {STACKS[name].label}: {text}" for name, text in seen.items()]
    return ["Failed:\n\n" + "\n".join(lines)]


def fill(document: str, name: str, text: str) -> str:
    """Replaces the text between the markers. Raises BenchError if there are no such markers."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(document):
        raise BenchError(
            f"No place for {name} (markers {begin} and {end} are missing). Add them to the "
            "document."
        )
    return pattern.sub(lambda _: f"{begin}\n{text}\n{end}", document, count=1)
