"""Metrics of daemons: read by Prometheus' own parsers and checked by promtool; the dashboard names
only metrics that there are."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pool_test import file, status
from prometheus_client import parser as prometheus_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from forebay.common.files.safe_files import replace_whole
from forebay.pool.files.fleet import together
from forebay.pool.model.metrics import families_of
from forebay.pool.model.pool import REASONS, WaitHistogram
from forebay.pool.report.metrics_text import Dialect, metrics_text

ROOT = Path(__file__).resolve().parents[2]
parsed_openmetrics: Any = openmetrics_parser.text_string_to_metric_families
parsed_prometheus: Any = prometheus_parser.text_string_to_metric_families
MONITORING = ROOT / "packaging" / "monitoring"
WAIT_BOUNDS = (0.0001, 2.0)
WAITS = (
    WaitHistogram(kind="open", seconds=0.003, counts=(1, 2, 0)),
    WaitHistogram(kind="sync", seconds=7.5, counts=(1, 0, 3)),
)
BUSY = status(
    wait_bounds_seconds=WAIT_BOUNDS,
    waits=WAITS,
    process=42,
    lag=3,
    leased=5 << 20,
    memory=8 << 30,
    oldest_seconds=1.25,
    clients=(1, 2),
    files_dropped=1,
    files=(
        file(outstanding=1 << 20, drained=3 << 20, syncs=4, syncing_seconds=0.25, state="pooled"),
        file(reason="append", state="through", opening_seconds=0.125),
        file(reason="append", error=28, error_text='No "space"\nleft \\ on device'),
        file(reason="closing"),
    ),
)
IDLE = status(process=43)


def exposition(dialect: Dialect, *daemons: Any) -> str:
    return metrics_text(families_of(daemons, user="me"), dialect)


def values(families: Any) -> dict[tuple[str, ...], float]:
    """The values by name and by the values of their labels."""
    return {
        (one.name, *sorted(one.labels.values())): one.value
        for family in families
        for one in family.samples
    }


def test_openmetrics_is_what_its_parser_takes() -> None:
    text = exposition(Dialect.OPENMETRICS, BUSY, IDLE)
    assert text.endswith("# EOF\n")
    families = {one.name: one for one in parsed_openmetrics(text)}
    found = values(families.values())
    assert found["forebay_pool_daemons", "me"] == 2
    assert found["forebay_pool_deposited_bytes_total", "42", "me"] == 16 << 20
    assert found["forebay_pool_drained_bytes_total", "42", "me"] == 15 << 20
    assert found["forebay_pool_lag_bytes", "42", "me"] == 1 << 20
    assert found["forebay_pool_lag_age_seconds", "42", "me"] == 1.25
    assert found["forebay_pool_lag_writes", "42", "me"] == 3
    assert found["forebay_pool_waited_seconds_total", "42", "me", "open"] == 0.125
    assert found["forebay_pool_waited_seconds_total", "42", "me", "sync"] == 0.25
    assert found["forebay_pool_waited_seconds_total", "42", "me", "other"] == 1.625
    assert found["forebay_pool_sync_wait_seconds_count", "42", "me"] == 4
    assert found["forebay_pool_sync_wait_seconds_sum", "42", "me"] == 0.25
    assert found["forebay_pool_wait_seconds_bucket", "0.0001", "42", "me", "open"] == 1
    assert found["forebay_pool_wait_seconds_bucket", "2.0", "42", "me", "open"] == 3
    assert found["forebay_pool_wait_seconds_bucket", "2.0", "42", "me", "sync"] == 1
    assert found["forebay_pool_wait_seconds_bucket", "+Inf", "42", "me", "sync"] == 4
    assert found["forebay_pool_wait_seconds_count", "42", "me", "sync"] == 4
    assert found["forebay_pool_wait_seconds_sum", "42", "me", "sync"] == 7.5
    assert found["forebay_pool_past_files", "42", "append", "me"] == 2
    assert found["forebay_pool_failing_files", "42", 'No "space"\nleft \\ on device', "me"] == 1
    assert found["forebay_pool_memory_used_bytes", "42", "me"] == 5 << 20
    assert found["forebay_pool_memory_cap_bytes", "43", "me"] == 1 << 30
    assert families["forebay_pool_lag_bytes"].unit == "bytes"
    assert all(one.documentation for one in families.values())
    assert all(one.type != "unknown" for one in families.values())


def test_both_dialects_say_the_same() -> None:
    ours = values(parsed_openmetrics(exposition(Dialect.OPENMETRICS, BUSY, IDLE)))
    others = values(parsed_prometheus(exposition(Dialect.PROMETHEUS, BUSY, IDLE)))
    assert ours == others


def test_a_counter_has_a_type_in_the_older_format() -> None:
    families = list(parsed_prometheus(exposition(Dialect.PROMETHEUS, BUSY)))
    kinds = {one.name: one.type for one in families}
    assert "unknown" not in kinds.values()
    assert kinds["forebay_pool_deposited_bytes"] == "counter"


def test_where_there_is_no_daemon_it_is_said() -> None:
    text = exposition(Dialect.OPENMETRICS)
    assert values(parsed_openmetrics(text)) == {("forebay_pool_daemons", "me"): 0}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize("daemons", [(), (BUSY,), (BUSY, IDLE)])
def test_promtool_finds_nothing(daemons: tuple[Any, ...]) -> None:
    text = exposition(Dialect.PROMETHEUS, *daemons)
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_waits_of_all_nodes_are_added_bucket_by_bucket() -> None:
    def waits(*counts: int) -> tuple[WaitHistogram, ...]:
        one = WaitHistogram(kind="open", seconds=sum(counts), counts=counts)
        return (one, replace(one, kind="sync", counts=counts[::-1]))

    bounds = (0.0001, 0.0002)
    reports = [
        status(waits=waits(1, 0, 2), wait_bounds_seconds=bounds),
        status(waits=waits(0, 4, 8), wait_bounds_seconds=bounds),
    ]
    both = together(reports)
    assert [one.counts for one in both.waits] == [(1, 4, 10), (10, 4, 1)]
    assert [(one.kind, one.seconds) for one in both.waits] == [("open", 15), ("sync", 15)]
    assert both.wait_bounds_seconds == bounds


def test_a_dashboard_names_only_metrics_that_there_are() -> None:
    files = tuple(file(reason=one) for one in REASONS)
    everything = status(
        files=(*files, file(error=5, error_text="Input/output error")),
        wait_bounds_seconds=WAIT_BOUNDS,
        waits=WAITS,
    )
    known = {
        name for name, *_ in values(parsed_openmetrics(exposition(Dialect.OPENMETRICS, everything)))
    }
    dashboard = json.loads((MONITORING / "grafana-forebay.json").read_text("utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions += [one["query"] for one in dashboard["templating"]["list"]]
    named = {name for text in expressions for name in re.findall(r"\bforebay_\w+", text)}
    assert len(expressions) > 10
    assert len(named) > 10
    assert not named - known
    labels = {label for one in expressions for label in re.findall(r"by \(([\w, ]+)\)", one)}
    assert {word for one in labels for word in one.split(", ")} <= {
        "instance", "user", "kind", "reason", "error", "le",
    }  # fmt: skip


def test_the_document_lists_all_metrics() -> None:
    everything = status(
        files=(file(reason="append", error=5, error_text="Input/output error"),),
        wait_bounds_seconds=WAIT_BOUNDS,
        waits=WAITS,
    )
    known = {
        name for name, *_ in values(parsed_openmetrics(exposition(Dialect.OPENMETRICS, everything)))
    }
    document = (ROOT / "schema" / "pool.md").read_text("utf-8")
    assert set(re.findall(r"`(forebay_pool_\w+)`", document)) == known


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_the_expressions_of_the_dashboard_are_prometheus_own(tmp_path: Path) -> None:
    dashboard = json.loads((MONITORING / "grafana-forebay.json").read_text("utf-8"))
    rules = [
        {
            "record": f"forebay:rule_{number}",
            "expr": target["expr"].replace("$__rate_interval", "1m"),
        }
        for number, target in enumerate(
            target for panel in dashboard["panels"] for target in panel["targets"]
        )
    ]
    path = tmp_path / "rules.yml"  # JSON is YAML
    path.write_text(json.dumps({"groups": [{"name": "forebay", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


def test_readers_of_a_file_see_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "forebay.prom"
    path.write_text("old")
    with path.open() as opened:
        replace_whole(path, "new")
        assert opened.read() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644
    kept = tmp_path / "kept"
    kept.write_text("kept")
    path.unlink()
    path.symlink_to(kept)
    replace_whole(path, "newer")
    assert (kept.read_text(), path.read_text(), path.is_symlink()) == ("kept", "newer", False)
    assert {one.name for one in tmp_path.iterdir()} == {"forebay.prom", "kept"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--output", "x"), "Say --format prometheus"),
        (("--format", "json", "-o", "x"), "Say --format prometheus"),
        (("--format", "openmetrics", "--watch"), "cannot use --watch for metrics"),
        (("--format", "openmetrics", "-o", "none/x"), "cannot write the metrics none/x"),
    ],
)
def test_options_that_do_not_go_together(
    words: tuple[str, ...], said: str, tmp_path: Path, forebay: Any
) -> None:
    done = forebay("pool", "status", *words, folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    script = MONITORING / "forebay-metrics.sh"
    assert os.access(script, os.X_OK)
    for name in ("forebay-metrics.service", "forebay-metrics.timer"):
        text = (MONITORING / name).read_text("utf-8")
        where = "/usr/local/share/forebay/monitoring/forebay-metrics.sh"
        (tmp_path / name).write_text(text.replace(where, str(script)))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "forebay-metrics.timer")],
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "forebay-metrics" not in done.stderr
