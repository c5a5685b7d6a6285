"""Decides whether a pool can be before a tier: what is drained from its memory goes to fast
storage, through the tier's mount, and is moved from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forebay.common.model.errors import UsageError
from forebay.common.model.frozen import frozen


@frozen
class PoolOverTiers:
    """The pool of a run, as far as a tier below it matters."""

    paths: tuple[Path, ...]
    is_mounted: bool = False
    has_journal: bool = False
    nodes: int = 1


def check_tiers(tiers: Sequence[Path], pool: PoolOverTiers) -> None:
    """Raises UsageError if files of this pool would lie in one of the tiers' folders, and bytes
    could go past the tier."""
    if not any(
        path.is_relative_to(tier) or tier.is_relative_to(path)
        for path in pool.paths
        for tier in tiers
    ):
        return
    if pool.is_mounted:
        why, instead = "a folder has one mount", "--set pool_mount=never, and no --private"
    elif pool.has_journal:
        why = "a journal that is replayed after a crash would write to files past the tier"
        instead = "--set pool_durability=process"
    elif pool.nodes > 1:
        why = "daemons of other nodes would write to files past this node's tier"
        instead = "one of both"
    else:
        return
    raise UsageError(f"cannot use a tier below this pool ({why}). Say {instead}.")
