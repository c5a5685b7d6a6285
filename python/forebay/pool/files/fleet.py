"""The daemons of a job with several nodes: started by a job step of Slurm or by an MPI launcher,
introduced to each other, and ended together."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay.common.files.own_folders import make_folder, remove_stale
from forebay.common.model.errors import PoolError, PoolStartError
from forebay.common.model.frozen import frozen
from forebay.common.model.record import PoolNode, PoolSample
from forebay.common.model.units import counted
from forebay.pool.files.daemon import DrainInterrupts, signals_held
from forebay.pool.files.daemon_document import decode_samples, decode_status
from forebay.pool.files.daemon_start import death_of, log_of, messages_in, started
from forebay.pool.model.place import READY_SCHEMA, PoolPlace
from forebay.pool.model.pool import Lost, PoolEnd, PoolStatus, WaitHistogram
from forebay.pool.model.sampling import samples_max_of, since_start, summed
from forebay.pool.use_case.ports import Progress

JOINED_SCHEMA = "forebay.pool.joined/1"
PEERS_SCHEMA = "forebay.pool.peers/1"
LOST_SCHEMA = "forebay.pool.lost/1"
PART_SCHEMA = "forebay.pool.part/1"

_MAILBOX_PREFIX = ".forebay-pool-"
_START_SECONDS_MAX = 120.0
_END_SECONDS_MAX = 10.0
_POLL_SECONDS = 0.1
_SECRET_BYTES = 32
# Runs a launcher without input. The process beside it reads the input instead, which ends when the
# starting process dies; then it removes the mailbox folder. It is nobody's child, so that the
# launcher does not meet a child that it has not started.
_WATCH = """( { while read -r _; do :; done; rm -rf "$0"; } <&3 3<&- > /dev/null 2>&1 & ) 3<&0
exec "$@" < /dev/null"""
_TASK = Path(__file__).with_name("fleet_task.sh")


def task_text() -> str:
    """The shell program that runs on each node, as text: other nodes need not see our files."""
    lines = _TASK.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def starter_of(place: PoolPlace) -> tuple[str, ...]:
    """The command in front of the daemon's: the given starter, or srun."""
    if place.starter:
        return place.starter
    nodes = str(place.nodes)
    return (
        "srun",
        "--overlap",
        f"--nodes={nodes}",
        f"--ntasks={nodes}",
        "--ntasks-per-node=1",
        "--kill-on-bad-exit=0",
        "--quiet",
    )


