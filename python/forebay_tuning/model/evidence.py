"""What is known of a program's I/O, wherever it comes from: a log, a record, a command line, or
words."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from forebay.bench.model.command_line import Tool
from forebay.bench.model.program_words import FlagLetters
from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB, counted, parse_bytes
from forebay_tuning.model.point import Direction, Point

BUFFER_USUAL = 16 * MIB
"""ROMIO's collective buffer, where no hint says otherwise."""


@frozen
class Workload:
    """One direction of a program's I/O. `file_bytes`: of one file. `same_bytes`: every rank reads
    all of the file. `call_bytes`: of all ranks together in one collective call; None: not known,
    as many as `transfer_bytes` of each rank. `stripe_count`, `stripe_bytes`: as the files lie now;
    None: not known. `seconds`: what it took, `seconds_meta` of it in opening and the like, of
    `run_seconds` of the whole run."""

    direction: Direction
    ranks: int
    nodes: int
    file_bytes: int
    files: int = 1
    shared: bool = True
    transfer_bytes: int | None = None
    call_bytes: int | None = None
    collective: bool = False
    same_bytes: bool = False
    stripe_count: int | None = None
    stripe_bytes: int | None = None
    directory: str | None = None
    seconds: float | None = None
    run_seconds: float | None = None
    seconds_meta: float | None = None
    source: str = "as given"

    @property
    def ranks_per_node(self) -> int:
        """On the fullest node."""
        return math.ceil(self.ranks / self.nodes)

    @property
    def bytes(self) -> int:
        """Moved between the program and storage."""
        return self.file_bytes * (self.ranks if self.same_bytes else self.files)

    def stripes_of(self, stripe_bytes: int) -> int:
        """On how many targets a file can lie: a small one has no more stripes than that, whatever
        probes of larger ones gained by more."""
        return max(1, math.ceil(self.file_bytes / stripe_bytes))

    @property
    def may_be_gathered(self) -> bool:
        """Whether MPI may gather its calls at aggregators: ranks share the file."""
        return self.collective and self.shared

    def bytes_each(self, processes: int) -> int:
        """Of so many that do I/O. A file that every rank reads is read as a whole by each reader,
        and passed on."""
        if self.same_bytes:
            return self.file_bytes
        return max(1, math.ceil(self.bytes / processes))

    def share_of_call(self, aggregators: int) -> int:
        """Bytes of one collective call that each of them has; no buffer makes its calls larger.
        What every rank reads, each aggregator fetches whole."""
        of_rank = self.transfer_bytes or min(self._bytes_of_rank, MIB)
        moved = self.call_bytes or of_rank * self.ranks
        if self.same_bytes:
            return max(1, math.ceil(moved / self.ranks))
        return max(1, math.ceil(moved / aggregators))

    def gathered_transfer(self, aggregators: int) -> int:
        """What each of them moves at a time: its share, as much as the usual buffer holds."""
        share = self.share_of_call(aggregators)
        return min(BUFFER_USUAL, share, self.bytes_each(aggregators))

    def as_point(self, *, stripe_count: int, stripe_bytes: int) -> Point:
        """What the program does now; the layout of the file system where its own is not known. Of
        collective calls on one file: gathered by ROMIO's default, one aggregator on each node."""
        plain = self.ungathered(stripe_count=stripe_count, stripe_bytes=stripe_bytes)
        if not self.may_be_gathered:
            return plain
        return replace(
            plain,
            processes=self.nodes,
            per_node=1,
            transfer_bytes=self.gathered_transfer(self.nodes),
            process_bytes=self.bytes_each(self.nodes),
        )

    def ungathered(self, *, stripe_count: int, stripe_bytes: int) -> Point:
        """The same, where each rank moves its calls by itself. ROMIO lets ranks do so in collective
        calls, too, where their pieces do not interleave."""
        each = self._bytes_of_rank
        call = self.transfer_bytes or min(each, MIB)
        if self.collective:
            call = min(call, self.share_of_call(self.ranks))
        return Point(
            processes=self.ranks,
            per_node=self.ranks_per_node,
            stripe_count=self.stripe_count or stripe_count,
            stripe_bytes=self.stripe_bytes or stripe_bytes,
            transfer_bytes=max(1, min(call, each)),
            process_bytes=each,
            shared=self.shared,
        )

    @property
    def _bytes_of_rank(self) -> int:
        return self.bytes_each(self.ranks)


def checked(workload: Workload) -> Workload:
    """UsageError: what it says cannot be."""
    if workload.ranks < 1 or not 1 <= workload.nodes <= workload.ranks:
        raise UsageError(
            f"there cannot be {counted(workload.ranks, 'rank')} on "
            f"{counted(workload.nodes, 'node')} (each node has one or more). "
            "Correct --ranks or --nodes."
        )
    if workload.file_bytes < 1 or workload.files < 1:
        raise UsageError(
            "the program moves no bytes (its files are empty). Say how many: --bytes 64g."
        )
    return workload


