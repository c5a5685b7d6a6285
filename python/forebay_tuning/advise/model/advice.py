"""Advice: one set of settings for a program on a file system, with the predicted gain, its interval
and the reasons. There is one value per setting, so advice cannot contradict itself. It may be to
keep everything as it is."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace

from forebay.common.model.frozen import frozen
from forebay.common.model.newer_python import StrEnum
from forebay.common.model.units import MIB, counted, exact_bytes, human_bytes
from forebay_tuning.advise.model.bottleneck import bottleneck, why_fewer_stripes
from forebay_tuning.advise.model.candidates import Room, candidates, fewest_stripes
from forebay_tuning.advise.model.rules import USUAL, Rule, asking_for, usable
from forebay_tuning.advise.model.worth import (
    K_USUAL,
    MARGIN,
    doubtful,
    in_flight,
    obeying,
    price_of_files,
    product,
    trifling,
    what_mpi_does,
    why_kept,
)
from forebay_tuning.model.coverage import coverage_of, log_interval, response_of
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.placement import BUFFER_OF_FOREBAY
from forebay_tuning.model.point import Direction, Point, Space, changed
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.present import present_point
from forebay_tuning.model.response import Response
from forebay_tuning.model.targets import SickTarget

STEP_LEAST = 1.02
"""A change with a smaller gain (a ratio of speeds) is not listed on its own."""
_TRIFLE = 0.02
"""Logarithm of a gain: single changes that gain less are undone."""
_ALIKE = 0.02
"""Logarithm of a gain: points that are this close are equally good; the one with fewest changes is
taken."""


class Lever(StrEnum):
    """The means by which something can be changed. `layout` is that of new files; `settings` are
    Forebay's or ROMIO's hints, for collective calls; `program` needs a change of the program."""

    LAYOUT = "layout"
    SETTINGS = "settings"
    PROGRAM = "program"


@frozen
class Settings:
    """The advised values; None leaves a setting as it is."""

    stripe_count: int | None = None
    stripe_bytes: int | None = None
    processes: int | None = None
    per_node: int | None = None
    transfer_bytes: int | None = None
    requests_in_flight: int | None = None
    one_reader_per_node: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether everything is left as it is."""
        return self == Settings()


@frozen
class Item:
    """One change. `gain` is its ratio of speeds when all earlier items are in effect, with about
    the 95 % interval; None if it cannot be predicted."""

    name: str
    now: str
    advised: str
    lever: Lever
    gain: float | None
    reasons: tuple[str, ...]
    gain_low: float | None = None
    gain_high: float | None = None


@frozen
class Advice:
    """The advice for one workload. Gains are ratios of rates, above 1 is better; None without a
    portrait to predict them. `rivals` are rules that ask for something else; `notes` are further
    remarks; `now` is the assumed present behaviour, None in files that do not have it."""

    workload: Workload
    settings: Settings
    items: tuple[Item, ...]
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    seconds_now: float | None
    seconds_advised: float | None
    reasons: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    portrait: str = ""
    file_system: str = ""
    now: Point | None = None
    coverage: str = ""
    """How often intervals of this kind covered the measurements, in words; empty if not known."""
    held_back: str = ""  # what a log shows that no setting mends, or that is not explained

    @property
    def keeps(self) -> bool:
        """Whether the advice is to change nothing."""
        return self.settings.is_empty


@frozen
class Question:
    """The input of `advise`. `allowed` are the means that may be used; `untroubled` says that a log
    of the program shows nothing that held its I/O back, `keeps_stripes` that it shows something
    that fewer stripes do not mend."""

    workload: Workload
    portrait: Portrait | None = None
    rules: tuple[Rule, ...] = USUAL
    allowed: frozenset[Lever] = frozenset({Lever.LAYOUT, Lever.SETTINGS})
    sick: tuple[SickTarget, ...] = field(default=())
    untroubled: bool = False
    keeps_stripes: bool = False

    @property
    def room(self) -> Room:
        """The coordinates that may be changed."""
        by = levers(self.workload)
        return Room(
            workload=self.workload,
            may=frozenset(name for name, lever in by.items() if lever in self.allowed),
            calls_may_grow=Lever.PROGRAM in self.allowed,
        )