class Fleet:
    """The port PoolDaemon for daemons on several nodes: one child process that started them all."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        place: PoolPlace,
        mailbox_folder: Path | None = None,
    ) -> None:
        """`mailbox_folder` is a shared folder for messages to the daemons, for a starter that does
        not pass its standard input to all tasks; None if it does."""
        self._process = process
        self._place = place
        self._mailbox_folder = mailbox_folder
        self._text = b""
        self._joined_at = 0.0
        self._lead_seconds = 0.0

    @property
    def process(self) -> None:
        """None, since each node has another process."""

    def meet(self) -> None:
        """Waits until all daemons listen, sends each the addresses of all, and waits until all are
        connected. Raises PoolStartError if that does not happen in time."""
        deadline = time.monotonic() + _START_SECONDS_MAX
        ready = self._lines(READY_SCHEMA, deadline)
        addresses = {int(one["node"]): str(one["address"]) for one in ready}
        if sorted(addresses) != list(range(self._place.nodes)):
            raise PoolStartError(
                f"cannot start the daemons of the pool ({len(addresses)} different ones of "
                f"{self._place.nodes} are there). The starter has to start one task on each node, "
                "and to number them; see the setting pool_starter."
            )
        said = {
            "schema": PEERS_SCHEMA,
            "secret": secrets.token_hex(_SECRET_BYTES),
            "addresses": [addresses[node] for node in range(self._place.nodes)],
        }
        try:
            self._introduce(json.dumps(said).encode() + b"\n")
        except OSError as error:
            raise PoolStartError(self._complaint(error.strerror or "")) from error
        self._lines(JOINED_SCHEMA, deadline)
        self._joined_at = time.monotonic()

    def _introduce(self, line: bytes) -> None:
        if self._mailbox_folder:
            _post(self._mailbox_folder, "peers", line)
            return
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def program_started(self) -> None:
        """Notes the time, from which samples are counted: daemons begin to take them when they have
        joined. (What a daemon has taken along when it dies, its own node tells.)"""
        self._lead_seconds = time.monotonic() - self._joined_at

    def close_down(self) -> None:
        """Makes the daemons take no more deposits and drain those that they have."""
        if self._mailbox_folder:
            _post(self._mailbox_folder, "USR1")
        else:
            self._process.send_signal(signal.SIGUSR1)

    def _give_up(self) -> None:
        """Makes the daemons write what is left to rescue files."""
        if self._mailbox_folder:
            _post(self._mailbox_folder, "TERM")
        else:
            self._process.terminate()

    def _begin_to_end(self) -> None:
        if self._mailbox_folder:
            _post(self._mailbox_folder, "END")
        else:
            self._close_input()

    def _close_input(self) -> None:
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def finish(self, progress: Progress) -> PoolEnd:
        """Drains everything and ends the daemons. The first signal that asks this process to end
        only prints a note; the second one makes them write the rest to rescue files."""
        begin = time.monotonic()
        with signals_held() as arrived:
            self._begin_to_end()
            interrupts = DrainInterrupts(self._give_up, progress)
            while self._is_there():
                if arrived(_POLL_SECONDS) is not None:
                    interrupts.arrived()
        progress.end()
        lines = put_together(self._told())
        self._text = b""
        self._clear()
        reports, deaths = _reports(lines), _deaths(lines)
        statuses = [one.status for one in reports]
        sampled = [one.sampled_since(self._lead_seconds) for one in reports if one.samples]
        return PoolEnd(
            status=together(statuses) if statuses else None,
            seconds=time.monotonic() - begin,
            death=self._death(len(reports), deaths),
            lost=tuple(lost for one in deaths for lost in one.lost),
            messages=messages_in(log_of(self._place.socket)),
            samples=summed([one.samples for one in sampled]),
            nodes=self._place.nodes,
            most_waited=_most_waited(sampled),
        )

    def _death(self, reported: int, deaths: Sequence[_Death]) -> str | None:
        """Why the daemons did not end by themselves, or None if all have reported their end."""
        if deaths:
            return ", ".join(f"on node {one.node}, {one.host}" for one in deaths)
        if reported == self._place.nodes:
            return None
        return f"{reported} of {self._place.nodes} reported; {death_of(self._process.returncode)}"

    def end(self) -> None:
        """Ends everything after a failed start. Tasks ignore SIGTERM, but they end when the mailbox
        folder is gone, or at the end of their input, which `communicate` closes. A daemon that
        replays its journal does so to the end, and is not waited for so long."""
        self._process.terminate()
        self._remove_mailbox_folder()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=_END_SECONDS_MAX)
        self._clear()

    def _clear(self) -> None:
        self._close_input()
        self._remove_mailbox_folder()

    def _remove_mailbox_folder(self) -> None:
        if self._mailbox_folder:
            shutil.rmtree(self._mailbox_folder, ignore_errors=True)

    def _is_there(self) -> bool:
        """Whether some daemons have not ended; reads their output meanwhile."""
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], 0)[0]:
            return True
        more = os.read(output.fileno(), 1 << 16)
        self._text += more
        if more:
            return True
        self._process.wait()
        return False

    def _lines(self, schema: str, deadline: float) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            new = list(self._taken(schema))
            found = new if self._mailbox_folder else [*found, *new]
            if len(found) >= self._place.nodes:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise PoolStartError(self._complaint(f"{len(found)} of them were there in time"))
            if self._mailbox_folder:
                left = min(left, _POLL_SECONDS)
            output = self._process.stdout
            assert output is not None
            if select.select([output], [], [], left)[0]:
                more = os.read(output.fileno(), 1 << 16)
                if not more:
                    self._process.wait()
                    raise PoolStartError(self._complaint(death_of(self._process.returncode)))
                self._text += more

    def _taken(self, schema: str) -> Iterator[dict[str, Any]]:
        """Complete lines of the schema: those that are new, or all of them if there is a mailbox
        folder."""
        if self._mailbox_folder:
            yield from _said(self._told(), schema)
            return
        *lines, self._text = self._text.split(b"\n")
        yield from _said((line.decode("utf-8", "replace") for line in lines), schema)

    def _told(self) -> list[str]:
        """The lines of output that have not been taken."""
        if self._mailbox_folder is None:
            return self._text.decode("utf-8", "replace").splitlines()
        lines: list[str] = []
        for file in sorted(self._mailbox_folder.glob("out-*")):
            with contextlib.suppress(OSError):
                lines += file.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines

    def _complaint(self, why: str) -> str:
        said = " ".join(messages_in(log_of(self._place.socket)))
        return (
            f"the daemons of the pool have not started on "
            f"{counted(self._place.nodes, 'node')} ({why}). "
            f"They say: {said or 'nothing'}. They were started by: "
            f"{' '.join(starter_of(self._place))}. `--set pool_nodes=1` uses this node only."
        )


def put_together(lines: Iterable[str]) -> list[str]:
    """The documents that came in several parts (PART_SCHEMA), in the order of nodes. Incomplete
    documents and all other lines are left out."""
    found: dict[int, dict[int, bytes]] = {}
    wanted: dict[int, int] = {}
    for one in _said(lines, PART_SCHEMA):
        with contextlib.suppress(ValueError):  # the starter interleaved two lines
            found.setdefault(one["node"], {})[one["part"]] = base64.b64decode(one["base64"])
            wanted[one["node"]] = one["of"]
    return [
        b"".join(some[part] for part in sorted(some)).decode("utf-8", "replace")
        for node, some in sorted(found.items())
        if len(some) == wanted[node]
    ]


@frozen
class _Death:
    """The death of a daemon, as reported by its parent process on that node."""

    node: int
    host: str
    lost: tuple[Lost, ...]


@frozen
class _Report:
    """The report of a daemon that ended by itself."""

    status: PoolStatus
    samples: tuple[PoolSample, ...]

    def sampled_since(self, lead_seconds: float) -> PoolNode:
        """Its node's part for the record; the program started `lead_seconds` after it joined."""
        return PoolNode(
            host=self.status.host,
            taken=self.status.taken,
            cap=self.status.cap,
            waited_seconds=sum(file.waited_seconds for file in self.status.files),
            samples=since_start(self.samples, lead_seconds),
        )


