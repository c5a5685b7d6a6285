"""Puts the real adapters behind the ports of a benchmark."""

import os

from forebay.bench.files import ResultFiles, flag_letters
from forebay.bench.report.page import HtmlPages
from forebay.bench.use_case.bench import BenchWorld
from forebay.world import real_world


def real_bench_world() -> BenchWorld:
    """The ports over this machine."""
    return BenchWorld(
        world=real_world(),
        results=ResultFiles(),
        pages=HtmlPages(),
        letters=flag_letters(),
        is_root=os.geteuid() == 0,
    )
