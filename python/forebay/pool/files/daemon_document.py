"""Decodes the JSON documents of a daemon (schema/pool.md): status, final report, ready line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forebay.common.files.decoding import decoded
from forebay.common.model.errors import PoolError
from forebay.common.model.frozen import frozen
from forebay.pool.model.messages import DirectoryShape
from forebay.pool.model.place import READY_SCHEMA

if TYPE_CHECKING:  # a program would wait for this
    from forebay.common.model.record import PoolSample
    from forebay.pool.model.pool import PoolStatus

SCHEMA = "forebay.pool/1"


@frozen
class DaemonReady:
    """The line that a daemon prints once it listens."""

    process: int
    directory: DirectoryShape


def decode_status(text: str) -> PoolStatus:
    """Decodes a status document. Raises PoolError if it is none, or of another version."""
    from forebay.pool.model.pool import PoolStatus

    line = _object(text, SCHEMA)
    try:
        clients = tuple(int(one["process"]) for one in line["clients"])
        # A daemon that an older version started lacks these.
        older = {"wait_bounds_seconds": (), "waits": ()}
        return decoded(PoolStatus, {**older, **line}, clients=clients)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoolError(_unlike(f"{type(error).__name__}: {error}")) from error


def decode_samples(text: str) -> tuple[PoolSample, ...]:
    """The samples in the final status of a daemon; empty if it was not asked for any. Raises
    PoolError if it is none, or of another version."""
    from forebay.common.model.record import PoolSample

    line = _object(text, SCHEMA)
    try:
        return tuple(decoded(PoolSample, one) for one in line.get("samples", ()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoolError(_unlike(f"{type(error).__name__}: {error}")) from error


def decode_ready(text: str) -> DaemonReady:
    """Decodes the ready line. Raises PoolError if it is none, or of another version."""
    line = _object(text, READY_SCHEMA)
    try:
        return decoded(DaemonReady, line)
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
