"""Rules of thumb as data: a condition, what the rule asks for, its source, and its weight (prior).
Rules compete: with a portrait, they count only as much as the portrait leaves in doubt, and rules
that it contradicts are reported."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

from forebay.common.model.errors import SettingsError
from forebay.common.model.frozen import frozen
from forebay.common.model.units import exact_bytes, parse_bytes
from forebay_tuning.model.evidence import Workload
from forebay_tuning.model.point import Point

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
CONDITIONS = (
    "ranks",
    "nodes",
    "ranks_per_node",
    "file_bytes",
    "files",
    "bytes",
    "shared",
    "same_bytes",
    "collective",
    "writes",
    "reads",
    "transfer_bytes",
)
ADVISED = (
    "stripe_count",
    "stripe_bytes",
    "processes",
    "per_node",
    "transfer_bytes",
    "process_bytes",
)
_WITH_LAYOUTS = ("lustre", "ceph")
"""Parts of the types of file systems whose layouts Forebay sets."""
_TERM = re.compile(
    r"(?P<name>\w+) *(?P<op><=|>=|<|>|=) *(?:(?P<factor>[\d.]+) *\* *)?(?P<value>[\w. ]+)", re.ASCII
)


@frozen
class Term:
    """A comparison `name op factor · other`, where other is a number or another name."""

    name: str
    op: str
    value: float = 0.0
    factor: float = 1.0
    other: str = ""

    def holds(self, facts: Mapping[str, float]) -> bool:
        """Whether the comparison is true."""
        return _OPERATORS[self.op](facts[self.name], self.right(facts))

    def right(self, facts: Mapping[str, float]) -> float:
        """The value of its right-hand side."""
        return self.factor * facts[self.other] if self.other else self.value


@frozen
class Rule:
    """A rule. `prior` is its weight, from 0 to 1."""

    name: str
    source: str
    prior: float
    when: tuple[Term, ...]
    then: tuple[Term, ...]

    def applies(self, workload: Workload) -> bool:
        """Whether its condition holds for the workload."""
        facts = facts_of(workload)
        return all(term.holds(facts) for term in self.when)

    def is_kept_by(self, point: Point) -> bool:
        """Whether `point` does all that the rule asks for."""
        facts = _facts_of_point(point)
        return all(term.holds(facts) for term in self.then)

    def broken_by(self, point: Point) -> Term:
        """The first term that `point` violates, or the first of all if it violates none."""
        facts = _facts_of_point(point)
        return next((term for term in self.then if not term.holds(facts)), self.then[0])

    @property
    def text(self) -> str:
        """The terms that it asks for, in words."""
        return ", ".join(_spelled(term) for term in self.then)


def _spelled(term: Term) -> str:
    right = exact_bytes(int(term.value)) if term.name.endswith("bytes") else f"{term.value:g}"
    if term.other:
        right = f"{term.factor:g} * {term.other}"
    return f"{term.name} {term.op} {right}"


def facts_of(workload: Workload) -> Mapping[str, float]:
    """The values that conditions can refer to."""
    writes = workload.direction.value == "write"
    return {
        "ranks": workload.ranks,
        "nodes": workload.nodes,
        "ranks_per_node": workload.ranks_per_node,
        "file_bytes": workload.file_bytes,
        "files": workload.files,
        "bytes": workload.bytes,
        "shared": float(workload.shared),
        "same_bytes": float(workload.same_bytes),
        "collective": float(workload.collective),
        "writes": float(writes),
        "reads": float(not writes),
        "transfer_bytes": workload.transfer_bytes or 0,
    }


def _facts_of_point(point: Point) -> Mapping[str, float]:
    return {name: getattr(point, name) for name in ADVISED}


def usable(rules: Sequence[Rule], workload: Workload, *, keeps_stripes: bool) -> list[Rule]:
    """The rules that apply, without those on stripes where the file system has none, and, if
    `keeps_stripes`, without those that ask for fewer stripes than its files are known to have."""
    known = workload.stripe_count or 0
    found = []
    for one in rules:
        stripes = [each for each in one.then if each.name in ("stripe_count", "stripe_bytes")]
        lowered = [
            each
            for each in stripes
            if each.name == "stripe_count" and each.op in ("=", "<=", "<") and not each.other
        ]
        less = keeps_stripes and any(each.value < known for each in lowered)
        if one.applies(workload) and not less and (not stripes or _has_layouts(workload)):
            found.append(one)
    return found


def _has_layouts(workload: Workload) -> bool:
    """Whether `forebay layout set` can set a layout there, or the file system is not known."""
    kind = workload.file_system
    return not kind or any(name in kind for name in _WITH_LAYOUTS)


def asking_for(name: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that ask for something of the coordinate: the weightiest first, and of two alike
    the one with more conditions, which says more of the program."""
    found = (one for one in rules if any(each.name == name for each in one.then))
    return sorted(found, key=lambda one: (-one.prior, -len(one.when)))


