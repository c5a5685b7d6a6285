"""Orders to a tier about several files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from forebay.common.model.errors import TierError
from forebay.tier.model import TierOrder


class OrderedTiers(Protocol):
    """The tiers of this machine, which take orders."""

    def give(self, path: Path, order: TierOrder) -> None:
        """Has the order carried out for a file, or for all files below a folder. Raises TierError
        if it is not."""


def give_all(tiers: OrderedTiers, paths: Sequence[Path], order: TierOrder) -> None:
    """Carries an order out for all paths, also behind one that fails. Raises TierError, which names
    all that failed."""
    failed: list[TierError] = []
    for path in paths:
        try:
            tiers.give(path, order)
        except TierError as error:
            failed.append(error)
    if failed:
        raise TierError(" ".join(str(error) for error in failed))


def files_below(paths: Sequence[Path]) -> Sequence[Path]:
    """The files themselves, and those below the folders, without symbolic links."""
    found: list[Path] = []
    for path in paths:
        below = sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        found += below if path.is_dir() else [path]
    return found
