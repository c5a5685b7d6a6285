"""Portraits as TOML, in the form of platforms: each number has its source, interval and date."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forebay.common.files.safe_files import write_named
from forebay.common.files.toml_file import TomlKind, read_kind
from forebay.common.model.errors import ProbeError
from forebay.common.model.newer_python import zip_of
from forebay_tuning.model.metadata import FileRate, MetadataRates, spell_files
from forebay_tuning.model.point import COORDINATES, Direction, Point, Space
from forebay_tuning.model.portrait import SCHEMA, Identity, Portrait
from forebay_tuning.model.quantity import parse_quantity, spell_rate, spell_seconds
from forebay_tuning.model.response import NAMES, Physical, Response, Storm, Surface
from forebay_tuning.model.sample import Choice, NextProbe, Passage, Purpose, Sample
from forebay_tuning.model.sustained import Sustained
from forebay_tuning.model.targets import SickTarget

_TIMES = {"call_time", "request_time", "lock_time"}
_PLAIN = {"interference_per_stream", "streams_free"}
_KIND = TomlKind(
    what="portrait",
    schema=SCHEMA,
    error=ProbeError,
    missing="Make one by `forebay probe`.",
    other="Use the Forebay that made it, or probe again.",
    wrong="Was it changed by hand? Probe again.",
)


def write_portrait(portrait: Portrait, path: Path) -> None:
    """Writes the portrait. Raises ProbeError if that fails."""
    try:
        write_named(path, portrait_text(portrait))
    except OSError as error:
        raise ProbeError(
            f"cannot write the portrait {path} ({error.strerror}). Give another file by -o."
        ) from error


def read_portrait(path: Path) -> Portrait:
    """Reads a portrait. Raises ProbeError if the file has none, or is of another version."""
    return read_kind(path, _KIND, _portrait)


def portrait_text(portrait: Portrait) -> str:
    """The text of the file."""
    lines = [
        "# The portrait of a file system, made by `forebay probe`. Each number has its source, the",
        "# interval in which it lies with 95 %, and its date; `forebay advise` reads this file.",
        f"schema = {_text(SCHEMA)}",
        f"name = {_text(portrait.identity.name)}",
        f"findings = {json.dumps(list(portrait.findings), ensure_ascii=False)}",
        "",
        "[identity]",
    ]
    for name, value in asdict(portrait.identity).items():
        if name != "name":
            lines.append(f"{name} = {_plain(value)}")
    lines += ["", "[space]"]
    for name in COORDINATES:
        lines.append(f"{name} = {list(portrait.space.levels[name])}")
    lines += [
        f"sharing = {json.dumps(list(portrait.space.sharing))}",
        f"bytes_max = {portrait.space.bytes_max}",
        "",
        f"[control]\npoint = {_point(portrait.control)}",
    ]
    for choice in portrait.choices.values():
        lines += ["", *_direction(choice, portrait.identity)]
    if portrait.metadata is not None:
        lines += ["", *_metadata(portrait.metadata, portrait.identity)]
    placed = _origin("median of files on each target; no interval is computed", portrait.identity)
    for one in portrait.sick:
        lines += [
            "",
            "[[sick]]",
            f"target = {one.target}",
            f"slower = {{ value = {one.slower:.3f}, {placed} }}",
            f"files = {one.files}",
        ]
    for sample in portrait.samples:
        lines += ["", *_sample(sample)]
    return "\n".join(lines) + "\n"


def _direction(choice: Choice, identity: Identity) -> Iterator[str]:
    response = choice.response
    surface = response.surface
    how = f"the {identity.client}" if identity.is_modelled else "forebay-ior"
    source = f"fit to {surface.probes} probes of {how}"

    origin = _origin(source, identity)
    fitted = _origin(f"{source}; no interval is computed", identity)

    vague = _origin(f"assumed before; {source} do not identify it", identity)

    def entry(name: str, value: str, low: str, high: str) -> str:
        whence = origin if surface.is_identified(name) else vague
        return f'{{ value = "{value}", low = "{low}", high = "{high}", {whence} }}'

    yield f"[{response.direction}]"
    for name, off in zip_of(NAMES, surface.uncertain, strict=True):
        value = getattr(surface.physical, name)
        spell = _shortly(name)
        low, high = value * math.exp(-2 * off), value * math.exp(2 * off)
        yield f"{name} = {entry(name, *(spell(one) for one in (value, low, high)))}"
    for name, storm in (("opening", response.opening), ("closing", response.closing)):
        yield (
            f'{name} = {{ base = "{spell_seconds(storm.base, digits=3)}", each = '
            f'"{spell_seconds(storm.each, digits=3)}", power = {storm.power}, {fitted} }}'
        )
    if response.sustained is not None:
        yield f"sustained = {_sustained(response.sustained, identity)}"
    gain = f"value = {choice.gain:.3g}, low = {choice.gain_low:.3g}, high = {choice.gain_high:.3g}"
    chosen = _origin(f"{source}; three deviations, since it was chosen among many", identity)
    yield f"gain = {{ {gain}, {chosen} }}"
    for name, value in (
        ("noise", choice.noise),
        ("drift", choice.drift),
        ("spread", surface.spread),
        ("explained", surface.explained),
        ("doubt", surface.doubt),
    ):
        yield f"{name} = {{ value = {value:.3g}, {fitted} }}"
    yield f"probes = {surface.probes}"
    yield f"best = {_point(choice.best)}"
    yield f"surface = {[float(f'{one:.6g}') for one in surface.coefficients]}"


def _sustained(found: Sustained, identity: Identity) -> str:
    value, low, high, long, short = (
        spell_rate(one, digits=3)
        for one in (found.rate, found.low, found.high, found.long_rate, found.short_rate)
    )
    origin = _origin("the range of comparisons of long passages", identity)
    return (
        f'{{ value = "{value}", low = "{low}", high = "{high}", targets = {found.targets}, '
        f'longest_bytes = {found.longest_bytes}, long_rate = "{long}", '
        f"short_bytes = {found.short_bytes}, short_rate = "
        f'"{short}", cache_bytes = {found.cache_bytes}, {origin} }}'
    )


def _metadata(found: MetadataRates, identity: Identity) -> Iterator[str]:
    how = f"the {identity.client}" if identity.is_modelled else "forebay-meta"
    origin = _origin(f"median and range of rounds of {how}", identity)
    yield "[metadata]"
    for name, rates in (("creates", found.creates), ("opens", found.opens)):
        yield f"{name} = ["
        for one in rates:
            value, low, high = (spell_files(rate) for rate in (one.value, one.low, one.high))
            yield (
                f"    {{ processes = {one.processes}, value = {value}, low = {low}, "
                f"high = {high}, {origin} }},"
            )
        yield "]"


def _origin(source: str, identity: Identity) -> str:
    return f'source = {_text(source)}, date = "{identity.date[:10]}"'


def _sample(sample: Sample) -> Iterator[str]:
    yield "[[probe]]"
    yield f"purpose = {_text(sample.ask.purpose)}"
    yield f"point = {_point(sample.ask.point)}"
    for name, passage in (("write", sample.write), ("read", sample.read)):
        if passage is not None:
            is_long = sample.ask.purpose is Purpose.SUSTAIN
            moved = f", bytes = {passage.bytes}" if is_long else ""
            yield (
                f'{name} = {{ rate = "{spell_rate(passage.rate)}", open = '
                f'"{spell_seconds(passage.seconds_open)}", close = '
                f'"{spell_seconds(passage.seconds_close)}"{moved} }}'
            )
    if sample.cached:
        yield "cached = true"
    if sample.discarded:
        yield f"discarded = {_text(sample.discarded)}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(value: object) -> str:
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _shortly(name: str) -> Callable[[float], str]:
    """The function that spells a physical number, with three digits: no more are known."""
    if name in _PLAIN:
        return lambda value: f"{value:.3g}"
    spell = spell_seconds if name in _TIMES else spell_rate
    return lambda value: spell(value, digits=3)


def _point(point: Point) -> str:
    inner = ", ".join(f"{name} = {getattr(point, name)}" for name in COORDINATES)
    return f"{{ {inner}, shared = {json.dumps(point.shared)} }}"


def _portrait(document: Mapping[str, Any]) -> Portrait:
    identity = Identity(name=str(document["name"]), **document["identity"])
    own = document["space"]
    space = Space(
        levels={name: tuple(int(one) for one in own[name]) for name in COORDINATES},
        sharing=tuple(bool(one) for one in own["sharing"]),
        nodes=identity.nodes,
        ranks_per_node=identity.ranks_per_node,
        bytes_max=int(own["bytes_max"]),
    )
    choices = {
        direction: _choice(direction, document[direction.value], space, identity)
        for direction in Direction
        if direction.value in document
    }
    return Portrait(
        identity=identity,
        space=space,
        control=_read_point(document["control"]["point"]),
        choices=choices,
        samples=tuple(_read_sample(one) for one in document.get("probe", ())),
        sick=tuple(_sick(one) for one in document.get("sick", ())),
        findings=tuple(str(one) for one in document["findings"]),
        metadata=_read_metadata(document.get("metadata")),
    )


def _choice(
    direction: Direction, table: Mapping[str, Any], space: Space, identity: Identity
) -> Choice:
    # Older portraits lack the time of locks.
    known = [name for name in NAMES if name in table or name != "lock_time"]
    values = {name: _quantity(table[name]["value"]) for name in known}
    if any(value <= 0 for value in values.values()):
        raise ValueError(f"{direction}: a number is not above zero")
    uncertain = tuple(
        math.log(_quantity(table[name]["high"]) / _quantity(table[name]["low"])) / 4
        if name in known
        else 0.0
        for name in NAMES
    )
    surface = Surface(
        physical=Physical(**values),
        targets=identity.targets,
        coefficients=tuple(float(one) for one in table["surface"]),
        space=space,
        spread=_bare(table["spread"]),
        explained=_bare(table["explained"]),
        doubt=_bare(table["doubt"]),
        probes=int(table["probes"]),
        uncertain=uncertain,
    )
    return Choice(
        response=Response(
            direction=direction,
            surface=surface,
            opening=_storm(table["opening"]),
            closing=_storm(table["closing"]),
            sustained=_read_sustained(table.get("sustained")),
        ),
        best=_read_point(table["best"]),
        gain=_bare(table["gain"]),
        gain_low=_bare(table["gain"], "low"),
        gain_high=_bare(table["gain"], "high"),
        noise=_bare(table["noise"]),
        drift=_bare(table["drift"]),
    )


def _read_sustained(table: Mapping[str, Any] | None) -> Sustained | None:
    """None if there were no long passages, as in portraits of older versions."""
    if table is None:
        return None
    whole = ("targets", "longest_bytes", "short_bytes", "cache_bytes")
    found = Sustained(
        rate=_quantity(table["value"]),
        low=_quantity(table["low"]),
        high=_quantity(table["high"]),
        long_rate=_quantity(table["long_rate"]),
        short_rate=_quantity(table["short_rate"]),
        **{name: int(table[name]) for name in whole},
    )
    if found.rate <= 0 or found.targets <= 0:
        raise ValueError("a sustained rate is not above zero")
    return found


def _read_metadata(table: Mapping[str, Any] | None) -> MetadataRates | None:
    """None if the price of files was not measured, as in portraits of older versions."""
    if table is None:
        return None

    def rates(name: str) -> tuple[FileRate, ...]:
        found = tuple(
            FileRate(
                processes=int(one["processes"]),
                value=_bare(one),
                low=_bare(one, "low"),
                high=_bare(one, "high"),
            )
            for one in table[name]
        )
        numbers = [one.processes for one in found]
        ascending = bool(numbers) and numbers == sorted({*numbers}) and numbers[0] >= 1
        if not ascending or any(not 0 < one.value < math.inf for one in found):
            raise ValueError(f"metadata: {name} are no rates by ascending numbers of processes")
        return found

    return MetadataRates(creates=rates("creates"), opens=rates("opens"))


def _sick(table: Mapping[str, Any]) -> SickTarget:
    return SickTarget(
        target=int(table["target"]), slower=_bare(table["slower"]), files=int(table["files"])
    )


def _bare(entry: Mapping[str, Any], name: str = "value") -> float:
    """The number in an entry that also has a source."""
    return float(entry[name])


def _quantity(text: object) -> float:
    found = parse_quantity(str(text))
    return float(str(text)) if found is None else found


def _storm(table: Mapping[str, Any]) -> Storm:
    return Storm(
        base=_quantity(table["base"]), each=_quantity(table["each"]), power=float(table["power"])
    )


def _read_point(table: Mapping[str, Any]) -> Point:
    return Point(**{name: int(table[name]) for name in COORDINATES}, shared=bool(table["shared"]))


def _read_sample(table: Mapping[str, Any]) -> Sample:
    def passage(name: str) -> Passage | None:
        if name not in table:
            return None
        own = table[name]
        return Passage(
            rate=_quantity(own["rate"]),
            seconds_open=_quantity(own["open"]),
            seconds_close=_quantity(own["close"]),
            bytes=int(own.get("bytes", 0)),
        )

    return Sample(
        ask=NextProbe(point=_read_point(table["point"]), purpose=Purpose(table["purpose"])),
        write=passage("write"),
        read=passage("read"),
        discarded=str(table.get("discarded", "")),
        cached=bool(table.get("cached", False)),
    )
