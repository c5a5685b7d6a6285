"""Metrics as text: in OpenMetrics 1.0, and in the older text format of Prometheus (0.0.4), which is
the one that node_exporter's textfile collector reads. They differ in the names of counters' headers
and in the last line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from forebay.pool.model.metrics import MetricFamily, MetricKind, MetricSample


class Dialect(Enum):
    """The two text formats."""

    OPENMETRICS = "openmetrics"
    PROMETHEUS = "prometheus"


def metrics_text(families: Sequence[MetricFamily], dialect: Dialect) -> str:
    """The whole exposition, which ends with a line's end."""
    lines = [line for family in families for line in _family_lines(family, dialect)]
    end = ["# EOF"] if dialect is Dialect.OPENMETRICS else []
    return "\n".join([*lines, *end, ""])


def _family_lines(family: MetricFamily, dialect: Dialect) -> Iterator[str]:
    is_open = dialect is Dialect.OPENMETRICS
    total = "" if is_open or family.kind is not MetricKind.COUNTER else "_total"
    yield f"# HELP {family.name}{total} {_escaped(family.text, quotes=is_open)}"
    yield f"# TYPE {family.name}{total} {family.kind.value}"
    if is_open and family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield from (_sample_line(family.name, sample) for sample in family.samples)


def _sample_line(name: str, sample: MetricSample) -> str:
    labels = ",".join(
        f'{label}="{_escaped(value, quotes=True)}"' for label, value in sample.labels.items()
    )
    value = sample.value
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{sample.suffix}{{{labels}}} {number}"


def _escaped(text: str, *, quotes: bool) -> str:
    """The text with the characters escaped that would end it. All others that cannot be printed
    become question marks: a file of metrics is read by terminals, too."""
    plain = "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
    escaped = plain.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quotes else escaped
