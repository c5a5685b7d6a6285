"""Slurm's burst buffer with a tier (packaging/slurm/burst_buffer.lua), on the Slurm of two nodes
that tests/slurm.sh brought up: files are copied before a job begins, and moved after its end."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mpi as m
from suite.file_systems import NOBODY, until
from suite.verdict import ensure

VARIABLE = "FOREBAY_SLURM"
SITE = Path(os.environ.get(VARIABLE, "/nowhere/slurm.conf")).parent
FAST = SITE / "bb" / str(NOBODY)
SECONDS_MAX = 300
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(not FAST.parent.is_dir(), reason=f"no {VARIABLE} whose Slurm has Lua"),
]
CONTENT = b"0123456789abcdef" * 10_000


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """Jobs of an ordinary user: root may have no burst buffer."""

    folder: Path

    def command(self, *words: object, text: str = "") -> subprocess.CompletedProcess[str]:
        prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        return subprocess.run(
            [*prefix, *map(str, words)],
            input=text,
            cwd=self.folder,
            env={
                **m.clean_environment(),
                "PATH": f"{SITE}:/usr/sbin:/usr/bin:/sbin:/bin",
                "SLURM_CONF": os.environ[VARIABLE],
            },
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    def submit(self, *lines: str, options: tuple[str, ...] = ()) -> str:
        """The number of a job that runs these lines."""
        script = "\n".join(("#!/bin/bash", *lines, ""))
        done = self.command("sbatch", "--parsable", "-o", "job.out", *options, text=script)
        ensure(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def shown(self, job: str) -> str:
        return self.command("scontrol", "show", "job", job).stdout

    def wait(self, job: str) -> None:
        """Until the job has ended and its files were moved."""
        ended = until(
            lambda: "JobState=COMPLETED" in self.shown(job) and not (FAST / job).exists(),
            SECONDS_MAX,
        )
        ensure(ended, f"{self.shown(job)}\n{self.said()}")

    def said(self) -> str:
        out = self.folder / "job.out"
        log = "\n".join((SITE / "slurmctld.log").read_text().splitlines()[-30:])
        return (out.read_text() if out.exists() else "") + log


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    # Not in /tmp, of which each node has its own.
    with tempfile.TemporaryDirectory(prefix="bb.", dir="/var/tmp") as made:
        folder = Path(made)
        os.chown(folder, NOBODY, NOBODY)
        (folder / "input").mkdir()
        (folder / "input" / "x").write_bytes(CONTENT)
        for path in (folder / "input", folder / "input" / "x"):
            os.chown(path, NOBODY, NOBODY)
        yield Jobs(folder=folder)


def _asks(jobs: Jobs, *words: str) -> str:
    return " ".join(("#BB_LUA forebay", *words, f"out={jobs.folder}"))


def test_files_are_there_before_a_job_and_moved_after_it(jobs: Jobs) -> None:
    job = jobs.submit(
        _asks(jobs, f"in={jobs.folder}/input"),
        'stat -c "%s" "$FOREBAY_TIER_PLACES"/in/replicas/*',
        'forebay run --tier "$FOREBAY_TIER" -- sh -c "forebay tier stat input/x; cp input/x copy"',
        # A tier that is killed at the end of its time leaves this.
        'forebay tier start "$FOREBAY_TIER_DIR" --fast "$FOREBAY_TIER_PLACES/$SLURMD_NODENAME" \\',
        '  --policy "write move=manual"',
        "cd .; cp input/x late; stat -c 'before: %s' late",
        'cd /; forebay tier stop "$OLDPWD" --leave; cd -; stat -c "late: %s" late',
    )
    jobs.wait(job)
    out = (jobs.folder / "job.out").read_text()
    ensure(out.splitlines()[0] == str(len(CONTENT)), f"it was not copied before: {out}")
    ensure("input/x: clean" in out, f"it was not read from fast storage: {out}")
    size = f"before: {len(CONTENT)}"
    ensure(size in out and "late: 0" in out, f"nothing was left to move: {out}")
    for name in ("copy", "late"):
        ensure((jobs.folder / name).read_bytes() == CONTENT, f"{name} is wrong: {jobs.said()}")


def test_a_request_that_cannot_be_used_is_refused_at_once(jobs: Jobs) -> None:
    for words, why in (
        ("in=relative", "no whole path"),
        ("in=/a/../b", "no whole path"),
        ("size=1G", "is none of in="),
        ("in=/elsewhere/x out=/here", "not below /here"),
        ("", "names no files"),
    ):
        script = f"#!/bin/sh\n#BB_LUA forebay {words}\ntrue\n"
        done = jobs.command("sbatch", text=script)
        ensure(done.returncode != 0 and why in done.stderr, f"{words}: {done.stderr}")


def test_a_job_whose_input_is_missing_is_held_and_says_so(jobs: Jobs) -> None:
    job = jobs.submit(_asks(jobs, f"in={jobs.folder}/none"), "true")
    ensure(until(lambda: "Check the path" in jobs.shown(job), SECONDS_MAX), jobs.shown(job))
    ensure("JobState=PENDING" in jobs.shown(job), jobs.shown(job))
    jobs.command("scancel", job)
    ensure(until(lambda: not (FAST / job).exists(), SECONDS_MAX), "its place stays")


def test_a_job_that_is_cancelled_while_it_waits_leaves_nothing(jobs: Jobs) -> None:
    job = jobs.submit(_asks(jobs, f"in={jobs.folder}/input"), "true", options=("-b", "now+1hour"))
    place = FAST / job / "in" / "replicas"
    copied = until(lambda: place.is_dir() and any(place.iterdir()), 60)
    jobs.command("scancel", job)
    ensure(until(lambda: not (FAST / job).exists(), SECONDS_MAX), f"it stays ({copied})")
    ensure((jobs.folder / "input" / "x").read_bytes() == CONTENT, "its bytes")


def test_bytes_of_a_file_that_somebody_else_changed_stay_where_they_are(jobs: Jobs) -> None:
    job = jobs.submit(
        _asks(jobs),
        'forebay tier start "$FOREBAY_TIER_DIR" --fast "${FOREBAY_TIER#*=}" \\',
        '  --policy "write move=job"',
        "cd .; echo new > x",
        'cd /; forebay tier stop "$OLDPWD" --leave; cd -; echo other > x',
    )
    said = until(lambda: "fast storage keeps it" in jobs.said().lower(), SECONDS_MAX)
    ensure(said, jobs.said())
    (kept,) = [one for one in (FAST / job / "in" / "rescue").iterdir() if one.suffix != ".txt"]
    ensure(kept.read_bytes() == b"new\n", "the bytes that were kept")
    ensure((jobs.folder / "x").read_bytes() == b"other\n", "the file was written over")
    jobs.command("rm", "-r", FAST / job)


def test_a_job_without_a_request_has_nothing_to_do_with_it(jobs: Jobs) -> None:
    job = jobs.submit("env | grep FOREBAY_TIER; true")
    ensure(until(lambda: "JobState=COMPLETED" in jobs.shown(job), SECONDS_MAX), jobs.shown(job))
    ensure((jobs.folder / "job.out").read_text() == "", jobs.said())
