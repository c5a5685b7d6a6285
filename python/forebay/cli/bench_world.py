"""Puts the real adapters behind the ports of a benchmark."""

import os

from forebay.adapters.bench_page import HtmlPages
from forebay.adapters.bench_results import ResultFiles
from forebay.application.bench import BenchWorld
from forebay.cli.world import real_world


def real_bench_world() -> BenchWorld:
    """This machine."""
    return BenchWorld(
        world=real_world(), results=ResultFiles(), pages=HtmlPages(), is_root=os.geteuid() == 0
    )
