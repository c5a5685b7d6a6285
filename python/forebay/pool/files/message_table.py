"""Loads the layout of the messages between clients and a daemon from schema/pool_messages.toml,
from which the C++ structs are generated as well."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from forebay.common.files.schema_tables import read_table
from forebay.pool.model.messages import MessageLayout, PoolMessages

_CODES = {"u32": "I", "u64": "Q", "i32": "i", "i64": "q", "ask": "I"}


@cache
def pool_messages() -> PoolMessages:
    """The message layouts of this version. Raises SetupError if the table is missing."""
    return read_table("pool_messages.toml", _decoded, what="how a daemon is spoken to")


def _decoded(table: Mapping[str, Any]) -> PoolMessages:
    return PoolMessages(
        format=table["format"],
        question_layout=_layout(table, "question"),
        reply_layout=_layout(table, "reply"),
        asks={row["name"]: number for number, row in enumerate(table["ask"], start=1)},
        states={row["name"]: number for number, row in enumerate(table["file_state"])},
    )


def _layout(table: Mapping[str, Any], message: str) -> MessageLayout:
    text = f"{table['path_bytes']}s"
    codes = [text if row["kind"] == "text" else _CODES[row["kind"]] for row in table[message]]
    return MessageLayout(
        names=tuple(row["name"] for row in table[message]), form="=" + "".join(codes)
    )
