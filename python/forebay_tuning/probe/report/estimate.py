"""Output before and while probing: the estimate of what it will take, and each probe."""

import sys
from typing import Any

from forebay.common.model.printable import printable, printable_name
from forebay.common.model.units import counted, exact_bytes, human_bytes
from forebay_tuning.model.sample import Sample
from forebay_tuning.probe.use_case.probe import ProbePlan, Unknown


def estimate_text(plan: ProbePlan) -> str:
    """The estimate as text for people."""
    estimate, identity = plan.estimate, plan.ground.identity
    targets = counted(identity.targets, "storage target")
    ranks = f"{counted(identity.nodes, 'node')} × {counted(identity.ranks_per_node, 'rank')}"
    if Unknown.RANKS in plan.ground.unknown:
        ranks = "as many ranks as the launcher starts"
    elif Unknown.NODES in plan.ground.unknown:
        ranks = f"{counted(identity.ranks_per_node, 'rank')}, on how many nodes is not known yet"
    return (
        f"{printable_name(identity.directory)} ({printable(identity.file_system)}, {targets}, "
        f"{ranks}): at most "
        f"{estimate.probes} probes{_long(estimate.long_passages)} in {estimate.seconds:.0f} s, "
        f"{human_bytes(estimate.bytes)} "
        f"written, {human_bytes(plan.space.bytes_max)} at a time, "
        f"{counted(estimate.files, 'file')}; all are removed. The limit of bytes is "
        f"{estimate.limit}"
    )


def _long(count: int) -> str:
    return f" and {count} long passages" if count else ""


def estimate_json(plan: ProbePlan) -> Any:
    """The estimate in the schema forebay.probe.estimate/1; null stands for values that only a run
    of the launcher would tell."""
    estimate, identity, unknown = plan.estimate, plan.ground.identity, plan.ground.unknown
    ranks = identity.nodes * identity.ranks_per_node
    return {
        "schema": "forebay.probe.estimate/1",
        "directory": identity.directory,
        "file_system": identity.file_system,
        "targets": identity.targets,
        "nodes": None if Unknown.NODES in unknown else identity.nodes,
        "ranks": None if Unknown.RANKS in unknown else ranks,
        "probes": estimate.probes,
        "long_passages": estimate.long_passages,
        "seconds": estimate.seconds,
        "bytes": estimate.bytes,
        "bytes_limit": estimate.limit,
        "bytes_at_a_time": plan.space.bytes_max,
        "files": estimate.files,
    }


class Told:
    """Prints each probe on standard error."""

    def __init__(self, probes: int) -> None:
        self._probes = probes

    def __call__(self, number: int, sample: Sample) -> None:
        point = sample.ask.point
        text = (
            f"{point.processes} × {exact_bytes(point.process_bytes)}, {point.per_node} a node, "
            f"calls of {exact_bytes(point.transfer_bytes)}, {point.stripe_count} × "
            f"{exact_bytes(point.stripe_bytes)} stripes, "
            f"{'one file' if point.shared else 'a file each'}"
        )
        came = sample.discarded or ", ".join(
            f"{name} {human_bytes(int(one.rate))}/s"
            for name, one in (("write", sample.write), ("read", sample.read))
            if one is not None
        )
        cached = " (from a cache)" if sample.cached else ""
        print(
            f"{number + 1}/{self._probes} {sample.ask.purpose}: {text}: {came}{cached}",
            file=sys.stderr,
        )
