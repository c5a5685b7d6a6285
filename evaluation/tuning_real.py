"""The whole cycle on real file systems: a portrait, advice for forebay-ior, and the verdict on that
advice. All three are kept in a folder."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.model import MPICH_402
from evaluation.pool.places import limited, tmpfs
from evaluation.table_report import TableReport, check_document, circumstances, publish
from evaluation.tables import TextTable
from forebay.common.model.frozen import frozen
from forebay.common.model.launcher import start

ROOT = Path(__file__).resolve().parents[1]
IOR = ROOT / "build" / "release" / "lib" / "mpich" / "forebay-ior"
MARKER = "tuning_real"
RANKS, TRANSFER = 2, "64k"
LIMITED_RATE = 200
"""MB/s of the limited disk."""
RATE = "^write +([0-9.]+)"
"""A regular expression for the rate in forebay-ior's output."""
SMALL, LARGE = ("8m", "4m"), ("256m", "128m")
"""Bytes of the file, and of each rank."""
BUDGETS: Mapping[str, Sequence[str]] = {
    "tmpfs": ("--seconds", "40", "--bytes", "480m"),
    "disk": ("--seconds", "40", "--bytes", "480m"),
    "limited200": ("--seconds", "60", "--bytes", "3g"),
    "ceph": ("--seconds", "40", "--bytes", "480m"),
}


@frozen
class Way:
    """A way in which the program writes, and the words that describe it to `forebay advise`."""

    label: str
    program: tuple[str, ...]
    words: tuple[str, ...]


WAYS = (
    Way(label="collective", program=("-a", "MPIIO", "-c"), words=("--collective",)),
    Way(label="each rank for itself", program=("-a", "POSIX"), words=()),
)


def real(chosen: argparse.Namespace) -> None:
    """Prints the table of docs/tuning.md."""
    check_document(MARKER, chosen.docs)
    before = circumstances("evaluation.tuning", sys.argv[1:])
    rows = []
    for name in chosen.on:
        with _folder(name, chosen) as folder:
            rows += _rows(name, folder, chosen)
    table = TextTable(
        title=f"forebay-ior of {RANKS} ranks, -w -e -t {TRANSFER}; at most {chosen.pairs} pairs",
        header=("file system", "written", "bytes", "advice", "predicted", "verdict", "pairs"),
        rows=tuple(rows),
    )
    publish(TableReport(circumstances=before, tables=(table,)), MARKER, chosen)


@contextlib.contextmanager
def _folder(name: str, chosen: argparse.Namespace) -> Iterator[Path]:
    if name == "tmpfs":
        with tmpfs() as place:
            yield place.folder
    elif name == "limited200":
        with limited(LIMITED_RATE) as place:
            yield place.folder
    else:
        with tempfile.TemporaryDirectory(dir=chosen.ceph if name == "ceph" else None) as text:
            yield Path(text)


def _rows(name: str, folder: Path, chosen: argparse.Namespace) -> list[tuple[str, ...]]:
    kept = chosen.keep.resolve()
    kept.mkdir(parents=True, exist_ok=True)
    portrait = kept / f"{name}.toml"
    launcher = launcher_words()
    budget = (*BUDGETS[name], "--share", "100%")
    forebay(["probe", folder, *budget, "-o", portrait, "--", *launcher])
    file_bytes, rank_bytes = LARGE if name == "limited200" else SMALL
    rows: list[tuple[str, ...]] = []
    for way in WAYS:
        stem = f"{name}-{way.label.split()[0]}"
        advice = kept / f"{stem}.advice.json"
        shape = ("--ranks", str(RANKS), "--bytes", file_bytes, "--transfer", TRANSFER)
        forebay(["advise", "--portrait", portrait, *shape, *way.words, "-o", advice])
        (one,) = json.loads(advice.read_text())["advice"]
        verdict: dict[str, Any] = {}
        if not one["keep"]:
            program = [IOR, *way.program, "-w", "-e", "-t", TRANSFER, "-b", rank_bytes]
            prove = ["verify", advice, "--output-dir", folder, "--rate", RATE, "--format", "json"]
            prove += ["--pairs", str(chosen.pairs), "--", *launcher, *program, "-o", "{out}/f"]
            verdict = json.loads(forebay(prove))
            (kept / f"{stem}.verdict.json").write_text(json.dumps(verdict, indent=2) + "\n")
        rows.append((name, way.label, file_bytes, _advised(one), *_found(one, verdict)))
    return rows


def _advised(one: Mapping[str, Any]) -> str:
    if one["keep"]:
        return "keep everything"
    return "; ".join(f"{item['name']} {item['now']} → {item['advised']}" for item in one["items"])


def _found(one: Mapping[str, Any], verdict: Mapping[str, Any]) -> tuple[str, str, str]:
    if not verdict:
        return "", "", ""
    ratio = verdict["ratio"]
    predicted = f"× {one['gain']:.2f} ({one['gain_low']:.2f} – {one['gain_high']:.2f})"
    interval = f"({ratio['low']:.2f} – {ratio['high']:.2f})"
    text = f"{verdict['verdict']}: × {ratio['estimate']:.2f} {interval}"
    return predicted, text, str(ratio["pairs"])


def launcher_words() -> tuple[str, ...]:
    """The words before a program, which start RANKS ranks of it under MPICH."""
    return start(
        MPICH_402.launcher,
        flavour=MPICH_402.family.flavour,
        ranks=RANKS,
        root=os.geteuid() == 0,
        variables={},
    )


def forebay(words: Sequence[str | Path]) -> str:
    """The output of a `forebay` command. `verify` has further exit statuses, for its verdicts."""
    ended = subprocess.run(
        [sys.executable, "-m", "forebay", *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ended.returncode not in ((0, 3, 4) if words[0] == "verify" else (0,)):
        raise RuntimeError(f"{words[0]}: status {ended.returncode}")
    return ended.stdout
