"""The kinds of rounds. Each begins a daemon and writers, does something to them at random moments,
and compares what is in the files with what was acknowledged."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import mounted
from suite.pool import Daemon, Pool

from forebay.pool.files.daemon_document import decode_ready
from forebay.pool.files.daemon_socket import PoolSocket
from forebay.pool.model.messages import QuestionKind
from storm import power
from storm.field import PATIENCE_SECONDS, Field, May, NotHereError, Writer
from storm.ledger import Call, Counts, Kind

Round = Callable[[Field], None]

SHARE_WITH_JOURNAL = 1 / 3
"""The share of journals in rounds whose kind does not ask for one."""


def _settings(field: Field) -> dict[str, str]:
    """How soon it drains, and how much it holds; and a journal in a third of the rounds."""
    if field.draw.random() < SHARE_WITH_JOURNAL:
        return _journaled(field, field.folder / "journal")
    return _unjournaled(field)


def _unjournaled(field: Field) -> dict[str, str]:
    draw = field.draw
    return {
        "pool_quiet": draw.choice(["0", "50", "60000"]),
        "pool_age": draw.choice(["1", "30", "3600"]),
        "pool_window": draw.choice(["1 MiB", "4 MiB", "256 MiB"]),
        "pool_cap": draw.choice(["64 MiB", "256 MiB"]),
    }


def _journaled(field: Field, journal: Path) -> dict[str, str]:
    """The same, and a journal in that folder: the smallest one goes round again and again."""
    return {
        **_unjournaled(field),
        "pool_durability": "node",
        "pool_journal": str(journal),
        "pool_journal_size": field.draw.choice(["64 MiB", "96 MiB", "0"]),
    }


@contextlib.contextmanager
def _daemon(field: Field, settings: Mapping[str, str]) -> Iterator[tuple[Daemon, Pool]]:
    """Killed behind, as all writers, unless they have ended; and the mount, if there is to be one.
    The pool's folder is the one of the files."""
    with Daemon.started(settings, rescue=field.folder) as daemon, contextlib.ExitStack() as stack:
        pool = daemon.pool(field.files)
        if field.below_mount:
            if not mounted.can_mount():
                raise NotHereError("no forebay-mount, or no right to /dev/fuse")
            field.mount = stack.enter_context(mounted.served(field.files, pool, [mounted.CAPTURES]))
        stack.callback(field.kill)
        yield daemon, pool


def _ends(field: Field, pool: Pool, *, told: bool = False) -> bool:
    """The daemon drains all and ends; `told` says that it was told to."""
    if not told:
        pool.process.terminate()
    over = field.until(lambda: pool.process.poll() is not None, lambda: "the end of the daemon")
    if not over:
        pool.kill()
    elif pool.process.returncode != 0:
        field.amiss.text.append(
            f"the daemon ended with {pool.process.returncode}: {pool.said.read_text()[-600:]}"
        )
    return over


def _mentioned(text: str, field: Field) -> Callable[[str], bool]:
    """Whether a text names a file."""
    return lambda name: str(field.files / name) in text


def _some(field: Field) -> Sequence[Writer]:
    """Some of the writers, or none."""
    alive = field.alive()
    return field.draw.sample(alive, field.draw.randint(0, len(alive)))


def _moments(field: Field) -> Iterator[int]:
    """Numbers of calls that the writers make until something is done to them."""
    for _ in range(field.draw.randint(2, 5)):
        yield field.draw.choice([1, 20, 150, 600])


def kill(field: Field) -> None:
    """Writers are killed, and others begin."""
    with _daemon(field, _settings(field)) as (_, pool):
        field.begin(pool.environment(), May.ALL, field.draw.randint(2, 4))
        for calls in _moments(field):
            if not field.until_calls(calls):
                break
            for writer in _some(field):
                writer.kill()
                field.begin(pool.environment(), May.ALL)
        field.end()
        _ends(field, pool)
    field.judge()


def suspend(field: Field) -> None:
    """Writers and the daemon are stopped and go on, at random."""
    with _daemon(field, _settings(field)) as (_, pool):
        field.begin(pool.environment(), May.ALL, field.draw.randint(2, 4))
        for calls in _moments(field):
            if not field.until_calls(calls):
                break
            stopped = _some(field)
            for writer in stopped:
                writer.signal(signal.SIGSTOP)
            if field.draw.random() < 0.5:
                pool.process.send_signal(signal.SIGSTOP)
                time.sleep(field.draw.random() * 0.05)  # nothing may move meanwhile
                pool.process.send_signal(signal.SIGCONT)
            if len(stopped) < len(field.alive()):
                # A writer that is suspended in a call may keep others from theirs.
                time.sleep(field.draw.random() * 0.05)
            field.resume()
        field.end()
        _ends(field, pool)
    field.judge()