def size(text: str, option: str) -> int:
    """UsageError: no size."""
    found = parse_bytes(text)
    if found is None or found < 1:
        raise UsageError(f'{option} cannot be "{text}" (it is no size). Write it as in 64m or 1g.')
    return found


_LAUNCHERS = re.compile(r"(?:.*/)?(?:mpirun|mpiexec|srun)(?:[._-].*)?")
_RANKS = {"-n", "-np", "--np", "--ntasks"}


@dataclass
class _Words:
    """Options of a benchmark, by their letters."""

    values: dict[str, str]
    flags: set[str]

    def size(self, name: str, usual: int) -> int:
        return size(self.values[name], name) if name in self.values else usual

    def number(self, name: str, usual: int) -> int:
        text = self.values.get(name)
        if text is None:
            return usual
        if not text.isascii() or not text.isdigit():
            raise UsageError(f'{name} cannot be "{text}" (it is no number). Correct it.')
        return int(text)


def from_command(
    line: str, *, ranks: int | None, nodes: int | None, letters: FlagLetters
) -> tuple[Workload, ...]:
    """Of an `ior` or `hpio` line, with or without its launcher; a workload for each direction.
    UsageError: it is neither, or does not say how many ranks there are."""
    words = shlex.split(line)
    ranks = ranks or _ranks_of(words)
    names = [word.rpartition("/")[2].removeprefix("forebay-") for word in words]
    at = next((i for i, name in enumerate(names) if name in ("ior", "hpio")), None)
    if at is None:
        raise UsageError(
            f'there is no ior or hpio in "{line}" (only their command lines are understood). '
            "Describe other programs in words: --ranks, --bytes."
        )
    if ranks is None:
        raise UsageError(
            f'"{line}" does not say how many ranks there are (no launcher with -n). Add --ranks N.'
        )
    on = nodes or 1
    tool = Tool(names[at])
    given = _split(words[at + 1 :], letters[tool])
    made = _ior(given, ranks, on) if tool is Tool.IOR else _hpio(given, ranks, on)
    return tuple(checked(replace(one, source=f"command line {line}")) for one in made)


def _ranks_of(words: Sequence[str]) -> int | None:
    if not words or not any(_LAUNCHERS.fullmatch(word) for word in words):
        return None
    for word, following in pairwise(words):
        name, equals, attached = word.partition("=")
        text = attached if equals else following
        if name in _RANKS and text.isdigit():
            return int(text)
    return None


def _ior(given: _Words, ranks: int, nodes: int) -> tuple[Workload, ...]:
    transfer = given.size("t", 256 * 1024)
    each = given.size("b", MIB) * given.number("s", 1)
    taking_part = min(given.number("N", ranks) or ranks, ranks)
    alone = "F" in given.flags
    collective = "c" in given.flags and given.values.get("a", "POSIX").upper() != "POSIX"
    asked = [
        one for flag, one in (("w", Direction.WRITE), ("r", Direction.READ)) if flag in given.flags
    ]
    base = Workload(
        direction=Direction.WRITE,
        ranks=taking_part,
        nodes=min(nodes, taking_part),
        file_bytes=each if alone else each * taking_part,
        files=taking_part if alone else 1,
        shared=not alone,
        transfer_bytes=transfer,
        call_bytes=transfer * taking_part if collective else None,
        collective=collective,
        directory=_folder(given.values.get("o")),
    )
    return tuple(replace(base, direction=one) for one in asked or list(Direction))


def _hpio(given: _Words, ranks: int, nodes: int) -> tuple[Workload, ...]:
    region = given.size("s", 64)
    count = given.number("c", 4096)
    methods = given.values.get("m", "01")
    collective = methods[1:2] == "1" or "collective" in methods
    base = Workload(
        direction=Direction.WRITE,
        ranks=ranks,
        nodes=nodes,
        file_bytes=region * count * ranks,
        transfer_bytes=region,
        call_bytes=region * count * ranks if collective else None,  # a call moves all regions
        collective=collective,
        directory=given.values.get("d"),
    )
    return (base, replace(base, direction=Direction.READ))


def _split(words: Sequence[str], flags: str) -> _Words:
    """Short options with values attached or behind them, and letters in one word."""
    found = _Words({}, set())
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or word.startswith("--"):
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in flags:
                found.flags.add(letter)
                continue
            value = letters.removeprefix("=") if letters else waiting.pop(0) if waiting else ""
            found.values[letter] = value
            letters = ""
    return found


def _folder(path: str | None) -> str | None:
    if path is None or "@" in path:
        return None
    return path.rpartition("/")[0] or "."
