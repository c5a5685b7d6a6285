"""Finds forebay_sim and the platforms (in the package, an installed tree, or a checkout), runs it,
and reads the table of its keys."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forebay.common.files.processes import ForegroundProcesses
from forebay.common.files.schema_tables import read_table
from forebay.common.model.errors import LaunchError, SetupError, SimulationError
from forebay.simulate.model.keys import BackgroundLoad, Keys, SimulatorKeys

PROGRAM_VARIABLE = "FOREBAY_SIM"
_ANSWERED = {0, 1}  # 1: verify=1 found wrong bytes, which the result tells
_UNLINKED = "error while loading shared libraries: "
_PACKAGE = Path(__file__).resolve().parents[1]


class NativeSimulator:
    """The port Simulator, over the native program."""

    def __init__(
        self, *, environment: Mapping[str, str] = os.environ, package: Path = _PACKAGE
    ) -> None:
        self._environment = environment
        self._package = package

    def platform(self, name: str) -> str:
        """`name` as a path if there is such a file, else the path of the platform of that name.
        Raises SimulationError if there is neither, and SetupError if no platform is installed."""
        if Path(name).is_file():
            return name
        folders = list(self._folders("platforms", "share/forebay/platforms"))
        for folder in folders:
            if (folder / f"{name}.toml").is_file():
                return str(folder / f"{name}.toml")
        known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
        if not known:
            raise SetupError(
                f'cannot find the platform "{name}" (none are installed with {self._package}). '
                "Install Forebay again, or name a platform's file."
            )
        raise SimulationError(
            f'there is no platform "{name}" (known: {", ".join(known)}). '
            "Name one of them, or a file."
        )

    def keys(self) -> SimulatorKeys:
        """The keys of this version's simulator."""
        return simulator_keys()

    def run(self, words: Sequence[str]) -> str:
        """Runs the simulator and returns its output. A signal that asks this process to end ends
        the simulator, too."""
        program = self.program()
        try:
            done = ForegroundProcesses().capture_started(
                [program, *words], environment=self._environment, seconds_max=math.inf
            )
        except LaunchError as error:
            why = error.__cause__.strerror if isinstance(error.__cause__, OSError) else str(error)
            raise _unusable(program, why) from error
        if _UNLINKED in done.errors:
            raise _unusable(program, done.errors.strip().partition(_UNLINKED)[2])
        if done.status not in _ANSWERED or not done.output:
            said = done.errors.strip().removeprefix("forebay_sim: ")
            raise SimulationError(
                _complaint(said, [program, *words])
                or f"{program} failed (it ended with {done.status} and said nothing). "
                "Build it again."
            )
        return done.output

    def program(self) -> str:
        """The path of the native program. Raises SetupError if there is none."""
        given = self._environment.get(PROGRAM_VARIABLE)
        if given:
            if not Path(given).is_file():
                raise _unusable(given, "there is no such file")
            return given
        built = ("lib", "lib/forebay", "build/release/lib", "build/dev/lib", "build/sim/lib")
        for folder in self._folders(*built):
            if (folder / "forebay_sim").is_file():
                return str(folder / "forebay_sim")
        raise SetupError(
            f"cannot find the simulator, forebay_sim ({self._why_missing()}, or set "
            f"{PROGRAM_VARIABLE} to a forebay_sim."
        )

    def _why_missing(self) -> str:
        """Why the program is missing, and what to do, for a checkout, a pip package, or an
        installed tree."""
        checkout = self._package.parents[1]
        if (checkout / "CMakeLists.txt").is_file():
            return (
                f"it is not built in {checkout}; it needs SimGrid). Install SimGrid (Debian: "
                f"libsimgrid-dev), then say `make -C {checkout} build`"
            )
        if any(self._package.parent.glob("forebay-*.dist-info")):
            return (
                "pip built this Forebay without SimGrid). Install SimGrid (Debian: "
                "libsimgrid-dev), then say `pip install --force-reinstall --no-cache-dir .` in the "
                "sources of Forebay"
            )
        return (
            "this Forebay was installed from a build without SimGrid). Install SimGrid (Debian: "
            "libsimgrid-dev), then say `make build` and `make install PREFIX=…` in the sources of "
            "Forebay"
        )

    def _folders(self, *below: str) -> Iterator[Path]:
        """The candidates: in the package (pip), then above it (an installed tree, a checkout)."""
        for above in (self._package, *list(self._package.parents)[:4]):
            for folder in below:
                yield above / folder


@cache
def simulator_keys() -> SimulatorKeys:
    """The keys in schema/simulator.toml. Raises SetupError if it is missing."""
    return read_table("simulator.toml", _keys, what="which keys the simulator takes")


@cache
def background_load() -> BackgroundLoad:
    """The load in schema/simulator.toml. Raises SetupError if it is missing."""
    return read_table(
        "simulator.toml",
        lambda table: BackgroundLoad(**table["background_load"]),
        what="how the simulator draws the load of other jobs",
    )


def _keys(table: Mapping[str, Any]) -> SimulatorKeys:
    def of(command: str) -> Keys:
        return _named([row for row in table["key"] if command in row["commands"]])

    return SimulatorKeys(
        platform=_named(table["platform"]),
        collective=of("collective"),
        pool=of("pool"),
        io_ranks=of("io_ranks"),
        independent=of("independent"),
    )


def _named(rows: Sequence[Mapping[str, Any]]) -> Keys:
    return tuple((row["name"], row["meaning"]) for row in rows)


def _complaint(said: str, words: Sequence[str]) -> str:
    """The message about a failed run. SimGrid's own text about a deadlock helps only developers."""
    if "Deadlock detected" not in said:
        return said
    return (
        "the simulation stopped before its end (every rank waits for something: a fault of Forebay "
        f"or of its simulator). Report it with this command, which shows all: {shlex.join(words)}"
    )


def _unusable(program: str, why: str | None) -> SetupError:
    if why is not None and "simgrid" in why:
        return SetupError(
            f"cannot run the simulator {program} ({why}). Install SimGrid (Debian: libsimgrid3.32),"
            " the version that it was built with."
        )
    return SetupError(
        f"cannot run the simulator {program} ({why}). Set {PROGRAM_VARIABLE} to a forebay_sim, or "
        "to nothing."
    )
