"""A pool before a tier: refused where bytes would go past the tier, and only for the same files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forebay.common.model.errors import UsageError
from forebay.run.use_case.pool_over_tiers import PoolOverTiers, check_tiers

FOLDER = Path("/scratch/me")
CAPTURED = PoolOverTiers(paths=(FOLDER,))
REFUSED = {
    "a folder has one mount": replace(CAPTURED, is_mounted=True),
    "past the tier": replace(CAPTURED, has_journal=True),
    "past this node's tier": replace(CAPTURED, nodes=2),
}


def test_a_pool_may_be_before_a_tier() -> None:
    check_tiers((FOLDER,), CAPTURED)


@pytest.mark.parametrize("tier", [FOLDER, FOLDER / "run", FOLDER.parent])
@pytest.mark.parametrize("why", REFUSED)
def test_what_would_go_past_a_tier_is_refused(tier: Path, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_tiers((tier,), REFUSED[why])


@pytest.mark.parametrize("why", REFUSED)
def test_a_pool_of_other_files_is_none_of_a_tiers_business(why: str) -> None:
    check_tiers((FOLDER.with_name("other"),), REFUSED[why])
    check_tiers((), REFUSED[why])