def stop(field: Field) -> None:
    """The daemon is told to end while writers write, or are suspended; they go on without it."""
    with _daemon(field, _settings(field)) as (_, pool):
        field.begin(pool.environment(), May.ALL, field.draw.randint(2, 4))
        field.until_calls(field.draw.choice([1, 50, 300, 1000]))
        for writer in _some(field):
            writer.signal(signal.SIGSTOP)
        pool.process.terminate()
        if field.draw.random() < 0.5:
            time.sleep(field.draw.random() * 0.1)  # some go on before it has ended
            field.resume()
        _ends(field, pool, told=True)
        field.resume()
        field.until_calls(field.draw.choice([1, 50, 300]))
        field.end()
        field.amiss.notes = pool.said.read_text()
    field.judge(named=_mentioned(field.amiss.notes, field))


def drain(field: Field) -> None:
    """Bytes that were acknowledged before a drain began are in the files when it has ended."""
    may = May.ALL & ~May.RENAME
    with _daemon(field, _settings(field)) as (_, pool):
        field.begin(pool.environment(), may, field.draw.randint(2, 4))
        for calls in _moments(field):
            field.until_calls(calls)
            stopped = _some(field) if field.draw.random() < 0.3 else ()
            for writer in stopped:
                writer.signal(signal.SIGSTOP)
            before_ns = time.monotonic_ns()
            answer = None
            with PoolSocket(pool.socket) as connection:
                connection.ask(QuestionKind.DRAIN)
                answer = connection.answer(PATIENCE_SECONDS)
            if answer is None:
                field.amiss.hang(f"drain, with {len(stopped)} of the writers suspended")
                break
            # Not to be changed while it is read.
            for writer in field.alive():
                writer.signal(signal.SIGSTOP)
            counts = Counts(until_ns=before_ns)
            if field.mount is not None:
                field.read_from = field.mount.below("")
            field.judge(_always(counts), names_until_ns=before_ns)
            field.read_from = None
            field.resume()
        field.end()
        _ends(field, pool)
    field.judge()


def _always(counts: Counts) -> Callable[[str], Counts]:
    """The same calls count, whatever the file's name."""
    return lambda _: counts


def _durable_before(
    field: Field, killed_ns: int, dead_ns: int
) -> Callable[[str], Callable[[Call], bool]]:
    """The calls that count although the daemon was killed: those that had ended before the last
    sync began, and those that began after its death."""
    calls = [call for writer in field.writers for call in writer.calls()]

    def of(name: str) -> Callable[[Call], bool]:
        synced = [
            call.begin_ns
            for call in calls
            if str(call.name) == name
            and call.kind is Kind.MAKES_DURABLE
            and call.succeeded
            and call.end_ns < killed_ns
        ]
        return Counts(until_ns=max(synced, default=0), since_ns=dead_ns)

    return of


def dead(field: Field) -> None:
    """The daemon is killed: from then on calls fail, nobody hangs, and files that may have lost
    something are named."""
    may = May.ALL & ~May.RENAME
    with _daemon(field, _settings(field)) as (daemon, pool):
        ready = decode_ready(daemon.ready)
        assert ready is not None
        with PoolSocket(pool.socket) as connection:
            watch = connection.watch(ready.directory)
        field.begin(pool.environment(), may, field.draw.randint(2, 4))
        field.until_calls(field.draw.choice([1, 50, 300, 1000]))
        for writer in _some(field):
            writer.signal(signal.SIGSTOP)
        killed_ns = time.monotonic_ns()
        pool.kill()
        dead_ns = time.monotonic_ns()
        field.resume()
        field.until_calls(40)
        field.end()
        named = {Path(one.path).name for one in watch.outstanding()}
        watch.close()
    before = field.amiss.lost + field.amiss.wrong
    field.judge(_durable_before(field, killed_ns, dead_ns), names_until_ns=dead_ns)
    if field.amiss.lost + field.amiss.wrong == before:
        _look_for_silence(field, named)


