"""Reads platforms, which are TOML files with a source for every number."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay.common.files.toml_file import TomlKind, read_kind
from forebay.common.model.errors import SimulationError
from forebay_tuning.model.modelled import Platform
from forebay_tuning.model.quantity import parse_quantity

SCHEMA = "forebay.platform/1"
_REMEDY = "Name one of platforms/*.toml."
_KIND = TomlKind(
    what="platform",
    schema=SCHEMA,
    error=SimulationError,
    missing=_REMEDY,
    other=_REMEDY,
    wrong="Correct it; platforms/*.toml are examples.",
)


def read_platform(path: Path) -> Platform:
    """The platform in a file. Raises SimulationError if there is none."""
    return read_kind(path, _KIND, _platform)


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
        object_time=number("metadata", "object_time"),
    )