def advise(question: Question) -> Advice:
    """The advice, which may be to change nothing."""
    portrait = question.portrait
    response = None
    if portrait is not None:
        workload = question.workload
        response = response_of(portrait, workload.direction, files=workload.files)
    if portrait is None or response is None:
        return _by_rules(question)
    return _by_portrait(question, portrait, response)


def advised_point(advice: Advice, now: Point) -> Point:
    """The point at which the program is if it follows the advice. k is no coordinate of a point."""
    own = advice.settings
    names = ("stripe_count", "stripe_bytes", "processes", "per_node", "transfer_bytes")
    wanted = {name: value for name in names if (value := getattr(own, name)) is not None}
    if own.processes is not None:
        wanted["process_bytes"] = advice.workload.bytes_each(own.processes)
        wanted.setdefault("per_node", min(now.per_node, own.processes))
        if advice.workload.may_be_gathered:
            wanted.setdefault("transfer_bytes", advice.workload.gathered_transfer(own.processes))
    return changed(now, wanted)


def _by_portrait(question: Question, portrait: Portrait, response: Response) -> Advice:
    workload, room = question.workload, question.room
    now = present_point(workload, portrait, response)
    rules = tuple(one for one in question.rules if one.applies(workload))
    pool = [now, *candidates(room, now, portrait.space)]
    scores = {one: _score(one, now, response, rules) for one in pool}
    most = max(scores.values())
    best = min(
        (one for one, score in scores.items() if score >= most - _ALIKE),
        key=lambda one: (len(room.changed(now, one)), -scores[one]),
    )
    best = _without_trifles(now, best, response, room)
    gain = _log_gain(now, best, response)
    doubt = log_interval(now, best, response)
    low = math.exp(gain - doubt)
    common = _common(question, portrait, response, now)
    if best == now or not response.surface.has_structure or low < 1 + MARGIN:
        return replace(common, reasons=why_kept(best, now, gain, low, response))
    fastest, best = best, _with_few_stripes(now, best, portrait.space, response, room)
    gain, doubt = _log_gain(now, best, response), log_interval(now, best, response)
    trifle = trifling(workload, response.seconds(now), math.exp(gain))
    if trifle:
        return replace(common, reasons=(trifle, bottleneck(now, response)))
    k = in_flight(response, workload) if Lever.SETTINGS in question.allowed else None
    set_anew = room.changed(now, best)
    items = (*joined(_items(now, best, response, question)), *_item_of_k(k, response))
    return replace(
        common,
        settings=_with_buffer(_settings(best, set_anew, workload, k), best, room),
        items=items,
        gain=math.exp(gain),
        gain_low=math.exp(gain - doubt),
        gain_high=math.exp(gain + doubt),
        coverage="" if portrait.identity.is_modelled else coverage_of(now, best, response),
        seconds_advised=response.seconds(best),
        reasons=(
            bottleneck(now, response),
            bottleneck(best, response, advised=True),
            *why_fewer_stripes(fastest, best, MARGIN),
        ),
        rivals=_rivals(rules, best, response, room),
    )


def joined(items: Sequence[Item]) -> tuple[Item, ...]:
    """Merges each change that gains nothing by itself, but enables others, with the change before
    it; the first one is merged with the second."""
    found: list[Item] = []
    for one in items:
        alone = found[-1:] and min(found[-1].gain or 1.0, one.gain or 1.0) >= STEP_LEAST
        if not found or alone:
            found.append(one)
            continue
        last = found[-1]
        found[-1] = replace(
            last,
            name=f"{last.name}; {one.name}",
            now=f"{last.now}; {one.now}",
            advised=f"{last.advised}; {one.advised}",
            lever=max(last.lever, one.lever, key=list(Lever).index),
            gain=product(last.gain, one.gain),
            gain_low=product(last.gain_low, one.gain_low),
            gain_high=product(last.gain_high, one.gain_high),
            reasons=tuple(dict.fromkeys((*last.reasons, *one.reasons))),
        )
    return tuple(found)


