"""Facts about a program file before it runs: how it is linked, and to which MPI."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from forebay.common.model.frozen import frozen


class Family(Enum):
    """MPIs with the same binary interface (ABI)."""

    MPICH = "mpich"
    OPEN_MPI = "openmpi"
    STANDARD_ABI = "abi"
    UNKNOWN = "unknown"

    @property
    def title(self) -> str:
        """The family's name for users."""
        return {
            Family.MPICH: "MPICH family",
            Family.OPEN_MPI: "Open MPI family",
            Family.STANDARD_ABI: "MPI-5 standard ABI",
            Family.UNKNOWN: "unknown family",
        }[self]


class Linkage(Enum):
    """How a program file is linked, or why it is not."""

    DYNAMIC = "dynamic"
    STATIC = "static"
    SCRIPT = "script"
    UNREADABLE = "unreadable"


@frozen
class ProgramFacts:
    """One program. `mpi_library` is None if no MPI is linked; the program may still dlopen one."""

    path: Path
    linkage: Linkage
    mpi_library: str | None = None
    family: Family | None = None
    mpi_is_static: bool = False
    is_privileged: bool = False
    counts_ranks_by: str | None = None
    """A library, by its soname, that tells the program how many ranks there are without MPI."""
    is_of_other_libc: bool = False
    """Whether its C library is not glibc, such as musl, whose loader cannot load our libraries."""

    @property
    def is_captured(self) -> bool:
        """Whether LD_PRELOAD captures the program's file calls, as far as the file shows."""
        return not (self.is_privileged or self.is_of_other_libc or self.linkage is Linkage.STATIC)

    @property
    def obstacle(self) -> str | None:
        """Why Forebay cannot reach this program, and what to do; None if it can."""
        if self.is_privileged:
            return (
                f"Forebay cannot reach {self.path} (it runs with raised privileges, so the "
                "system ignores LD_PRELOAD). Run a copy without set-user-ID."
            )
        if self.linkage is Linkage.STATIC:
            return (
                f"Forebay cannot reach {self.path} (it is statically linked, so nothing can be "
                "preloaded). Link it dynamically."
            )
        if self.is_of_other_libc:
            return (
                f"Forebay cannot reach {self.path} (its C library is not glibc, so nothing of "
                "ours can be preloaded). Build it for glibc."
            )
        if self.mpi_is_static:
            return (
                f"Forebay cannot reach the MPI of {self.path} (it is linked statically into the "
                "program). Link it to the MPI's shared library."
            )
        if self.family is Family.UNKNOWN:
            return (
                f"Forebay does not know the MPI of {self.path} ({self.mpi_library} is of neither "
                "the MPICH nor the Open MPI family). Build it with one of these."
            )
        return None


_OPEN_MPI = re.compile(r"libmpi\.so\.(?:[2-9]\d|1[3-9]|\d{3,})(?:\.\d+)*")
_MPICH = re.compile(r"lib(?:mpich|mpi_intel|mpi_cray|mpi_gnu_\d+|mpi_nvidia)\.so(?:\.\d+)*")
_MPICH_ABI = re.compile(r"libmpi\.so\.12(?:\.\d+)*")
# OpenSHMEM's, PMI's and PMIx's, and GASNet's. (NCCL and UCX are told by the program.)
_COUNTS_RANKS = re.compile(r"lib(?:oshmem|sma|shmem|nvshmem\w*|pmi2?|pmix|gasnet\w*)\.so.*")
_ANY = re.compile(r"lib(?:mpi|mpich|msmpi|mpt|mpi_[a-z]\w*)\.so(?:\.\d+)*")
_BINDINGS = re.compile(r"libmpi_?(?:cxx|mpifh|usempi\w*|java|f77|f90|fort\w*)\.so.*")


def counts_ranks(soname: str) -> bool:
    """Whether this library tells programs the number of ranks past MPI."""
    return _COUNTS_RANKS.fullmatch(soname) is not None


def family_of_soname(soname: str) -> Family | None:
    """The family of an MPI library by its soname; None if it is no MPI."""
    if soname.startswith("libmpi_abi.so"):
        return Family.STANDARD_ABI
    if _OPEN_MPI.fullmatch(soname):
        return Family.OPEN_MPI
    if _MPICH_ABI.fullmatch(soname) or _MPICH.fullmatch(soname):
        return Family.MPICH
    if _ANY.fullmatch(soname) and not _BINDINGS.fullmatch(soname):
        return Family.UNKNOWN
    return None
