"""`forebay tier` and `forebay run --tier`, as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import mounted as mo
from suite.command import FOREBAY, environment
from suite.tiers import TOOL
from suite.verdict import ensure

pytestmark = mo.needs_mount
NOT_ARRIVED = 74
STEERS = "a\x1b[31mb\nforebay-mount: c"
SHOWN = "a\\033[31mb\\nforebay-mount: c"


@dataclass(frozen=True, kw_only=True)
class Places:
    """A folder, and one in fast storage."""

    folder: Path
    fast: Path

    def forebay(
        self, *words: str, status: int = 0, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The command, beside both folders."""
        done = subprocess.run(
            [*FOREBAY, *words],
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            timeout=mo.SECONDS_MAX,
            check=False,
            env={**environment(), **(more or {})},
        )
        said = done.stdout + done.stderr
        ensure(done.returncode == status, f"{' '.join(words)} ended with {done.returncode}: {said}")
        return done

    def tier(self, *words: str, status: int = 0) -> str:
        """Runs `forebay tier`, and returns what it printed."""
        done = self.forebay("tier", *words, status=status)
        return done.stdout + done.stderr


@pytest.fixture
def places() -> Iterator[Places]:
    with tempfile.TemporaryDirectory(prefix="tier.", dir="/tmp") as made:
        folder = Path(made, "global")
        folder.mkdir()
        try:
            yield Places(folder=folder, fast=Path(made, "fast"))
        finally:
            mo.unmount(folder)


def test_a_tier_is_started_looked_at_and_ended(places: Places) -> None:
    places.tier("start", "global", "--fast", "fast", "--policy", "write move=job")
    ensure(mo.is_mounted(places.folder), "it is not mounted")
    (places.folder / "x").write_bytes(b"x" * 5000)
    status = json.loads(places.tier("status", "global", "--format", "json"))
    ensure((status["waiting"], status["waiting_bytes"]) == (1, 5000), f"{status}")
    ensure("waiting: 1 file of" in places.tier("status", "global"), "the text")
    said = places.tier("stat", "global/x")
    ensure("global/x: dirty" in said and "waits for the end of the job" in said, said)
    since = json.loads(places.tier("stat", "global/x", "--format", "json"))["files"][0]
    ensure(abs(since["newer_since"] - time.time()) < mo.SECONDS_MAX, f"{since}")
    places.tier("evict", "global/x", status=1)
    places.tier("sync", "global/x")
    ensure("global/x: clean" in places.tier("stat", "global/x"), "stat")
    places.tier("evict", "global")
    ensure("global/x: none" in places.tier("stat", "global/x"), "stat")
    places.tier("preload", "global")
    ensure("global/x: clean" in places.tier("stat", "global/x"), "stat")
    (places.folder / "y").write_bytes(b"y" * 5000)
    places.tier("stop", "global")
    ensure(not mo.is_mounted(places.folder), "it is still mounted")
    ensure((places.folder / "y").read_bytes() == b"y" * 5000, "it was not moved")


def test_policies_are_set_and_shown(places: Places) -> None:
    places.tier("start", "global", "--fast", "fast")
    places.tier("policy", "set", "global", "write", "move=manual", "largest=1MiB")
    ensure("move=manual" in places.tier("policy", "show", "global"), "show")
    (places.folder / "x").write_bytes(b"x")
    said = places.tier("stop", "global", status=1)
    ensure(f"{places.folder}/x is not moved" in said, said)
    said = places.tier("policy", "set", "global", "sometimes", status=1)
    ensure('cannot use "sometimes"' in said, said)
    places.tier("finish", "global", "--fast", "fast")
    ensure((places.folder / "x").read_bytes() == b"x", "it was not moved")


def test_no_message_has_a_name_that_steers_the_terminal(places: Places) -> None:
    """The log had such names as they are: they coloured what follows, or were lines of ours."""
    place = ("--dir", "global", "--fast", "fast")
    said = places.tier("preload", *place, f"global/{STEERS}", status=1)
    ensure(f"global/{SHOWN}" in said, repr(said))
    ensure(all(line.isprintable() for line in said.splitlines()), repr(said))
    places.tier("start", "global", "--fast", "fast", "--policy", "write move=manual")
    (places.folder / STEERS).write_bytes(b"x")
    said = places.tier("stop", "global", status=1)
    log = (places.fast / "mount.log").read_text()
    for text in (said, log):
        ensure(f"{places.folder}/{SHOWN} is not moved" in text, repr(text))
        ensure(all(line.isprintable() for line in text.splitlines()), repr(text))
    words = ("stat", str(places.fast), str(places.folder), str(places.folder / STEERS))
    said = mo.run_in(Path("/"), str(TOOL), *words).stdout
    ensure(f"{places.folder}/{SHOWN}: replica" in said, repr(said))


def test_a_tier_in_a_batch_job_knows_its_end(places: Places) -> None:
    ended = {"SLURM_JOB_END_TIME": "1000"}
    places.forebay("tier", "start", "global", "--fast", "fast", more=ended)
    (places.folder / "x").write_bytes(b"x")
    ensure("global/x: none" in places.tier("stat", "global/x"), "there is no time to move it")
    places.tier("stop", "global")


