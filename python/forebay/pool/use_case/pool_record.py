"""Converts the outcome of a pool into the form in which a record keeps it."""

from forebay.common.model.record import PoolFileRecord, PoolRecord
from forebay.pool.model.pool import PoolFile
from forebay.pool.use_case.run_pool import PoolOutcome


def pool_record(outcome: PoolOutcome) -> PoolRecord:
    """The outcome for a record. If the daemon died, all numbers are 0, since they are not known."""
    end = outcome.end
    status = end.status
    return PoolRecord(
        paths=tuple(str(one) for one in outcome.paths),
        arrived=end.arrived,
        drain_seconds=end.seconds,
        taken=status.taken if status else 0,
        cap=status.cap if status else 0,
        high=status.high if status else 0,
        read_ahead=status.read_ahead if status else 0,
        files=tuple(_file(one) for one in status.files) if status else (),
        files_dropped=status.files_dropped if status else 0,
        storage_seconds=status.storage_seconds if status else 0.0,
        samples=end.samples,
        nodes=end.nodes,
        most_waited=end.most_waited,
    )


def _file(one: PoolFile) -> PoolFileRecord:
    return PoolFileRecord(
        path=one.path,
        taken=one.taken,
        drained=one.drained,
        waited_seconds=one.waited_seconds,
        storage_seconds=one.storage_seconds,
        storage_bytes=one.storage_bytes,
        requests=one.requests,
        times=one.times,
        past_the_pool=one.past_the_pool,
    )
