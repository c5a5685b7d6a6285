"""Plans the I/O ranks of a run: whether they can be had with this launcher and these programs, the
library that cuts them off MPI_COMM_WORLD, and what the ranks are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.common.model.errors import SetupError, UsageError
from forebay.common.model.frozen import frozen
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.program import Family, ProgramFacts
from forebay.ports import LauncherFacts, RunWorld

COUNT_VARIABLE = "FOREBAY_IO_RANKS"
SPREAD_VARIABLE = "FOREBAY_IO_RANKS_SPREAD"
WITHOUT_LAUNCHER = (
    "cannot have I/O ranks (no launcher of MPI is in the command). "
    "Say `forebay run --io-ranks 1 -- mpiexec -n 5 ./program`."
)
_AUTO = "auto"
_WITHOUT = "Run it without --io-ranks: --pool alone needs no ranks of the program."


@frozen
class IoRanks:
    """The options: how many ranks are I/O ranks, and over how many groups of consecutive ranks they
    are spread."""

    count: int
    spread: int = 1

    def fault(self, ranks: int) -> str | None:
        """Why a world of `ranks` ranks cannot have them, or None (src/io_ranks/policy)."""
        if ranks // self.spread < 2 * (self.count // self.spread):
            return "there would be fewer ranks for the program than I/O ranks, in all or in a group"
        return None


@frozen
class AutoIoRanks:
    """The option --io-ranks auto: as many as the record of an earlier run asks for. `spread` is
    None if it is to be the number of nodes."""

    spread: int | None = None


@frozen
class IoRanksPlan:
    """The library to preload before all others of Forebay, and variables of the ranks."""

    asked: IoRanks
    library: Path
    variables: Mapping[str, str]
    why: str = ""
    """Why there are so many, if that was chosen for the user."""


def io_ranks_of(
    count: str | None, spread: str | None, *, has_tiers: bool, compares: bool
) -> IoRanks | AutoIoRanks | None:
    """The options --io-ranks and --spread, None if there are to be none. Raises UsageError if they
    cannot be used."""
    if count is None:
        if spread is not None:
            raise UsageError("cannot use --spread (there are no I/O ranks). Say --io-ranks, too.")
        return None
    if has_tiers or compares:
        other = "--tier" if has_tiers else "--compare"
        why = "that is not built yet" if has_tiers else "the runs would have other numbers of ranks"
        raise UsageError(f"cannot use --io-ranks with {other} ({why}). Say one of both.")
    if count == _AUTO:
        return AutoIoRanks(spread=None if spread is None else _number("--spread", spread))
    found = IoRanks(count=_number("--io-ranks", count), spread=_number("--spread", spread or "1"))
    if found.count % found.spread:
        raise UsageError(
            f"cannot spread {found.count} I/O ranks over {found.spread} groups (each group has as "
            f"many). Say a multiple of {found.spread}: --io-ranks {_next_multiple(found)}"
        )
    return found


def plan_io_ranks(
    asked: IoRanks,
    *,
    why: str = "",
    ranks: int | None,
    launcher: LauncherFacts | None,
    programs: Sequence[ProgramFacts],
    world: RunWorld,
) -> IoRanksPlan:
    """How the run gets its I/O ranks; `ranks` is the number of all ranks, None if it is not known.
    Raises UsageError or SetupError if it cannot have any: a program that saw them as its own would
    compute something wrong."""
    if launcher is None:
        raise UsageError(WITHOUT_LAUNCHER)
    for program in programs:
        refusal = _refusal(program)
        if refusal is not None:
            raise UsageError(f"cannot have I/O ranks ({refusal}). {_WITHOUT}")
    if ranks is not None and (fault := asked.fault(ranks)) is not None:
        raise UsageError(
            f"cannot have {asked.count} I/O ranks of {ranks} ({fault}). Start the program with as "
            "many ranks more as there are I/O ranks."
        )
    return IoRanksPlan(
        asked=asked,
        why=why,
        library=_library(_family(programs, launcher), world),
        variables={COUNT_VARIABLE: str(asked.count), SPREAD_VARIABLE: str(asked.spread)},
    )


def _number(option: str, text: str) -> int:
    if text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text) > 0:
        return int(text)
    example = "2 for each 1000 ranks of the program" if option == "--io-ranks" else "1"
    raise UsageError(
        f'cannot use {option} "{text}" (it is no number from 1 to 999999). Say a number, as '
        f"{example}{', or auto' if option == '--io-ranks' else ''}."
    )


def _next_multiple(asked: IoRanks) -> int:
    return (asked.count // asked.spread + 1) * asked.spread


def _refusal(program: ProgramFacts) -> str | None:
    """Why a program would see I/O ranks as its own, or None."""
    if program.obstacle is not None:
        return program.obstacle.rstrip(".")
    if program.counts_ranks_by is not None:
        return (
            f"{program.path} is linked to {program.counts_ranks_by}, which tells it the number of "
            "all ranks past MPI"
        )
    return None


def _family(programs: Sequence[ProgramFacts], launcher: LauncherFacts) -> Family:
    """The MPI's family: of the programs if they are linked to one, else of the launcher."""
    found = {program.family for program in programs if program.family is not None}
    if len(found) > 1:
        raise UsageError(f"cannot have I/O ranks (the programs have several MPIs). {_WITHOUT}")
    if found:
        return found.pop()
    of_flavour = {Flavour.OPEN_MPI: Family.OPEN_MPI, Flavour.HYDRA: Family.MPICH}
    family = launcher.family or of_flavour.get(launcher.flavour)
    if family is None:
        raise UsageError(
            "cannot have I/O ranks (neither launcher nor program tell which MPI they use). Start a "
            "program that is linked to its MPI, or use the launcher of that MPI."
        )
    return family


def _library(family: Family, world: RunWorld) -> Path:
    library = world.libraries.find().io_ranks.get(family)
    if library is None:
        raise SetupError(
            f"cannot have I/O ranks (Forebay was built without them for the {family.title}). "
            "Build it where this MPI has its compiler wrapper."
        )
    return library
