"""The whole loop: a portrait, advice from it, a program that runs with it, and the proof."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from suite import mpi as m
from suite.on import FULL
from suite.striping import limited_targets
from suite.verdict import ensure

RANKS = 2
SECONDS_MAX = 200
START_SECONDS = 3.0
"""Seconds that the interpreter may take before it probes."""
RATE = 50_000_000
"""Bytes per second of a limited disk, at which its limit is kept well."""
VERDICTS = ("improved", "equivalent", "worse", "inconclusive", "not applied")


@dataclass(frozen=True, kw_only=True)
class Loop:
    """The commands of one loop, in a folder of its own."""

    folder: Path
    launcher: Sequence[str]
    program: Sequence[str]

    def call(self, *words: str | Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Runs a command; another status than `status` is a failure."""
        ended = subprocess.run(
            [sys.executable, "-m", "forebay", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
            env={**m.clean_environment(), "PYTHONPATH": str(m.ROOT / "python")},
        )
        said = f"{' '.join(map(str, words))}: status {ended.returncode}\n{ended.stderr[-1500:]}"
        ensure(status is None or ended.returncode == status, said)
        return ended

    def apply(self) -> dict[str, Any]:
        """The report, which comes behind all that the program says. The status says whether an
        advised layout took effect, which it does nowhere here."""
        done = self._prove("apply", status=None)
        report = dict(json.loads(done.stderr.splitlines()[-1]))
        missed = any(one["name"] == "layout" and not one["took"] for one in report["effects"])
        ensure(done.returncode == (5 if missed else 0), f"{done.returncode}: {report}")
        return report

    def verify(self, *options: str, status: int | None) -> str:
        """The findings, as JSON if there are any."""
        return self._prove("verify", "--pairs", "6", *options, status=status).stdout

    def _prove(
        self, command: str, *options: str, status: int | None
    ) -> subprocess.CompletedProcess[str]:
        where = ("--output-dir", "out", *options, "--format", "json")
        words = (command, "advice.json", *where, "--", *self.launcher, *self.program)
        return self.call(*words, status=status)


def loop_in(folder: Path) -> Loop:
    (folder / "out").mkdir()
    ior = [str(m.LIBRARIES / "mpich" / "forebay-ior"), "-a", "MPIIO", "-c", "-w"]
    return Loop(
        folder=folder,
        launcher=m.MPICH.start(RANKS, {}),
        program=[*ior, "-t", "64k", "-b", "1m", "-o", "{out}/f"],
    )


def advised(loop: Loop, portrait: str, size: str = "2m") -> bool:
    """Advice for the program, in advice.json. False: it is to keep everything."""
    loop.call(
        *("advise", "--portrait", portrait, "--ranks", "2", "--bytes", size, "--collective"),
        *("-o", "advice.json"),
    )
    found = json.loads((loop.folder / "advice.json").read_text())["advice"]
    ensure(len(found) == 1, f"{len(found)} advices")
    return not found[0]["keep"]


def prove(loop: Loop) -> None:
    """Applied, read back, and verified: any verdict will do."""
    applied = loop.apply()
    ensure(applied["status"] == 0, "the program failed")
    ensure(len(applied["effects"]) > 0, "nothing was read back")
    for effect in applied["effects"]:
        ensure(effect["took"] or bool(effect["reason"]), f"no reason: {effect}")
    text = loop.verify("--margin", "50%", status=None)
    found = json.loads(text)
    ensure(found["verdict"] in VERDICTS and found["ratio"]["pairs"] == 6, text)
    ensure(not any((loop.folder / "out").iterdir()), "files were left")


@FULL
def test_loop_on_a_simulated_system(folder: Path) -> None:
    loop = loop_in(folder)
    slow = ("nodes=4", "target_rate=500MB/s")
    loop.call("probe", "--simulate", "lustre-96-ost", *slow, "-o", "model.toml")
    ensure(advised(loop, "model.toml", "64g"), "96 targets, and nothing to advise")
    with m.cores(m.MPICH, RANKS):
        prove(loop)


def test_loop_within_the_simulator(folder: Path) -> None:
    loop = loop_in(folder)
    loop.call("probe", "--simulate", "lustre-96-ost", "nodes=4", "-o", "model.toml")
    large = ("--ranks", "32", "--nodes", "4", "--bytes", "16g", "--collective")
    loop.call("advise", "--portrait", "model.toml", *large, "-o", "advice.json")
    verify = ("verify", "advice.json", "--simulate")
    said = loop.call(*verify, "lustre-96-ost", "--format", "json", "--", "nodes=4").stdout
    told = json.loads(said)
    ensure(told["verdict"] == "improved" and told["ratio"]["estimate"] > 1, said)
    ensure(set(told["firsts"]) == {"A", "B"}, "one side always came first")
    refused = loop.call(*verify, "laptop", status=2).stderr
    ensure("is too small" in refused, refused)


@FULL
def test_loop_on_the_local_disk(folder: Path) -> None:
    loop = loop_in(folder)
    with m.cores(m.MPICH, RANKS):
        within = ("--seconds", "30", "--bytes", "200m", "-o", "disk.toml")
        loop.call("probe", "out", *within, "--", *loop.launcher)
        ensure(not any((folder / "out").iterdir()), "probing left files")
        if advised(loop, "disk.toml"):
            prove(loop)
            return
        applied = loop.apply()
        ensure(applied["status"] == 0 and applied["effects"] == [], str(applied))
        # The calls are collective: the pairs are with and without Forebay, whatever comes out.
        ensure("verdict" in json.loads(loop.verify(status=None)), "nothing was verified")


@FULL
@pytest.mark.parametrize("slowed", [None, 1])
def test_a_slowed_target_is_named_and_a_healthy_one_is_not(
    folder: Path, slowed: int | None
) -> None:
    """Files are placed on each of three disks, one of which moves a quarter of the others' bytes.
    It seems slower than that: the kernel counts in slices, and a small file fits into one."""
    rates = [RATE // 4 if i == slowed else RATE for i in range(3)]
    with limited_targets(folder, rates) as mount:
        loop = Loop(folder=folder, launcher=m.MPICH.start(RANKS, {}), program=())
        budget = ("--seconds", "40", "--bytes", "2g", "--share", "100%")
        began = time.monotonic()
        loop.call("probe", mount, *budget, "-o", "portrait.toml", "--", *loop.launcher)
        took = time.monotonic() - began
    ensure(took < 40 * 1.05 + START_SECONDS, f"{took:.1f} s")
    portrait = tomllib.loads((folder / "portrait.toml").read_text())
    sick = {one["target"]: one["slower"]["value"] for one in portrait.get("sick", [])}
    ensure(sick.keys() == ({slowed} - {None}), f"sick: {sick}")
    ensure(all(slower > 2 for slower in sick.values()), f"{sick}")
