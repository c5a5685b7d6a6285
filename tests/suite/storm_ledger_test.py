"""A storm's ledger sees a byte that is lost, and one that nobody wrote (tests/storm/ledger.py)."""

from __future__ import annotations

from dataclasses import replace

from storm.ledger import NEVER, Call, Counts, Kind, judged


def _call(begin: int, end: int, kind: Kind = Kind.WRITES, at: int = 0, count: int = 0) -> Call:
    return Call(
        begin_ns=begin,
        end_ns=end,
        returned=end != NEVER,
        kind=kind,
        at=at,
        byte_count=count,
        result=count,
        version=begin,
        file=1,
        name=1,
    )


OLD = _call(1, 2, at=0, count=1000)
NEW = _call(3, 4, at=200, count=500)
CUT = _call(5, 6, Kind.CUTS, at=600)
UNDER_WAY = _call(7, NEVER, at=100, count=300)


def _bytes(*calls: Call, length: int) -> bytearray:
    made = bytearray(length)
    for call in calls:
        end = min(call.end(), length)
        made[call.begin() : end] = call.content(call.begin(), end)
    return made


def test_what_was_written_last_is_there() -> None:
    assert not judged(bytes(_bytes(OLD, NEW, length=1000)), [OLD, NEW], Counts())
    assert not judged(bytes(_bytes(OLD, NEW, length=600)), [OLD, NEW, CUT], Counts())


def test_an_old_byte_is_lost() -> None:
    found = _bytes(OLD, NEW, length=1000)
    found[300:310] = OLD.content(300, 310)
    assert judged(bytes(found), [OLD, NEW], Counts()).lost == 10
    found[300:310] = bytes(10)
    assert judged(bytes(found), [OLD, NEW], Counts()).lost == 10


def test_missing_bytes_at_the_end_are_lost() -> None:
    assert judged(bytes(_bytes(OLD, length=990)), [OLD], Counts()).lost == 10
    assert judged(b"", [OLD], Counts()).lost == 1000


def test_bytes_that_nobody_wrote_are_wrong() -> None:
    found = _bytes(OLD, length=1000)
    found[7] ^= 0x55
    assert judged(bytes(found), [OLD], Counts()).wrong == 1
    assert judged(bytes(_bytes(OLD, length=1010)), [OLD], Counts()).wrong == 10


def test_what_comes_back_behind_a_cut_is_lost_or_wrong() -> None:
    assert judged(bytes(_bytes(OLD, NEW, length=1000)), [OLD, NEW, CUT], Counts())


def test_a_call_that_has_not_returned_may_have_done_its_work_or_a_part_of_it() -> None:
    calls = [OLD, NEW, UNDER_WAY]
    whole = _bytes(*calls, length=1000)
    part = _bytes(OLD, NEW, length=1000)
    part[150:250] = whole[150:250]
    for found in (whole, part, _bytes(OLD, NEW, length=1000)):
        assert not judged(bytes(found), calls, Counts())


def test_what_is_over_cannot_come_back() -> None:
    """Its writer was dead when the next one began."""
    calls = [OLD, replace(UNDER_WAY, begin_ns=2, end_ns=3), replace(NEW, begin_ns=8, end_ns=9)]
    found = _bytes(OLD, length=1000)
    found[200:700] = calls[2].content(200, 700)
    assert not judged(bytes(found), calls, Counts())
    found[250:260] = calls[1].content(250, 260)
    assert judged(bytes(found), calls, Counts()).lost == 10


def test_two_writes_at_a_time_may_end_in_any_order() -> None:
    one, other = replace(OLD, end_ns=9), replace(NEW, end_ns=9)
    for order in ((one, other), (other, one)):
        assert not judged(bytes(_bytes(*order, length=1000)), [one, other], Counts())


def test_what_came_behind_the_moment_that_counts_may_be_there() -> None:
    counts = Counts(until_ns=2)
    for found in (_bytes(OLD, length=1000), _bytes(OLD, NEW, length=1000)):
        assert not judged(bytes(found), [OLD, NEW], counts)
