"""Finds forebay_sim and the platforms (in an installed tree, else in a checkout) and runs it."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from forebay.domain.errors import SetupError, SimulationError

PROGRAM_VARIABLE = "FOREBAY_SIM"
_PACKAGE = Path(__file__).resolve().parents[1]


class NativeSimulator:
    """The port Simulator over the native program."""

    def __init__(
        self, *, environment: Mapping[str, str] = os.environ, package: Path = _PACKAGE
    ) -> None:
        self._environment = environment
        self._package = package

    def platform(self, name: str) -> str:
        """`name` as a path if there is such a file, else the platform of that name."""
        if Path(name).is_file():
            return name
        for folder in self._ancestors("platforms", "share/forebay/platforms"):
            if (folder / f"{name}.toml").is_file():
                return str(folder / f"{name}.toml")
        known = sorted(
            {
                file.stem
                for folder in self._ancestors("platforms", "share/forebay/platforms")
                for file in folder.glob("*.toml")
            }
        )
        raise SimulationError(
            f'there is no platform "{name}" (known: {", ".join(known)}). '
            "Name one of them, or a file."
        )

    def run(self, words: Sequence[str]) -> str:
        """Waits for the simulator."""
        done = subprocess.run([self.program(), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0 or not done.stdout:
            said = done.stderr.strip().removeprefix("forebay_sim: ")
            raise SimulationError(said or f"the simulator ended with {done.returncode}.")
        return done.stdout

    def program(self) -> str:
        """The native program. Raises SetupError when there is none."""
        given = self._environment.get(PROGRAM_VARIABLE)
        if given:
            return given
        built = ("lib/forebay", "build/release/bin", "build/dev/bin", "build/sim/bin")
        for folder in self._ancestors(*built):
            if (folder / "forebay_sim").is_file():
                return str(folder / "forebay_sim")
        raise SetupError(
            "cannot find forebay_sim (it is built where SimGrid is installed). "
            f"Install libsimgrid-dev and build, or set {PROGRAM_VARIABLE} to it."
        )

    def _ancestors(self, *below: str) -> Iterator[Path]:
        for ancestor in list(self._package.parents)[:4]:
            for folder in below:
                yield ancestor / folder