def _common(question: Question, portrait: Portrait, response: Response, now: Point) -> Advice:
    """The members that all advice from a portrait has; as it is, it keeps everything."""
    return Advice(
        workload=question.workload,
        settings=Settings(),
        items=(),
        gain=1.0,
        gain_low=1.0,
        gain_high=1.0,
        seconds_now=response.seconds(now),
        seconds_advised=response.seconds(now),
        reasons=(),
        notes=(
            *doubtful(question.workload, response.seconds(now)),
            *_notes(question, portrait),
            *price_of_files(question.workload, now, response),
            *what_mpi_does(question.workload, now),
        ),
        now=now,
        portrait=f"{portrait.identity.name} ({portrait.identity.date[:10]})",
        file_system=portrait.identity.file_system,
    )


def levers(workload: Workload) -> Mapping[str, Lever]:
    """The means by which each coordinate can be changed."""
    inner = Lever.SETTINGS if workload.collective else Lever.PROGRAM
    return {
        "stripe_count": Lever.LAYOUT,
        "stripe_bytes": Lever.LAYOUT,
        "processes": inner,
        "per_node": inner,
        "transfer_bytes": inner,
    }


def _score(point: Point, now: Point, response: Response, rules: Sequence[Rule]) -> float:
    """The logarithm of the gain, plus the priors of the rules that the point keeps, which count the
    more, the larger the uncertainty of the fit."""
    kept = math.fsum(one.prior for one in rules if one.is_kept_by(point))
    return _log_gain(now, point, response) + 0.5 * response.surface.doubt * kept


def _log_gain(now: Point, point: Point, response: Response) -> float:
    return math.log(response.seconds(now) / response.seconds(point))


def _without_trifles(now: Point, best: Point, response: Response, room: Room) -> Point:
    """`best` without changes that gain less than 2 %, or less than the fit's uncertainty. If no
    physical limit gets wider by a change, only the quadratic surface speaks for it; then it has to
    gain more than twice the spread of single probes."""
    surface = response.surface
    while True:
        for name in room.changed(now, best):
            if name == "processes":
                continue
            call = room.transfer_kept(now, best.processes)
            back = replace(now, transfer_bytes=call)
            back = changed(best, {name: getattr(back, name)})
            fits = (
                room.is_carried_out(now, back)
                and back.per_node <= back.processes
                and back.nodes <= max(now.nodes, best.nodes)
                and back.stripe_count
                <= max(now.stripe_count, room.workload.stripes_of(back.stripe_bytes))
            )
            wider = surface.physical.rate(best, surface.targets) > (1 + _TRIFLE) * (
                surface.physical.rate(back, surface.targets)
            )
            least = surface.doubt if wider else 2 * surface.spread
            if fits and _log_gain(back, best, response) < max(_TRIFLE, least):
                best = back
                break
        else:
            return best


def _with_few_stripes(
    now: Point, best: Point, space: Space, response: Response, room: Room
) -> Point:
    """`best` with fewer stripes if the gain stays certain."""
    few = fewest_stripes(room, now, best, space, response.seconds, within=MARGIN)
    few = _without_trifles(now, few, response, room)
    low = math.exp(_log_gain(now, few, response) - log_interval(now, few, response))
    return few if low >= 1 + MARGIN else best


IN_FLIGHT = "k, requests in flight at each target"
_WORDS = {
    "stripe_count": "stripe count",
    "stripe_bytes": "stripe size",
    "processes": "I/O processes",
    "per_node": "I/O processes on a node",
    "transfer_bytes": "transfer size",
}


def _items(now: Point, best: Point, response: Response, question: Question) -> tuple[Item, ...]:
    """The changes from `now` to `best`, those with most gain first. The number of processes and the
    number per node are one change, since one without the other may be an impossible point. A larger
    transfer size comes after the number of processes that makes it possible."""
    room = question.room
    here, left, items = now, list(room.changed(now, best)), []
    by = _levers_of(best, question)
    together = "processes" in left and "per_node" in left
    if together:
        left.remove("per_node")
    while left:
        steps = {name: room.step(name, now, here, best) for name in left}
        fitting = [one for one in left if room.allows_transfer(steps[one])]
        name = min(fitting or left, key=lambda one: response.seconds(steps[one]))
        there = steps[name]
        left.remove(name)
        both = together and name == "processes"
        gain, doubt = _log_gain(here, there, response), log_interval(here, there, response)
        items.append(
            Item(
                name=_WORDS[name],
                now=_amount(name, now, both=both),
                advised=_amount(name, best, both=both),
                lever=by[name],
                gain=math.exp(gain),
                gain_low=math.exp(gain - doubt),
                gain_high=math.exp(gain + doubt),
                reasons=_reasons(name, here, there, response, question),
            )
        )
        here = there
    return tuple(items)


