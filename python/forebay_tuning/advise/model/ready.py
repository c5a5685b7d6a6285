"""Advice in the forms in which users apply it: settings, layouts, hints, lines of a batch script.
Each command can be run as it is printed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from forebay.common.model.frozen import frozen
from forebay.common.model.units import MIB, exact_bytes
from forebay.layout.model import WantedLayout
from forebay_tuning.advise.model.advice import Advice

SETTINGS_NAME = "forebay.toml"
HINTS_NAME = "romio.hints"
_CEPH_OBJECT = 4 * MIB
_WINDOW_LEAST, _WINDOW_MOST = 64 * 1024, 1024 * MIB
"""The bounds of Forebay's setting cb_buffer_size, in bytes."""


@frozen
class RenderedAdvice:
    """The texts in each form; a text is empty if that form has nothing to set."""

    settings: str
    hints: str
    layout: tuple[str, ...]
    composite: str
    batch: tuple[str, ...]
    proof: tuple[str, ...] = ()


def ready(advice: Advice, *, directory: str, command: str, file: str = "") -> RenderedAdvice:
    """The forms for a `command` whose output is in `directory`. `file` is the written advice, empty
    if it was not written."""
    settings = settings_of(advice)
    hints = hints_of(advice)
    return RenderedAdvice(
        settings="".join(f"{name} = {value}\n" for name, value in settings.items()),
        hints="".join(f"{name} {value}\n" for name, value in hints.items()),
        layout=_layout_lines(advice, directory),
        composite=_composite(advice, directory),
        batch=_batch(advice, directory, command),
        proof=_proof(advice, file, directory, command),
    )


def chosen(advice: Sequence[Advice]) -> Advice:
    """The advice that is applied: the first that changes something. Writing comes before reading,
    since a layout is that of new files. If none changes anything, it is the first."""
    return next((one for one in advice if not one.keeps), advice[0])


def settings_of(advice: Advice) -> dict[str, str]:
    """Forebay's settings, with values as TOML spells them."""
    own = advice.settings
    window = None
    if own.transfer_bytes is not None:
        window = max(_WINDOW_LEAST, min(_WINDOW_MOST, own.transfer_bytes))
    return _given(
        advice,
        {"striping_factor": own.stripe_count, "striping_unit": _quoted(own.stripe_bytes)},
        {
            "cb_nodes": own.processes,
            "cb_buffer_size": _quoted(window),
            "requests_in_flight": own.requests_in_flight,
            "collective_read": '"enable"' if own.one_reader_per_node else None,
        },
    )


def hints_of(advice: Advice) -> dict[str, str]:
    """ROMIO's hints, for the file that ROMIO_HINTS names."""
    own = advice.settings
    return _given(
        advice,
        {"striping_factor": own.stripe_count, "striping_unit": own.stripe_bytes},
        {
            "cb_nodes": own.processes,
            "cb_config_list": None if own.per_node is None else f"*:{own.per_node}",
            "cb_buffer_size": own.transfer_bytes,
            "romio_cb_read": "enable" if own.one_reader_per_node else None,
        },
    )


def _given(
    advice: Advice, always: dict[str, int | str | None], collective: dict[str, int | str | None]
) -> dict[str, str]:
    """The values that are advised; those in `collective` only if the calls are collective."""
    both = {**always, **(collective if advice.workload.collective else {})}
    return {name: str(value) for name, value in both.items() if value is not None}


def _quoted(count: int | None) -> str | None:
    return None if count is None else f'"{exact_bytes(count)}"'


def wanted_layout(advice: Advice) -> WantedLayout:
    """The layout for the output directory."""
    own = advice.settings
    return WantedLayout(stripe_count=own.stripe_count or 0, stripe_bytes=own.stripe_bytes or 0)


def _layout_lines(advice: Advice, directory: str) -> tuple[str, ...]:
    """The commands that set the layout: Forebay's, and the file system's own."""
    own = advice.settings
    if not wanted_layout(advice).says_something:
        return ()
    count, stripe = own.stripe_count, own.stripe_bytes
    words = [
        *(["-c", str(count)] if count is not None else []),
        *(["-S", str(stripe)] if stripe is not None else []),
    ]
    where = shlex.quote(directory)
    lines = [f"forebay layout set {' '.join(words)} {where}"]
    if advice.file_system == "lustre":
        lines.append(f"lfs setstripe {' '.join(words)} {where}")
    if advice.file_system == "ceph":
        lines += _ceph_lines(count, stripe, where)
    return tuple(lines)


def _ceph_lines(count: int | None, stripe: int | None, where: str) -> list[str]:
    """An object consists of whole stripe units, so that its size is set before the unit."""
    lines = []
    if stripe is not None:
        whole = max(stripe, _CEPH_OBJECT // stripe * stripe)
        lines += [
            f"setfattr -n ceph.dir.layout.object_size -v {whole} {where}",
            f"setfattr -n ceph.dir.layout.stripe_unit -v {stripe} {where}",
        ]
    if count is not None:
        lines.append(f"setfattr -n ceph.dir.layout.stripe_count -v {count} {where}")
    return lines


def _composite(advice: Advice, directory: str) -> str:
    """The same as a composite layout, for a directory with files of all sizes: small files stay on
    one target."""
    count = advice.settings.stripe_count
    if advice.file_system != "lustre" or count is None or count < 2:
        return ""
    stripe = advice.settings.stripe_bytes
    unit = [] if stripe is None else ["-S", str(stripe)]
    parts = [["-E", "64M", "-c", "1", *unit]]
    if count > 4:
        parts.append(["-E", "1G", "-c", "4", *unit])
    parts.append(["-E", "-1", "-c", str(count), *unit])
    words = [word for part in parts for word in part]
    return f"lfs setstripe {' '.join(words)} {shlex.quote(directory)}"


def _batch(advice: Advice, directory: str, command: str) -> tuple[str, ...]:
    if advice.keeps:
        return ()
    layout = _layout_lines(advice, directory)
    lines = [*layout[:1]]
    settings = settings_of(advice)
    if advice.workload.collective and settings:
        chosen = " ".join(
            f"--set {name}={shlex.quote(value.strip(chr(34)))}" for name, value in settings.items()
        )
        lines.append(f"forebay run {chosen} -- {command}")
    else:
        lines.append(command)
    return tuple(lines)


def _proof(advice: Advice, file: str, directory: str, command: str) -> tuple[str, ...]:
    if advice.keeps or not file:
        return ()
    words = f"{shlex.quote(file)} --output-dir {shlex.quote(directory)} -- {command}"
    return (f"forebay apply {words}", f"forebay verify {words}")
