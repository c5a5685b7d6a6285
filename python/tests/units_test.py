"""Bytes as settings and people write them."""

from pathlib import Path

import pytest

from forebay.common.model.units import (
    exact_bytes,
    human_bytes,
    human_rate,
    human_seconds,
    parse_bytes,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "schema" / "examples" / "sizes.tsv"


def sizes() -> list[tuple[str, int | None]]:
    """The examples that the native library's tests read, too."""
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(text, None if size == "-" else int(size)) for text, size in rows]


@pytest.mark.parametrize(("text", "size"), sizes())
def test_sizes_have_one_grammar_in_both_languages(text: str, size: int | None) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("count", [0, 1, 1000, 1024, 1536, 4 << 20, 1 << 40, 3 << 30])
def test_exact_bytes_are_read_back(count: int) -> None:
    assert parse_bytes(exact_bytes(count)) == count


def test_human_amounts() -> None:
    assert human_bytes(96) == "96 B"
    assert human_bytes(1 << 20) == "1.00 MiB"
    assert human_bytes((1 << 20) - 1) == "1.00 MiB"
    assert human_bytes(500 << 10) == "500 KiB"
    assert human_rate(100e6) == "95.4 MiB/s"
    assert human_seconds(0.0005) == "0.001"
    assert human_seconds(21.04) == "21.0"
