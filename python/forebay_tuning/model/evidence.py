"""A workload: the description of a program's I/O, from a log, record, command line, or words."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forebay.bench.model.command_line import Tool
from forebay.bench.model.program_words import FlagLetters
from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import pairwise
from forebay.common.model.units import MIB, counted, parse_bytes
from forebay_tuning.model.point import Direction, Point

BUFFER_USUAL = 16 * MIB
"""Bytes of ROMIO's collective buffer if no hint changes it."""


@frozen
class Workload:
    """One direction of a program's I/O.

    `file_bytes` is the size of one file. `same_bytes`: every rank reads the whole file.
    `call_bytes` is what all ranks together move in one collective call; None if not known, and then
    each rank is assumed to move `transfer_bytes`. `stripe_count` and `stripe_bytes` are the present
    layout, None if not known; `file_system` is its type by a log, empty if not known. `seconds` is
    the time of this I/O, of which `seconds_meta` went into metadata calls; `run_seconds` is the
    length of the run."""

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
    file_system: str = ""
    directory: str | None = None
    seconds: float | None = None
    run_seconds: float | None = None
    seconds_meta: float | None = None
    source: str = "as given"

    @property
    def ranks_per_node(self) -> int:
        """Ranks on the fullest node."""
        return math.ceil(self.ranks / self.nodes)

    @property
    def fewest_ranks_per_node(self) -> int:
        """Ranks on the emptiest node if the launcher spreads them evenly; it has none more."""
        return self.ranks // self.nodes

    @property
    def bytes(self) -> int:
        """Bytes moved between the program and storage."""
        return self.file_bytes * (self.ranks if self.same_bytes else self.files)

    def stripes_of(self, stripe_bytes: int) -> int:
        """The number of stripes that a file of this size can use; a small file gains nothing by
        more, even if larger files did in probes."""
        return max(1, math.ceil(self.file_bytes / stripe_bytes))

    @property
    def may_be_gathered(self) -> bool:
        """Whether MPI may gather its calls at aggregators: they are collective on a shared file."""
        return self.collective and self.shared

    def bytes_each(self, processes: int) -> int:
        """Bytes for each of `processes` that do I/O. If every rank reads the whole file, each
        reader fetches all of it and passes it on."""
        if self.same_bytes:
            return self.file_bytes
        return max(1, math.ceil(self.bytes / processes))

    def share_of_call(self, aggregators: int) -> int:
        """Bytes of one collective call for each aggregator, which no buffer can increase. If every
        rank reads the whole file, each aggregator fetches all of it."""
        of_rank = self.transfer_bytes or min(self._bytes_of_rank, MIB)
        moved = self.call_bytes or of_rank * self.ranks
        if self.same_bytes:
            return max(1, math.ceil(moved / self.ranks))
        return max(1, math.ceil(moved / aggregators))

    def gathered_transfer(self, aggregators: int) -> int:
        """Bytes that an aggregator moves at a time: its share, limited by the usual buffer."""
        share = self.share_of_call(aggregators)
        return min(BUFFER_USUAL, share, self.bytes_each(aggregators))

    def as_point(self, *, stripe_count: int, stripe_bytes: int) -> Point:
        """The program's present point. The given layout is used if its own is not known. Collective
        calls on a shared file are gathered as by ROMIO's default, at one aggregator per node."""
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
        """As `as_point`, but each rank moves its own bytes. ROMIO does that for collective calls as
        well if the ranks' pieces do not interleave."""
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
    """The workload itself. Raises UsageError if its values are impossible."""
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
    """The bytes in an option's value. Raises UsageError if it is no size."""
    found = parse_bytes(text)
    if found is None or found < 1:
        raise UsageError(f'{option} cannot be "{text}" (it is no size). Write it as in 64m or 1g.')
    return found


_LAUNCHERS = re.compile(r"(?:.*/)?(?:mpirun|mpiexec|srun)(?:[._-].*)?")
_RANKS = {"-n", "-np", "--np", "--ntasks"}


@dataclass
class _Words:
    """A benchmark's options by letter: those with values, and flags."""

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
    """The workloads of an `ior` or `hpio` command line, one per direction; the launcher may be
    missing. Raises UsageError if it is another program, or the number of ranks is not known."""
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
        call_bytes=region * count * ranks if collective else None,  # one call has all regions
        collective=collective,
        directory=given.values.get("d"),
    )
    return (base, replace(base, direction=Direction.READ))


def _split(words: Sequence[str], flags: str) -> _Words:
    """Parses short options: values are attached or in the next word; flags may share a word."""
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