def _reports(lines: Iterable[str]) -> list[_Report]:
    reports = []
    for line in lines:
        with contextlib.suppress(PoolError):
            reports.append(_Report(status=decode_status(line), samples=decode_samples(line)))
    return reports


def _most_waited(nodes: Sequence[PoolNode]) -> PoolNode | None:
    most = max(nodes, key=lambda one: one.waited_seconds, default=None)
    return most if most and most.waited_seconds > 0 else None


def _deaths(lines: Iterable[str]) -> list[_Death]:
    return [
        _Death(
            node=said["node"],
            host=said["host"],
            lost=tuple(Lost(path=one["path"], bytes=one["bytes"]) for one in said["files"]),
        )
        for said in _said(lines, LOST_SCHEMA)
    ]


def _said(lines: Iterable[str], schema: str) -> Iterator[dict[str, Any]]:
    """The documents of `schema` among `lines`; other lines are left out."""
    for line in lines:
        with contextlib.suppress(ValueError):
            said = json.loads(line)
            if isinstance(said, dict) and said.get("schema") == schema:
                yield said


def start_fleet(program: Path, place: PoolPlace) -> Fleet:
    """Starts daemons on all nodes that drain and end with this process. Raises PoolStartError with
    their messages."""
    mailbox_folder = _new_mailbox_folder(place.shared) if place.shared else None
    words = [*starter_of(place), "/bin/sh", "-c", task_text(), str(program)]
    samples = samples_max_of(place.nodes) if place.is_sampled else 0
    words += [str(place.socket), str(place.nodes), str(samples)]
    if mailbox_folder:
        words.append(str(mailbox_folder))
        if not place.passes_input:
            words = ["/bin/sh", "-c", _WATCH, str(mailbox_folder), *words, "none"]
    try:
        process = started(words, place, stdin=subprocess.PIPE)
    except BaseException as error:
        if mailbox_folder:
            shutil.rmtree(mailbox_folder, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise PoolStartError(
            f"cannot start the daemons of the pool ({error.filename or words[0]}: "
            f"{error.strerror}). Outside of Slurm see the setting pool_starter; "
            "--set pool_nodes=1 uses this node only."
        ) from error
    fleet = Fleet(process, place, mailbox_folder)
    try:
        fleet.meet()
    except BaseException:
        fleet.end()
        raise
    return fleet


def _new_mailbox_folder(shared: Path) -> Path:
    """A folder that all nodes see and only the user can enter; it will hold a secret."""
    remove_stale(_MAILBOX_PREFIX, shared)
    try:
        return make_folder(_MAILBOX_PREFIX, shared)
    except OSError as error:
        raise PoolStartError(
            f"cannot start the daemons of the pool (no folder can be made in {shared}: "
            f"{error.strerror}). The first path of --pool has to be a folder where you may write."
        ) from error


def _post(mailbox_folder: Path, name: str, text: bytes = b"") -> None:
    """Puts file `name` into the mailbox folder atomically. If the folder is gone, all daemons have
    ended."""
    new = mailbox_folder / f"new-{name}"
    with contextlib.suppress(FileNotFoundError):
        new.touch(mode=0o600)
        new.write_bytes(text)
        new.rename(mailbox_folder / name)


def together(reports: Sequence[PoolStatus]) -> PoolStatus:
    """One status for all nodes: sums, and the maximum of ages. Peaks are summed, too."""
    first = reports[0]
    return replace(
        first,
        cap=sum(one.cap for one in reports),
        memory=sum(one.memory for one in reports),
        memory_limit_file=next((file for one in reports if (file := one.memory_limit_file)), ""),
        leased=sum(one.leased for one in reports),
        high=sum(one.high for one in reports),
        read_ahead_held=sum(one.read_ahead_held for one in reports),
        read_ahead=sum(one.read_ahead for one in reports),
        read_from_nodes=sum(one.read_from_nodes for one in reports),
        storage_seconds=max(one.storage_seconds for one in reports),
        clients_high=sum(one.clients_high for one in reports),
        passed_to_nodes=sum(one.passed_to_nodes for one in reports),
        written_by_nodes=sum(one.written_by_nodes for one in reports),
        written_for_nodes=sum(one.written_for_nodes for one in reports),
        waits=tuple(_waits_together(each) for each in zip(*(one.waits for one in reports))),
        lag=sum(one.lag for one in reports),
        oldest_seconds=max(one.oldest_seconds for one in reports),
        uptime_seconds=max(one.uptime_seconds for one in reports),
        clients=tuple(client for one in reports for client in one.clients),
        files=tuple(file for one in reports for file in one.files),
        files_dropped=sum(one.files_dropped for one in reports),
        rescued=tuple(lost for one in reports for lost in one.rescued),
        notes=tuple(note for one in reports for note in _notes(one)),
        durability_ended=next(
            (one.durability_ended for one in reports if one.durability_ended), ""
        ),
    )


def _waits_together(same_kind: Sequence[WaitHistogram]) -> WaitHistogram:
    """The sum of histograms that have the same kind and the same buckets."""
    return WaitHistogram(
        kind=same_kind[0].kind,
        seconds=sum(one.seconds for one in same_kind),
        counts=tuple(sum(bucket) for bucket in zip(*(one.counts for one in same_kind))),
    )


def _notes(report: PoolStatus) -> Iterator[str]:
    """The notes of one node's report with the node's name, since its journal and rescue files may
    be on a local disk."""
    for note in report.notes:
        yield f"on {report.host}: {note}"
    for lost in report.rescued:
        if lost.file:
            yield f"on {report.host}: {lost.file} is there"
