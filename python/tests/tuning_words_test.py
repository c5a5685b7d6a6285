"""The field's words in a report's text are explained where they come first, and only there."""

from __future__ import annotations

from tuning_scenes import read_here
from tuning_verdict_test import path_of

from forebay_tuning.report.model.diagnosis import diagnose
from forebay_tuning.report.report.text import as_text
from forebay_tuning.report.report.words import Explained


def test_a_word_is_explained_where_it_comes_first() -> None:
    told = Explained()
    assert told("1 aggregator writes").startswith("1 aggregator (a rank that reads or writes on")
    assert told("more aggregators") == "more aggregators"
    assert told("OSTs") == "OSTs (storage targets of Lustre)"
    assert told("LUSTRE_COMP_OST_ID, ROMIO_HINTS") == "LUSTRE_COMP_OST_ID, ROMIO_HINTS"


def test_a_word_that_is_explained_already_is_left_as_it_is() -> None:
    told = Explained()
    text = "one aggregator (a rank that does the I/O of others) a stripe"
    assert told(text) == text
    assert told("aggregators") == "aggregators"


def test_a_report_explains_what_it_says_of_romio() -> None:
    text = as_text(diagnose(read_here(path_of("lustre-one-stripe"))))
    assert text.count("ROMIO (the part of MPI libraries that does MPI-IO)") == 1
    assert text.count("aggregator (") == 1
