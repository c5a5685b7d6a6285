"""Bytes as settings and people write them."""

import pytest

from forebay.domain.units import exact_bytes, human_bytes, human_seconds, parse_bytes


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("0", 0),
        ("65536", 65536),
        ("4m", 4 << 20),
        ("4 MiB", 4 << 20),
        ("64 kib", 64 << 10),
        ("1G", 1 << 30),
        ("2TiB", 2 << 40),
        ("7 b", 7),
        ("4 MB", None),
        ("-1", None),
        ("1.5m", None),
        ("", None),
        ("m", None),
        ("٣", None),
    ],
)
def test_parse_bytes_as_the_native_library_does(text: str, bytes_: int | None) -> None:
    assert parse_bytes(text) == bytes_


@pytest.mark.parametrize("count", [0, 1, 1000, 1024, 1536, 4 << 20, 1 << 40, 3 << 30])
def test_exact_bytes_are_read_back(count: int) -> None:
    assert parse_bytes(exact_bytes(count)) == count


def test_human_amounts() -> None:
    assert human_bytes(96) == "96 B"
    assert human_bytes(1 << 20) == "1.00 MiB"
    assert human_bytes((1 << 20) - 1) == "1.00 MiB"
    assert human_bytes(500 << 10) == "500 KiB"
    assert human_seconds(0.0005) == "0.001"
    assert human_seconds(21.04) == "21.0"