def term(text: str, *, of: Sequence[str]) -> Term:
    """Parses a term such as "stripe_count = 16", "processes <= 16 * stripe_count",
    "file_bytes < 1 GiB" or "shared". Raises SettingsError if it is malformed."""
    stripped = text.strip()
    if stripped in of:
        return Term(name=stripped, op="=", value=1.0)
    found = _TERM.fullmatch(stripped)
    if found is None or found["name"] not in of:
        raise SettingsError(
            f'cannot use "{text}" in a rule (known are {", ".join(of)}, compared by <, <=, =, >= '
            'or > with a number, or with a multiple of another one). Write "file_bytes < 1 GiB".'
        )
    value = found["value"].strip()
    factor = float(found["factor"] or 1)
    if value in of:
        return Term(name=found["name"], op=found["op"], factor=factor, other=value)
    number = parse_bytes(value)
    if number is None:
        raise SettingsError(
            f'cannot use "{value}" in a rule (it is neither a number or size nor one of '
            f'{", ".join(of)}). Correct "{text}".'
        )
    return Term(name=found["name"], op=found["op"], value=factor * number)


def rule(name: str, source: str, prior: float, when: Sequence[str], then: Sequence[str]) -> Rule:
    """Makes a rule of texts. Raises SettingsError if one of them is malformed."""
    if not 0 <= prior <= 1:
        raise SettingsError(
            f'the prior of the rule "{name}" cannot be {prior:g} (it is a weight). Give a number '
            "from 0 to 1."
        )
    return Rule(
        name=name,
        source=source,
        prior=prior,
        when=tuple(term(one, of=CONDITIONS) for one in when),
        then=tuple(term(one, of=ADVISED) for one in then),
    )


STUDY = "user-level parallel I/O configuration study, 2020"
USUAL: tuple[Rule, ...] = (
    rule("small files, one stripe", STUDY, 0.5, ["file_bytes < 1 GiB"], ["stripe_count = 1"]),
    rule(
        "files of gigabytes, four stripes",
        STUDY,
        0.4,
        ["file_bytes >= 1 GiB", "file_bytes < 64 GiB", "shared"],
        ["stripe_count = 4"],
    ),
    rule(
        "large shared files, sixteen stripes",
        STUDY,
        0.5,
        ["file_bytes >= 64 GiB", "shared"],
        ["stripe_count = 16"],
    ),
    rule(
        "a file that all ranks read, sixteen stripes",
        STUDY,
        0.5,
        ["same_bytes", "ranks > 256"],
        ["stripe_count = 16"],
    ),
    rule(
        "at most sixteen processes a stripe",
        STUDY,
        0.6,
        ["shared"],
        ["processes <= 16 * stripe_count"],
    ),
    rule("at most a thousand processes", STUDY, 0.6, [], ["processes <= 1000"]),
    rule("about eight processes a node", STUDY, 0.6, ["ranks_per_node >= 8"], ["per_node = 8"]),
    rule(
        "transfers of 64 KiB to 8 MiB",
        STUDY,
        0.3,
        [],
        ["transfer_bytes >= 64 KiB", "transfer_bytes <= 8 MiB"],
    ),
    rule(
        "one stripe for a file of each process",
        "ORNL, Titan: independent files, no striping",
        0.5,
        ["files > 1", "file_bytes < 1 TiB"],
        ["stripe_count = 1"],
    ),
    rule(
        "eight stripes from 1 GiB on",
        "NERSC, Cori",
        0.3,
        ["file_bytes >= 1 GiB", "file_bytes < 10 GiB", "shared"],
        ["stripe_count = 8"],
    ),
    rule(
        "24 stripes from 10 GiB on",
        "NERSC, Cori",
        0.3,
        ["file_bytes >= 10 GiB", "file_bytes < 100 GiB", "shared"],
        ["stripe_count = 24"],
    ),
    rule(
        "72 stripes from 100 GiB on",
        "NERSC, Cori",
        0.3,
        ["file_bytes >= 100 GiB", "shared"],
        ["stripe_count = 72"],
    ),
)
