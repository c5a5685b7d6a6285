"""Chooses the build of a benchmark: for the MPI that FOREBAY_MPI_FAMILY names, or the launcher
belongs to. If neither is known (srun), a script in bin/ chooses it in each rank, by the variables
that the launcher has set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.bench.model.command_line import Tool
from forebay.common.model.errors import BenchUsageError, SetupError
from forebay.common.model.program import Family, Linkage
from forebay.machine_ports import World
from forebay.ports import LauncherFacts

FAMILY_VARIABLE = "FOREBAY_MPI_FAMILY"
_FAMILIES = (Family.MPICH, Family.OPEN_MPI)
_LIBDIR_VARIABLE = "FOREBAY_LIBDIR"


def named_family(environment: Mapping[str, str]) -> Family | None:
    """The family that FOREBAY_MPI_FAMILY names, or None. Raises BenchUsageError if there are no
    builds for it."""
    name = environment.get(FAMILY_VARIABLE, "")
    if not name:
        return None
    for one in _FAMILIES:
        if one.value == name:
            return one
    known = " and ".join(one.value for one in _FAMILIES)
    raise BenchUsageError(
        f'{FAMILY_VARIABLE} cannot be "{name}" (known are {known}). Set one of them, or unset it.'
    )


def program_words(tool: Tool, launcher: LauncherFacts, world: World) -> tuple[str, ...]:
    """The program for the launcher to start. Raises SetupError if there is no such build."""
    folder = world.libraries.find().folder
    family = named_family(world.environment) or launcher.family
    wanted = _FAMILIES if family is None else (family,)
    built = [one for one in wanted if _is_there(folder / one.value / tool.program, world)]
    if len(built) == 1:
        return (str(folder / built[0].value / tool.program),)
    if built:
        return _by_the_rank(tool, launcher, folder, world)
    names = " or ".join(one.title for one in wanted)
    raise SetupError(
        f"there is no {tool.program} for the {names} (not in {folder}). Build Forebay where that "
        "MPI is installed, or use another launcher."
    )


def _by_the_rank(
    tool: Tool, launcher: LauncherFacts, folder: Path, world: World
) -> tuple[str, ...]:
    for script in _scripts(tool, folder):
        if world.programs.inspect(script).linkage is Linkage.SCRIPT:
            return ("env", f"{_LIBDIR_VARIABLE}={folder}", "sh", str(script))
    names: Sequence[str] = [one.value for one in _FAMILIES]
    raise BenchUsageError(
        f"{launcher.path} does not tell which MPI it starts (there is a {tool.program} for "
        f"{' and for '.join(names)}). Set {FAMILY_VARIABLE} to {' or '.join(names)}."
    )


def _scripts(tool: Tool, folder: Path) -> Sequence[Path]:
    """The candidates: PREFIX/bin beside PREFIX/lib/forebay, and launcher/ in a checkout's build."""
    around = list(folder.parents)[:3]
    return [
        *(one / "bin" / tool.program for one in around),
        folder.parent / "launcher" / tool.program,
    ]


def _is_there(path: Path, world: World) -> bool:
    return world.programs.locate(str(path)) is not None