def test_what_is_left_is_finished(places: Places) -> None:
    places.tier("start", "global", "--fast", "fast", "--policy", "write move=job")
    (places.folder / "x").write_bytes(b"x")
    places.tier("stop", "global", "--leave")
    ensure((places.folder / "x").stat().st_size == 0, "it was moved")
    (places.fast / "list.sqlite").write_bytes(b"damaged")
    said = places.tier("check", "global", "--fast", "fast")
    ensure("to be moved: 1 replica of 1 byte" in said, said)
    ensure((places.folder / "x").stat().st_size == 0, "check has moved it")
    places.tier("finish", "global", "--fast", "fast")
    ensure((places.folder / "x").read_bytes() == b"x", "it was not moved")


def test_fast_storage_is_filled_before_a_tier_is_started(places: Places) -> None:
    (places.folder / "in").mkdir()
    (places.folder / "in" / "x").write_bytes(b"x" * 5000)
    place = ("--dir", "global", "--fast", "fast")
    places.tier("preload", *place, "global/in")
    (replica,) = (places.fast / "replicas").iterdir()
    ensure(replica.read_bytes() == b"x" * 5000, "it was not copied")
    said = places.tier("preload", *place, "global/none", "global/in", status=1)
    ensure("cannot open" in said and "global/none" in said, said)
    said = places.tier("preload", "--fast", "fast", "global/in", status=2)
    ensure("cannot use one of --fast and --dir alone" in said, said)
    places.tier("start", "global", "--fast", "fast", "--shared", "--wait", "5")
    ensure("global/in/x: clean" in places.tier("stat", "global/in/x"), "the tier has it not")
    places.tier("stop", "global")


def test_where_no_tier_is_the_command_says_so(places: Places) -> None:
    (places.folder / "x").write_bytes(b"x")
    for words in (
        ("status", "global"),
        ("stat", "global/x"),
        ("sync", "global/x"),
        ("stop", "global"),
    ):
        said = places.tier(*words, status=1)
        ensure("none is mounted there" in said, said)
    ensure(not os.listxattr(places.folder / "x"), "an order was left on the file")


def test_a_program_runs_in_a_tier(places: Places) -> None:
    script = "seq 100000 > global/out && stat -c %s global/out && cp global/out global/copy"
    done = places.forebay("run", "--tier", "global=fast", "--", "sh", "-c", script)
    expected = "".join(f"{number}\n" for number in range(1, 100001))
    ensure(done.stdout == f"{len(expected)}\n", done.stdout)
    ensure(not mo.is_mounted(places.folder), "it is still mounted")
    for name in ("out", "copy"):
        ensure((places.folder / name).read_text() == expected, f"{name} is wrong")
    ensure(any((places.fast / "replicas").iterdir()), "it did not go to the tier")
    told = next(line for line in done.stderr.splitlines() if line.startswith("tier of global: "))
    ensure("written to fast storage" in told and "1 of 1 file read there" in told, told)


def test_a_run_says_what_did_not_arrive(places: Places) -> None:
    os.setxattr(places.folder, "user.forebay.policy", b"write move=manual")
    done = places.forebay(
        *("run", "--tier", "global=fast", "--", "sh", "-c", "echo new > global/x"),
        status=NOT_ARRIVED,
    )
    ensure(f"{places.folder}/x is not moved" in done.stderr, done.stderr)


def test_a_run_keeps_the_programs_status_and_working_folder(places: Places) -> None:
    words = ("run", "--tier", f"{places.folder}={places.fast}", "--")
    done = places.forebay(*words, "sh", "-c", "cd global && echo x > x && exit 7", status=7)
    ensure((places.folder / "x").read_text() == "x\n", done.stderr)
    inside = Places(folder=places.folder / "inside", fast=places.fast)
    inside.folder.mkdir()
    inside.forebay(*words, "sh", "-c", "echo y > y")
    ensure((places.folder / "y").read_text() == "y\n", "it ran below the mount")
    ensure(len(list((places.fast / "replicas").iterdir())) == 2, "it did not go to the tier")


def test_a_pool_is_before_a_tier(places: Places) -> None:
    """The output of the program goes to memory, then to fast storage, then to the file."""
    writer = (
        "import os; fd = os.open('global/x', os.O_CREAT | os.O_RDWR); os.write(fd, b'x' * 5000)"
    )
    words = ("run", "--tier", "global=fast", "--pool", "global", "--format", "json", "--")
    done = places.forebay(*words, sys.executable, "-c", writer)
    ensure((places.folder / "x").read_bytes() == b"x" * 5000, "its bytes")
    ensure(any((places.fast / "replicas").iterdir()), "it did not go to the tier")
    told = json.loads(done.stderr.splitlines()[-1])
    ensure(told["pool"]["taken"] == 5000, done.stderr)
    (tier,) = told["tiers"]
    ensure((tier["made"], tier["taken_bytes"]) == (1, 5000), f"{tier}")


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("pool_mount=require", "a folder has one mount"),
        ("pool_durability=node", "would write to files past the tier"),
        ("pool_nodes=2", "daemons of other nodes"),
    ],
)
def test_a_pool_that_would_go_past_the_tier_is_refused(
    places: Places, setting: str, why: str
) -> None:
    words = ("run", "--tier", "global=fast", "--pool", "global", "--set", setting, "--", "true")
    said = places.forebay(*words, status=2).stderr
    ensure("cannot use a tier below this pool" in said and why in said, said)
    ensure(not mo.is_mounted(places.folder), "it was mounted")
