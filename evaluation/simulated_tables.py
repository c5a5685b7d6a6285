"""The command of a program whose tables are simulated: its options, runs side by side, errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from evaluation.model import BenchError
from evaluation.table_report import (
    TableReport,
    add_report_options,
    check_document,
    circumstances,
    publish,
)
from evaluation.tables import TextTable
from forebay.common.model.errors import ForebayError

MakeTables = Callable[[argparse.Namespace, Executor], list[TextTable]]
"""Gives the tables of what was asked (`table`, `docs`); simulations go to the executor."""


def run_table_command(
    module: str,
    description: str,
    tables: Sequence[str],
    make: MakeTables,
    arguments: Sequence[str] | None,
) -> int:
    """Prints one of `tables`, or puts it into the page, where the name of the module and of the
    table are the marker. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", choices=tables)
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    add_report_options(parser)
    words = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(words)
    marker = f"{module.rpartition('.')[2]}_{options.table}"
    before = circumstances(module, words)
    with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as executor:
        try:
            check_document(marker, options.docs)
            made = make(options, executor)
        except (BenchError, ForebayError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    publish(TableReport(circumstances=before, tables=tuple(made)), marker, options)
    return 0
