"""Reads platforms: TOML in which every number has its source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay.adapters.toml_file import read_toml
from forebay.domain.errors import SimulationError
from forebay.domain.tuning.modelled import Platform
from forebay.domain.tuning.quantity import parse_quantity

SCHEMA = "forebay.platform/1"
_REMEDY = "Name one of platforms/*.toml."


def read_platform(path: Path) -> Platform:
    """SimulationError: no platform."""
    document = read_toml(path, SimulationError, what="platform", remedy=_REMEDY)
    if document.get("schema") != SCHEMA:
        raise SimulationError(
            f"cannot use the platform {path} (its schema is {document.get('schema')!r}, not "
            f"{SCHEMA!r}). {_REMEDY}"
        )
    try:
        return _platform(document)
    except (KeyError, TypeError, ValueError) as error:
        raise SimulationError(
            f"cannot use the platform {path} ({type(error).__name__}: {error}). Correct it; "
            "platforms/*.toml are examples."
        ) from error


def _platform(document: Mapping[str, Any]) -> Platform:
    def number(section: str, name: str) -> float:
        value = document[section][name]["value"]
        found = parse_quantity(value) if isinstance(value, str) else float(value)
        if found is None:
            raise ValueError(f'{section}.{name}: "{value}" is no quantity')
        return found

    return Platform(
        name=str(document["name"]),
        nodes=int(number("node", "count")),
        ranks_per_node=int(number("node", "ranks")),
        link_rate=number("node", "link_rate"),
        client_rate=number("node", "client_rate"),
        call_time=number("node", "message_time"),
        servers=int(number("server", "count")),
        server_link_rate=number("server", "link_rate"),
        targets=int(number("target", "count")),
        target_rate=number("target", "rate"),
        request_time=number("target", "request_time"),
        interference_per_stream=number("target", "interference_per_stream"),
        streams_free=number("target", "streams_free"),
        lock_time=number("target", "lock_time"),
        stripe_bytes=int(number("target", "stripe")),
        metadata_threads=int(number("metadata", "threads")),
        open_time=number("metadata", "open_time"),
        close_time=number("metadata", "close_time"),
        crowding=number("metadata", "crowding"),
    )
