"""PostgreSQL's own benchmark as a load, where PostgreSQL is installed."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from evaluation.mount.loads import TimedLoad
from evaluation.program_run import run_program

USER = "nobody"
TOOLS = ("initdb", "pg_ctl", "pgbench")
SERVED = r"""
trap 'pg_ctl -s -D data -m fast -w stop >&2' EXIT
pg_ctl -s -D data -w -l log -o "-k $PWD -c listen_addresses=" start >&2 || { cat log >&2; exit 1; }
pgbench -h "$PWD" -n -t "$1" postgres 2>&1 \
    | awk -v count="$1" '/^tps/ {found = 1; print count / $3} END {exit !found}'
"""
"""Starts the server in the folder, prints the seconds of so many transactions of one client, and
ends the server. The database's socket is in the folder, too."""


def pgbench(transactions: int) -> TimedLoad | None:
    """Transactions by one client in a small database that is made before; None if there is no
    PostgreSQL in PATH."""
    if any(shutil.which(tool) is None for tool in TOOLS):
        return None
    return TimedLoad(
        name=f"pgbench, {transactions} transactions",
        command=(*_as_user(), "bash", "-c", SERVED, "bash", str(transactions)),
        prepare=partial(_database, _as_user()),
        prints_seconds=True,
        asked_on_disk="≤ 1.3 ×",
    )


def _as_user() -> tuple[str, ...]:
    """PostgreSQL refuses to be root."""
    return ("setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups") * (os.geteuid() == 0)


def _database(as_user: tuple[str, ...], folder: Path) -> None:
    """With the tables of pgbench, filled, and the server ended."""
    if as_user:
        shutil.chown(folder, USER)
        for parent in folder.parents:
            if parent.name.startswith(tempfile.gettempprefix()):
                parent.chmod(0o755)  # a place's own folder, which only root may enter
    filled = SERVED.partition("pgbench")[0] + 'pgbench -h "$PWD" -i -q postgres >&2\n'
    for words in (("initdb", "-D", "data", "-A", "trust"), ("bash", "-c", filled)):
        run_program(words[0], [*as_user, *words], at=folder)