def _levers_of(best: Point, question: Question) -> Mapping[str, Lever]:
    """As `levers`, but the transfer size needs a change of the program if it exceeds a collective
    call's data: a collective buffer makes no call larger."""
    by = levers(question.workload)
    if replace(question.room, calls_may_grow=False).allows_transfer(best):
        return by
    return {**by, "transfer_bytes": Lever.PROGRAM}


def _amount(name: str, point: Point, *, both: bool = False) -> str:
    value: int = getattr(point, name)
    if both:
        return f"{value} ({point.per_node} on a node)"
    return exact_bytes(value) if name.endswith("bytes") else str(value)


def _reasons(
    name: str, here: Point, there: Point, response: Response, question: Question
) -> tuple[str, ...]:
    told = [bottleneck(here, response)]
    if name == "processes" and question.workload.same_bytes:
        told.append(
            f"{counted(there.processes, 'reader')} instead of {here.processes} fetch the same "
            "bytes; the others get them over the network."
        )
    if name == "processes" and here.transfer_bytes != there.transfer_bytes:
        calls = (exact_bytes(one.transfer_bytes) for one in (here, there))
        told.append(f"what each moves at a time: {' → '.join(calls)}.")
    rate_here, rate_there = response.rate(here), response.rate(there)
    told.append(f"predicted: {human_bytes(int(rate_here))}/s → {human_bytes(int(rate_there))}/s.")
    rules = [one for one in question.rules if one.applies(question.workload)]
    told += [
        f'agrees with the rule "{one.name}" ({one.source}).'
        for one in rules
        if any(term.name == name for term in one.then) and one.is_kept_by(there)
    ]
    return tuple(told)


def _rivals(rules: Sequence[Rule], best: Point, response: Response, room: Room) -> tuple[str, ...]:
    """The rules that ask for something else, and the portrait's prediction for them."""
    told = []
    for one in rules:
        if one.is_kept_by(best):
            continue
        point = obeying(one, best)
        ratio = 1.0 if point is None else response.seconds(best) / response.seconds(point)
        if point is None or not room.allows_transfer(point) or ratio >= STEP_LEAST:
            told.append(f'the rule "{one.name}" ({one.source}) asks for {one.text}.')
            continue
        told.append(
            f'the rule "{one.name}" ({one.source}) asks for {one.text}: predicted '
            f"{ratio:.2f} × as fast as what is advised."
        )
    return tuple(told)


def _settings(
    best: Point, set_anew: Collection[str], workload: Workload, k: int | None
) -> Settings:
    def value(name: str) -> int | None:
        found: int = getattr(best, name)
        return found if name in set_anew else None

    return Settings(
        stripe_count=value("stripe_count"),
        stripe_bytes=value("stripe_bytes"),
        processes=value("processes"),
        per_node=value("per_node"),
        transfer_bytes=value("transfer_bytes"),
        requests_in_flight=k,
        one_reader_per_node=workload.same_bytes
        and "processes" in set_anew
        and best.processes <= workload.nodes,
    )


def _with_buffer(settings: Settings, best: Point, room: Room) -> Settings:
    """Sets the collective buffer size if calls are gathered and it has to be larger than Forebay's
    default, even if it is no change, since the default is smaller than ROMIO's."""
    workload = room.workload
    gathered = settings.processes is not None or best.processes == workload.nodes
    may = workload.may_be_gathered and "transfer_bytes" in room.may
    if may and gathered and best.transfer_bytes > BUFFER_OF_FOREBAY:
        return replace(settings, transfer_bytes=best.transfer_bytes)
    return settings


def _item_of_k(k: int | None, response: Response) -> tuple[Item, ...]:
    """The change of k. Its gain cannot be predicted: probes have one process per request."""
    if k is None:
        return ()
    physical = response.surface.physical
    one, target = (human_bytes(int(x)) for x in (physical.process_rate, physical.target_rate))
    busy = math.ceil(physical.target_rate / physical.process_rate)
    return (
        Item(
            name=IN_FLIGHT,
            now=str(K_USUAL),
            advised=str(k),
            lever=Lever.SETTINGS,
            gain=None,
            reasons=(
                f"one process moves {one}/s and a storage target {target}/s: {busy} at a time "
                f"keep it busy; beyond {physical.streams_free:.0f} they disturb each other there.",
                "what it gains is not predicted: `forebay verify` measures it with the rest.",
            ),
        ),
    )