def _look_for_silence(field: Field, named: set[str]) -> None:
    """Whatever is not as acknowledged has to be named."""
    spare = Field(field.folder, field.files, field.draw, Path())
    spare.writers = field.writers
    spare.judge(named=lambda name: name in named)
    field.amiss.told += spare.amiss.told
    if spare.amiss.lost or spare.amiss.wrong:
        field.amiss.silent += 1
        field.amiss.text += [f"named are {sorted(named)}", *spare.amiss.text]


def journal(field: Field) -> None:
    """The daemon is killed, and the next one has its journal: nothing acknowledged is missing."""
    may = May.ALL & ~May.RENAME
    settings = _journaled(field, field.folder / "journal")
    for _ in range(field.draw.randint(1, 2)):
        with _daemon(field, settings) as (_, pool):
            first = len(field.writers)
            field.begin(pool.environment(), may, field.draw.randint(2, 4))
            field.until_calls(field.draw.choice([1, 50, 300, 1000]))
            # A file that is opened after the daemon's end is a plain file, and changes without the
            # journal's knowledge: so nobody goes on.
            for writer in field.alive():
                writer.signal(signal.SIGSTOP)
            pool.kill()
            for writer in field.writers[first:]:
                writer.kill()
    with _daemon(field, settings) as (_, pool):
        _ends(field, pool)
        field.amiss.notes = pool.said.read_text()
    field.judge()


def power_cut(field: Field) -> None:
    """The disk is as it was at some moment; the next daemon has the journal that is on it."""
    may = May.TRUNCATE | May.STREAM | May.SYNC | May.SHARE
    with power.disk(field.folder) as disk:
        field.files = disk.folder / "files"
        field.files.mkdir()
        settings = _journaled(field, disk.folder / "journal")
        with _daemon(field, settings) as (_, pool):
            field.begin(pool.environment(), may, field.draw.randint(2, 3))
            field.until_calls(field.draw.choice([50, 300, 1000]))
            before_ns = time.monotonic_ns()
            disk.remember()
            pool.kill()
        disk.go_back()
        with _daemon(field, settings) as (_, pool):
            _ends(field, pool)
            field.amiss.notes = pool.said.read_text()
        counts = Counts(until_ns=before_ns)
        field.judge(lambda _: counts, names_until_ns=before_ns)


def below_mount(run: Round) -> Round:
    """The same round with a mount over the files, captured writers and others."""

    def mounts(field: Field) -> None:
        field.below_mount = True
        run(field)

    return mounts


def gone(field: Field) -> None:
    """The process of the mount is killed: nothing is lost, and all go on, those that are not
    captured with the files below."""
    with _daemon(field, _settings(field)) as (_, pool):
        field.begin(pool.environment(), May.ALL, field.draw.randint(2, 5))
        field.until_calls(field.draw.choice([1, 50, 300, 1000]))
        assert field.mount is not None
        field.mount.process.kill()
        field.until(lambda: not mounted.is_mounted(field.files), lambda: "the end of the mount")
        field.until_calls(field.draw.choice([1, 50, 300]))
        field.end()
        _ends(field, pool)
        pipe = field.mount.process.stderr
        field.amiss.notes = pipe.read() if pipe else ""
    # The path is back within a second, also where not all is drained.
    is_told = "older than what was written" in field.amiss.notes
    field.judge(named=lambda _: is_told)


@dataclass(frozen=True, kw_only=True)
class Sort:
    """A kind of round, and how often it is drawn, compared with the others."""

    run: Round
    share: int


KINDS: Mapping[str, Sort] = {
    "kill": Sort(run=kill, share=3),
    "suspend": Sort(run=suspend, share=2),
    "stop": Sort(run=stop, share=3),
    "drain": Sort(run=drain, share=2),
    "dead": Sort(run=dead, share=2),
    "journal": Sort(run=journal, share=3),
    "power": Sort(run=power_cut, share=3),
    "mount-kill": Sort(run=below_mount(kill), share=2),
    "mount-suspend": Sort(run=below_mount(suspend), share=1),
    "mount-stop": Sort(run=below_mount(stop), share=2),
    "mount-drain": Sort(run=below_mount(drain), share=1),
    "mount-dead": Sort(run=below_mount(dead), share=2),
    "mount-journal": Sort(run=below_mount(journal), share=1),
    "mount-gone": Sort(run=below_mount(gone), share=2),
}
