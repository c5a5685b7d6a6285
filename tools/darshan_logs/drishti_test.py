"""The table that holds `forebay report` beside Drishti, without Drishti."""

from __future__ import annotations

from tools.darshan_logs.drishti import Found, codes_in, table

SHOWN = [
    "[red]:arrow_forward: [P06] Application issues a high number (100) of small write requests",
    "[orange1]:arrow_forward: [M07] Application could benefit from non-blocking writes",
    "[green]:arrow_forward: [M05] Application uses MPI-IO and writes data by collective calls",
    ":arrow_forward: [P03] Application is write size intensive",
]


def test_only_critical_issues_and_warnings_count() -> None:
    assert codes_in(SHOWN) == Found(critical=frozenset({"P06"}), warned=frozenset({"M07"}))


def test_a_trouble_is_named_by_any_of_its_codes_and_none_by_no_critical_issue() -> None:
    found, nothing = codes_in(SHOWN), codes_in(SHOWN[1:])
    assert found.names("small-calls")
    assert not found.names("metadata")
    assert not found.names("exchange")
    assert (found.names("none"), nothing.names("none")) == (False, True)


def test_a_log_on_which_drishti_fails_is_not_named() -> None:
    rows = [
        ("small-calls", "small-calls", codes_in(SHOWN)),
        ("small-calls", "metadata", None),
        ("none", "none", None),
    ]
    assert table(rows).splitlines()[2:] == ["| small-calls | 2 | 1 | 1 |", "| none | 1 | 1 | 0 |"]
