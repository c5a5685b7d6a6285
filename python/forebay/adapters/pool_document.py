"""Documents of a pool's daemon (schema/pool.md): its status, its report, and its ready line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forebay.domain.errors import PoolError
from forebay.domain.pool import PoolFile, PoolStatus, Rescued
from forebay.domain.pool_messages import DirectoryShape

SCHEMA = "forebay.pool/1"
READY_SCHEMA = "forebay.pool.ready/1"


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a daemon says when it listens."""

    process: int
    directory: DirectoryShape


def decode_status(text: str) -> PoolStatus:
    """A status document. PoolError: it is none, or of another version."""
    line = _object(text, SCHEMA)
    try:
        return PoolStatus(
            process=int(line["process"]),
            uptime_seconds=float(line["uptime_seconds"]),
            ended=bool(line["ended"]),
            closing=bool(line["closing"]),
            cap=int(line["cap"]),
            leased=int(line["leased"]),
            high=int(line["high"]),
            read_ahead_held=int(line["read_ahead_held"]),
            read_ahead=int(line["read_ahead"]),
            lag=int(line["lag"]),
            oldest_seconds=float(line["oldest_seconds"]),
            clients=tuple(int(one["process"]) for one in line["clients"]),
            files=tuple(_file(one) for one in line["files"]),
            files_dropped=int(line["files_dropped"]),
            rescued=tuple(_rescued(one) for one in line["rescued"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoolError(_unlike(f"{type(error).__name__}: {error}")) from error


def decode_ready(text: str) -> Ready:
    """The ready line. PoolError: it is none, or of another version."""
    line = _object(text, READY_SCHEMA)
    try:
        shape = line["directory"]
        return Ready(
            process=int(line["process"]),
            directory=DirectoryShape(
                files=int(shape["files"]),
                files_max=int(shape["files_max"]),
                file_bytes=int(shape["file_bytes"]),
                state=int(shape["state"]),
                taken=int(shape["taken"]),
                drained=int(shape["drained"]),
                path=int(shape["path"]),
                path_bytes=int(shape["path_bytes"]),
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PoolError(_unlike(f"{type(error).__name__}: {error}")) from error


def _object(text: str, schema: str) -> Mapping[str, Any]:
    try:
        line = json.loads(text)
    except ValueError as error:
        raise PoolError(_unlike("it is not JSON")) from error
    if not isinstance(line, dict) or line.get("schema") != schema:
        raise PoolError(_unlike(f"it is not of the schema {schema}"))
    return line


def _unlike(why: str) -> str:
    return (
        f"cannot understand what the daemon of the pool says ({why}). "
        "Is it of the same version as this command?"
    )


def _file(line: Mapping[str, Any]) -> PoolFile:
    return PoolFile(
        path=str(line["path"]),
        state=str(line["state"]),
        reason=str(line["reason"]),
        error=int(line["error"]),
        error_text=str(line["error_text"]),
        taken=int(line["taken"]),
        drained=int(line["drained"]),
        outstanding=int(line["outstanding"]),
        window=int(line["window"]),
        high=int(line["high"]),
        extents=int(line["extents"]),
        oldest_seconds=float(line["oldest_seconds"]),
        waited_seconds=float(line["waited_seconds"]),
        storage_seconds=float(line["storage_seconds"]),
        storage_bytes=int(line["storage_bytes"]),
        requests=int(line["requests"]),
        rate=float(line["rate"]),
        times=int(line["times"]),
    )


def _rescued(line: Mapping[str, Any]) -> Rescued:
    return Rescued(
        path=str(line["path"]),
        error=int(line["error"]),
        error_text=str(line["error_text"]),
        bytes=int(line["bytes"]),
        file=str(line["file"]),
        problem=str(line["problem"]),
    )