def _notes(question: Question, portrait: Portrait | None) -> tuple[str, ...]:
    workload, told = question.workload, []
    sick = (*(portrait.sick if portrait is not None else ()), *question.sick)
    for one in sick:
        told.append(
            f"storage target {one.target} (a server's disk array) is sick "
            f"({one.slower:.1f} × slower than the others over {counted(one.files, 'file')}): "
            "tell the administrators, and keep new files off it (a pool of OSTs without it, or "
            "lfs setstripe -o with other targets)."
        )
    if portrait is not None and portrait.identity.is_modelled:
        told.append("the portrait is of a model: no figure of it was measured.")
    if workload.direction is Direction.READ:
        told.append("a layout is that of new files: copy the input to have it read from there.")
    if workload.same_bytes and workload.nodes > 1 and not workload.collective:
        told.append(
            f"all {workload.ranks} ranks read the same bytes: `forebay run --pool DIR --set "
            "pool_readers=1` has one node fetch them for all, with the program as it is (try it: "
            "what it gains is not predicted)."
        )
    if not workload.collective and Lever.PROGRAM not in question.allowed:
        told.append(
            "the number of I/O processes and the transfer size are the program's own (its calls "
            "are not collective); --may-change program shows what changing them would gain."
        )
    return tuple(told)


def _by_rules(question: Question) -> Advice:
    """Advice without a portrait: for each coordinate, the applicable rule with largest prior."""
    workload = question.workload
    rules = usable(question.rules, workload, keeps_stripes=question.keeps_stripes)
    now = workload.ungathered(stripe_count=1, stripe_bytes=MIB)  # rules are about ranks
    trifle = trifling(workload, 0.0, math.inf) if workload.seconds else ""
    by = {} if question.untroubled or trifle else levers(workload)
    point = now
    items: list[Item] = []
    names = ("stripe_count", "stripe_bytes", "per_node", "processes", "transfer_bytes")
    for name in names:
        if by.get(name) not in question.allowed:
            continue
        asking = asking_for(name, rules)
        wanted = next((one for one in asking if not one.is_kept_by(point)), None)
        if not asking or asking[0].is_kept_by(point) or wanted is None:
            continue
        made = obeying(wanted, point)
        if made is None or made == point or made.per_node > workload.ranks_per_node:
            continue
        if made.nodes > max(workload.nodes, now.nodes):
            fitting = made.per_node * workload.nodes
            each = max(1, point.bytes // fitting)
            made = replace(made, processes=fitting, process_bytes=each)
            name = "processes"  # the limit per node has become a limit of their total
        if not question.room.is_possible(now, made):
            continue
        point = made
        items = [one for one in items if one.name != _WORDS[name]]
        items.append(
            Item(
                name=_WORDS[name],
                now=_amount(name, now),
                advised=_amount(name, point),
                lever=by[name],
                gain=None,
                reasons=(f'the rule "{wanted.name}" ({wanted.source}), prior {wanted.prior:g}.',),
            )
        )
    set_anew = [one for one in names if getattr(now, one) != getattr(point, one)]
    rivals = [
        f'the rule "{one.name}" ({one.source}) asks for {one.text} (prior {one.prior:g}).'
        for one in rules
        if not one.is_kept_by(point)
    ]
    return Advice(
        workload=workload,
        settings=_settings(point, set_anew, workload, None),
        items=tuple(items),
        gain=None,
        gain_low=None,
        gain_high=None,
        seconds_now=workload.seconds,
        seconds_advised=None,
        reasons=(
            "there is no portrait of this file system: rules of thumb decide, and no gain can be "
            "predicted. `forebay probe` makes one; `forebay verify` says what it is worth.",
        )
        if items
        else (
            "keep: there is no portrait, and nothing in the log held the program's I/O back."
            if question.untroubled
            else trifle or "keep: there is no portrait, and no rule asks for a change.",
        ),
        rivals=tuple(rivals),
        notes=_notes(question, None),
        now=now,
    )
