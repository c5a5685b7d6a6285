"""The batch job ends while a tier holds files until its end."""

from __future__ import annotations

import time

from suite import mounted as mo
from suite.file_systems import until
from suite.on import FULL
from suite.tiers import Tier, bytes_of, state_of, status_of
from suite.verdict import ensure

JOB_SECONDS = 6
BYTES = bytes_of(300_000)

pytestmark = mo.needs_mount


@FULL  # by a clock
def test_all_is_moved_before_the_job_ends(tier: Tier) -> None:
    """Also a file that is still open for writing. The tier is killed then."""
    end = int(time.time()) + JOB_SECONDS
    with tier.started("write move=job", "--end", str(end)) as mount:
        (tier.folder / "closed").write_bytes(BYTES)
        with (tier.folder / "open").open("wb", buffering=0) as file:
            file.write(BYTES)
            for name in ("closed", "open"):
                ensure(state_of(tier.folder / name) == "dirty", f"{name} is moved already")
            ensure(until(lambda: status_of(tier.folder)["waiting"] == 0, 60), "it waits")
            ensure(time.time() <= end, "it was moved when the job had ended")
            (tier.folder / "late").write_bytes(BYTES)
            ensure(state_of(tier.folder / "late") == "none", "there is no time to move it")
        mount.process.kill()
        mount.process.wait()
        mo.until_unmounted(tier.folder)
    for name in ("closed", "open", "late"):
        ensure((tier.folder / name).read_bytes() == BYTES, f"{name} lacks bytes")
