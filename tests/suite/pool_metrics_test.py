"""Metrics of real daemons: what `forebay pool status` prints, and what the timer has written for
node_exporter."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics import parser

from suite import mpi as m
from suite.command import FOREBAY, environment, forebay
from suite.file_systems import until
from suite.verdict import ensure

SCRIPT = m.ROOT / "packaging" / "monitoring" / "forebay-metrics.sh"
families_of: Any = parser.text_string_to_metric_families
EXPORTER = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
PROMTOOL = shutil.which("promtool")
BYTES = 300_000
STATUS = [*FOREBAY, "pool", "status"]
# The socket is named: without it all daemons of the user are asked, also those of other tests.
WRITER = f"""
import os, subprocess, sys
with open("file", "wb") as file:
    file.write(b"x" * {BYTES})
    file.flush()
    os.fsync(file.fileno())
    place = os.environ["FOREBAY_POOL_SOCKET"]
    subprocess.run([*{STATUS!r}, "--socket", place, "--format", sys.argv[1]], check=True)
"""


def test_what_a_daemon_has_done_is_in_its_metrics(folder: Path) -> None:
    done = forebay(
        "run", "--pool", ".", "--", sys.executable, "-c", WRITER, "openmetrics", cwd=folder
    )
    ensure(done.returncode == 0, done.stderr)
    found = {
        (one.name, one.labels.get("kind") or one.labels.get("state")): one.value
        for family in families_of(done.stdout)
        for one in family.samples
        if one.labels.get("le", "+Inf") == "+Inf"
    }
    ensure(found["forebay_pool_daemons", None] == 1, done.stdout)
    ensure(found["forebay_pool_deposited_bytes_total", None] == BYTES, done.stdout)
    ensure(found["forebay_pool_drained_bytes_total", None] == BYTES, done.stdout)
    ensure(found["forebay_pool_lag_bytes", None] == 0, done.stdout)
    ensure(found["forebay_pool_sync_wait_seconds_count", None] == 1, done.stdout)
    waited = found["forebay_pool_sync_wait_seconds_sum", None]
    ensure(found["forebay_pool_waited_seconds_total", "sync"] == waited > 0, done.stdout)
    longest = found["forebay_pool_wait_seconds_bucket", "sync"]
    ensure(longest == found["forebay_pool_wait_seconds_count", "sync"] == 1, done.stdout)
    ensure(found["forebay_pool_wait_seconds_sum", "sync"] == waited, done.stdout)
    ensure(found["forebay_pool_wait_seconds_count", "open"] >= 1, done.stdout)
    ensure(found["forebay_pool_files", "pooled"] == 1, done.stdout)
    ensure(found["forebay_pool_memory_cap_bytes", None] >= 4 << 20, done.stdout)
    ensure(found["forebay_pool_clients", None] >= 1, done.stdout)


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_promtool_finds_nothing_in_what_a_daemon_says(folder: Path) -> None:
    done = forebay(
        "run", "--pool", ".", "--", sys.executable, "-c", WRITER, "prometheus", cwd=folder
    )
    ensure(done.returncode == 0, done.stderr)
    ensure("forebay_pool_wait_seconds_bucket" in done.stdout, done.stdout)
    checked = subprocess.run(
        [str(PROMTOOL), "check", "metrics"],
        input=done.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    said = checked.stdout + checked.stderr
    ensure((checked.returncode, said) == (0, ""), f"{said}\n{done.stdout}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _scraped(texts: Path, log: Path) -> str:
    """The metrics that node_exporter gives for the folder."""
    port = _free_port()
    with log.open("w") as out:
        exporter = subprocess.Popen(
            [
                str(EXPORTER),
                "--collector.disable-defaults",
                "--collector.textfile",
                f"--collector.textfile.directory={texts}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}/metrics"
        told: list[str] = []

        def answers() -> bool:
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    told.append(answer.read().decode())
            except OSError:
                return False
            return True

        ensure(until(answers, 120), f"node_exporter does not answer: {log.read_text()}")
        return told[-1]
    finally:
        exporter.kill()
        exporter.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="root starts the script")
def test_the_timers_script_writes_a_file_for_each_user_and_removes_it(folder: Path) -> None:
    """In a PID namespace of its own, so that it finds the daemon of this test only."""
    texts = folder / "texts"
    texts.mkdir()
    (texts / "other.prom").write_text("other 1\n")
    command = folder / "forebay"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(FOREBAY)} "$@"\n')
    command.chmod(0o755)
    steps = f"""
        set -e
        {command} pool start . > /dev/null
        {SCRIPT}
        cp {texts}/forebay-root.prom with
        {command} pool stop > /dev/null
        {SCRIPT}
    """
    with tempfile.TemporaryDirectory() as runtime:  # a socket's name has at most 107 bytes
        done = subprocess.run(
            ["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", steps],
            cwd=folder,
            env=environment(
                FOREBAY=str(command), FOREBAY_TEXTFILES=str(texts), XDG_RUNTIME_DIR=runtime
            ),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    if "Operation not permitted" in done.stderr:
        pytest.skip("no PID namespace can be made here")
    ensure(done.returncode == 0, done.stderr)
    ensure([one.name for one in texts.iterdir()] == ["other.prom"], str(list(texts.iterdir())))
    text = (folder / "with").read_text()
    ensure('forebay_pool_daemons{user="root"} 1\n' in text, text)
    if EXPORTER is None:
        return
    shutil.copy(folder / "with", texts / "forebay-root.prom")
    told = _scraped(texts, folder / "exporter")
    ensure("node_textfile_scrape_error 0" in told, told)
    ensure("# TYPE forebay_pool_deposited_bytes_total counter" in told, told)
    names = set(re.findall(r"^(forebay_\w+)", text, re.MULTILINE))
    ensure(names == set(re.findall(r"^(forebay_\w+)", told, re.MULTILINE)), told)
