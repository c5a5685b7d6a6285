"""The state of a tier as text."""

from collections.abc import Sequence

from forebay.common.model.units import counted, human_bytes
from forebay.tier.model import TierStatus


def status_lines(found: TierStatus) -> Sequence[str]:
    """The lines of `forebay tier status`."""
    return (
        f"{counted(found.replicas, 'replica')} of {human_bytes(found.bytes)}",
        f"waiting: {counted(found.waiting, 'file')} of {human_bytes(found.waiting_bytes)}",
        f"since the start: {found.made} made, {found.filled} preloaded, {found.moved} moved "
        f"({human_bytes(found.moved_bytes)}), {found.evicted} evicted, {found.given_up} given up, "
        f"{found.taken_over} taken over, "
        f"{found.rescued} rescued, {found.failed} moves failed and are tried again",
    )
