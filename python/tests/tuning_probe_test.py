"""Probing: budgets, kills, faults; with a modelled system, and with the real programs where these
are built."""

import functools
import json
import math
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuning_scenes import launcher

from forebay.common.model.errors import ProbeError, UsageError
from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import with_ranks
from forebay.common.model.units import MIB
from forebay.simulate.files import background_load
from forebay_tuning.model.metadata import FilesAsk, MetadataRates
from forebay_tuning.model.modelled import Disturbances
from forebay_tuning.model.point import Direction
from forebay_tuning.model.portrait import Portrait
from forebay_tuning.model.quantity import parse_quantity, spell_rate, spell_seconds
from forebay_tuning.model.sample import NextProbe, Passage, Purpose, Sample
from forebay_tuning.probe.files.journal import NoJournal, ProbeJournal, begun
from forebay_tuning.probe.files.measuring_program import PREFIX, remove_folder
from forebay_tuning.probe.files.platform_file import read_platform
from forebay_tuning.probe.files.portrait_file import portrait_text, read_portrait
from forebay_tuning.probe.use_case.modelled_system import ModelledSystem
from forebay_tuning.probe.use_case.probe import (
    TARGET_FILES,
    Budget,
    Ground,
    ProbePlan,
    ProbeRequest,
    Spent,
    System,
    carry_out_probe,
    plan_probe,
)

ROOT = Path(__file__).resolve().parents[2]
MACHINE = replace(
    read_platform(ROOT / "platforms" / "lustre-96-ost.toml"),
    nodes=4,
    ranks_per_node=8,
    targets=8,
    servers=2,
)
REQUEST = ProbeRequest(
    level="quick", budget=Budget(seconds=1e5, bytes=1 << 40, files=10**6), seed=1
)


def modelled(**given: float | int) -> ModelledSystem:
    disturbances = Disturbances(**{"drift": 0.1, "noise": 0.02, **given})  # type: ignore[arg-type]
    return ModelledSystem(
        MACHINE, disturbances=disturbances, load=background_load(), seed=1, date="2026-11-22"
    )


def quiet(number: int, sample: Sample) -> None:
    """Nobody listens."""


def probe(system: System, request: ProbeRequest = REQUEST) -> Portrait:
    return carry_out_probe(plan_probe(request, system), system, NoJournal(), told=quiet)


@functools.cache
def usual() -> Portrait:
    """The portrait of a machine under the usual background load."""
    return probe(modelled())


def test_a_modelled_machine_gets_a_portrait_that_says_so() -> None:
    portrait = usual()
    assert portrait.identity.is_modelled
    assert len(portrait.samples) == 60
    assert set(portrait.choices) == set(Direction)
    assert portrait.sick == ()


def test_a_sick_target_is_in_the_portrait() -> None:
    portrait = probe(modelled(sick_target=5, sick_slower=8.0))
    assert [one.target for one in portrait.sick] == [5]
    assert "target 5 is sick" in " ".join(portrait.findings)


def test_each_value_of_a_portrait_has_its_source_and_date() -> None:
    document = tomllib.loads(portrait_text(probe(modelled(sick_target=5, sick_slower=8.0))))
    assert document["identity"]["targets_source"]
    own = {"best", "surface", "probes"}  # what the fit consists of, with that of its numbers
    found = [value for name, value in document["write"].items() if name not in own]
    found += [one["slower"] for one in document["sick"]]
    assert len(found) > 12
    assert all(one["source"] and one["date"] == "2026-11-22" for one in found)
    assert all("low" in one or "no interval" in one["source"] for one in found)


def test_reads_from_a_cache_are_told_and_do_not_count() -> None:
    portrait = probe(modelled(cache_factor=6.0))
    assert Direction.READ not in portrait.choices
    assert any("page cache" in text for text in portrait.findings)


def test_the_same_seed_gives_the_same_portrait() -> None:
    assert portrait_text(usual()) == portrait_text(probe(modelled()))


PILOTS = [Spent(), Spent(seconds=9.0, bytes=2 * MIB, files=33)]


class Counting:
    """Remembers what a system was made to write, and how long it took."""

    def __init__(self, inner: System, *, pilot: Spent = PILOTS[0]) -> None:
        self.inner = inner
        self.pilot = pilot
        self.looked = False
        self.seconds = 0.0
        self.bytes = 0
        self.files = 0
        self.probes = 0

    def ground(self) -> Ground:
        ground = self.inner.ground()
        spent = replace(self.pilot, seconds=self.pilot.seconds + ground.spent.seconds)
        self.seconds += spent.seconds
        self.bytes += spent.bytes
        self.files += spent.files
        return replace(ground, spent=spent)

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        sample, seconds = self.inner.measure(ask, number, seconds_max=seconds_max)
        self.seconds += seconds
        self.bytes += ask.point.bytes
        self.files += ask.point.files
        self.probes += 1
        return sample, seconds

    def target_rates(self, *, bytes_max: int, seconds_max: float) -> Mapping[int, Sequence[float]]:
        """It is said to take all that it may."""
        rates = self.inner.target_rates(bytes_max=bytes_max, seconds_max=seconds_max)
        self.seconds += seconds_max
        self.bytes += bytes_max
        self.files += len(rates) * TARGET_FILES
        self.looked = True
        return rates

    def file_rates(self, ask: FilesAsk) -> MetadataRates:
        """The same."""
        self.seconds += ask.seconds
        self.files += ask.files
        return self.inner.file_rates(ask)


@pytest.mark.parametrize("pilot", PILOTS, ids=["no pilot", "a pilot"])
@pytest.mark.parametrize(
    "budget",
    [
        Budget(seconds=100, bytes=1 << 40, files=10**6),
        Budget(seconds=1e5, bytes=1 << 30, files=10**6),
        Budget(seconds=1e5, bytes=1 << 40, files=100),
    ],
)
def test_no_budget_is_exceeded(budget: Budget, pilot: Spent) -> None:
    """Neither by probes nor by what is before and behind them."""
    system = Counting(modelled(), pilot=pilot)
    probe(system, replace(REQUEST, budget=budget))
    assert system.seconds <= budget.seconds
    assert system.bytes <= budget.bytes
    assert system.files <= budget.files


def test_targets_are_not_looked_at_where_there_are_too_few_files_for_it() -> None:
    system = Counting(modelled())
    portrait = probe(system, replace(REQUEST, budget=replace(REQUEST.budget, files=80)))
    assert not system.looked
    assert system.files <= 80
    assert any("--files" in text for text in portrait.findings)


def test_too_small_a_budget_is_refused_before_anything_is_done() -> None:
    system = Counting(modelled())
    with pytest.raises(ProbeError, match="--bytes"):
        plan_probe(replace(REQUEST, budget=Budget(seconds=9, bytes=MIB, files=99)), system)
    with pytest.raises(ProbeError, match="--files"):
        plan_probe(replace(REQUEST, budget=Budget(seconds=9, bytes=1 << 40, files=3)), system)
    assert system.probes == 0


class Broken(Counting):
    """Fails from some probe on."""

    def __init__(self, inner: System, *, after: int, why: str) -> None:
        super().__init__(inner)
        self.after = after
        self.why = why

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        if self.probes >= self.after:
            self.probes += 1
            return Sample(ask=ask, discarded=self.why), 1.0
        return super().measure(ask, number, seconds_max=seconds_max)


def test_a_disk_that_fills_in_the_middle_ends_the_probing_and_is_told() -> None:
    system = Broken(modelled(), after=20, why="No space left on device")
    with pytest.raises(ProbeError, match="No space left on device"):
        probe(system)
    assert system.probes == 24


def test_what_failed_at_the_end_is_probed_again_when_it_was_mended(tmp_path: Path) -> None:
    path = tmp_path / "journal"

    def attempt(system: System, *, resume: bool) -> Portrait:
        journal = ProbeJournal(path, folder=PREFIX + "1", resume=resume)
        return carry_out_probe(plan_probe(REQUEST, system), system, journal, told=quiet)

    with pytest.raises(ProbeError, match=r"Make room .*--resume"):
        attempt(Broken(modelled(), after=20, why="No space left on device"), resume=False)
    with pytest.raises(ProbeError, match="Input/output error"):
        attempt(Broken(modelled(), after=2, why="Input/output error"), resume=True)
    rest = Counting(modelled())
    portrait = attempt(rest, resume=True)
    assert rest.probes == 60 - 22
    assert not any(one.discarded for one in portrait.samples)


def test_files_that_were_left_before_anything_was_planned_are_known(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ProbeJournal(path, folder=PREFIX + "1", resume=False).place(tmp_path)
    assert begun(path).directory == str(tmp_path)
    assert begun(path).probe_bytes is None
    journal = ProbeJournal(path, folder=PREFIX + "1", resume=True)
    portrait = carry_out_probe(plan_probe(REQUEST, modelled()), modelled(), journal, told=quiet)
    assert len(portrait.samples) == 60
    assert begun(path).probe_bytes == portrait.space.bytes_max


class KilledError(Exception):
    """As if the prober had been killed."""


class Dying(Counting):
    """Ends the prober in the middle of a probe."""

    def __init__(self, inner: System, *, at: int) -> None:
        super().__init__(inner)
        self.at = at

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        if self.probes == self.at:
            raise KilledError
        return super().measure(ask, number, seconds_max=seconds_max)


@pytest.mark.parametrize("at", [0, 1, 23, 59])
def test_probing_goes_on_where_it_was_killed(tmp_path: Path, at: int) -> None:
    """The journal stands for the probes that were made: no probe is made twice."""
    path = tmp_path / "journal"

    def attempt(system: System, *, resume: bool) -> Portrait:
        journal = ProbeJournal(path, folder=PREFIX + "1", resume=resume)
        return carry_out_probe(plan_probe(REQUEST, system), system, journal, told=quiet)

    with pytest.raises(KilledError):
        attempt(Dying(modelled(), at=at), resume=False)
    with pytest.raises(ProbeError, match="--resume"):
        attempt(modelled(), resume=False)
    with path.open("a") as file:
        file.write('{"kind": "sample", "number": 99, "poi')  # cut off by the kill
    rest = Counting(modelled())
    portrait = attempt(rest, resume=True)
    assert rest.probes == 60 - at
    assert len(portrait.samples) == 60


class Measured(Dying):
    """A modelled system that is taken for a real one: it gets long passages."""

    def ground(self) -> Ground:
        ground = super().ground()
        return replace(ground, identity=replace(ground.identity, is_modelled=False))


def test_long_passages_come_first_and_are_within_the_budget(tmp_path: Path) -> None:
    """Also where probing was killed between two of them."""
    budget = Budget(seconds=1e5, bytes=1 << 30, files=10**6)
    request = replace(REQUEST, budget=budget)
    path = tmp_path / "journal"

    def attempt(system: System, *, resume: bool) -> Portrait:
        journal = ProbeJournal(path, folder=PREFIX + "1", resume=resume)
        return carry_out_probe(plan_probe(request, system), system, journal, told=quiet)

    first, rest = Measured(modelled(), at=1), Measured(modelled(), at=10**6)
    with pytest.raises(KilledError):
        attempt(first, resume=False)
    portrait = attempt(rest, resume=True)
    assert (first.probes, rest.probes) == (1, 63)
    assert first.bytes + rest.bytes <= budget.bytes
    purposes = [one.ask.purpose for one in portrait.samples]
    assert purposes[:4] == [Purpose.SUSTAIN] * 4  # the last is of the best settings
    assert Purpose.SUSTAIN not in purposes[4:]
    sizes = [one.ask.point.bytes for one in portrait.samples[:3]]
    assert sizes[0] == sizes[2]
    assert sizes[0] > 3 * portrait.space.bytes_max
    found = portrait.choices[Direction.WRITE].response.sustained
    assert found is not None
    assert "sustained" in " ".join(portrait.findings)


class BehindCache(Measured):
    """The system as a cache of `taken_in` bytes in front of storage that moves `rate` bytes a
    second."""

    taken_in = 6e6
    rate = 50e6

    def measure(self, ask: NextProbe, number: int, *, seconds_max: float) -> tuple[Sample, float]:
        sample, seconds = super().measure(ask, number, seconds_max=seconds_max)
        stored = max(0.0, ask.point.bytes - self.taken_in) / self.rate

        def limited(passage: Passage | None) -> Passage | None:
            rate = ask.point.bytes / stored if stored else math.inf
            return passage and replace(passage, rate=min(passage.rate, rate))

        return replace(sample, write=limited(sample.write), read=limited(sample.read)), seconds


def test_what_a_cache_shows_of_short_probes_is_not_promised_to_long_programs() -> None:
    """On a disk of 50 MB/s the default's probes were all longer than its cache. Programs of 172 MiB
    were promised up to 18 times the default's rate by settings whose probes were shorter."""
    one = replace(MACHINE, nodes=1, ranks_per_node=8, targets=1, servers=1)
    disturbances = Disturbances(noise=0.02)
    inner = ModelledSystem(
        one, disturbances=disturbances, load=background_load(), seed=1, date="2026-11-22"
    )
    system = BehindCache(inner, at=10**6)
    portrait = probe(system, replace(REQUEST, budget=replace(REQUEST.budget, bytes=3 << 30)))
    for direction, choice in portrait.choices.items():
        sustained = choice.response.sustained
        assert sustained is not None
        assert sustained.is_cached, direction
        assert sustained.rate == pytest.approx(system.rate, rel=0.1)
        assert choice.keeps, choice
        for best in {one.ask.point for one in portrait.samples}:
            long = replace(portrait.control, process_bytes=512 * MIB)
            changed = replace(best, process_bytes=long.bytes // best.processes)
            gain = choice.response.seconds(long) / choice.response.seconds(changed)
            assert gain == pytest.approx(1.0, abs=0.1), best
    assert "taken in by a cache" in " ".join(portrait.findings)


def test_a_gain_that_long_passages_have_too_is_kept() -> None:
    """The same settings without a cache: the best ones keep up their rate."""
    portrait = probe(Measured(modelled(), at=10**6))
    choice = portrait.choices[Direction.WRITE]
    assert choice.gain_low > 1.0
    assert choice.response.sustained is not None
    assert not choice.response.sustained.is_cached


def test_a_budget_that_leaves_no_room_for_long_passages_has_none() -> None:
    system = Measured(modelled(), at=10**6)
    small = replace(REQUEST, budget=replace(REQUEST.budget, bytes=64 * MIB))
    plan = plan_probe(small, system)
    assert plan.long.files == plan.estimate.long_passages == 0
    assert plan.space.bytes_max == MIB


def test_a_journal_of_another_probing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    system = modelled()
    plan: ProbePlan = plan_probe(REQUEST, system)
    ProbeJournal(path, folder=PREFIX + "1", resume=False).begin(plan)
    assert begun(path).folder == PREFIX + "1"
    other = plan_probe(replace(REQUEST, seed=2), system)
    with pytest.raises(ProbeError, match="belongs to another"):
        ProbeJournal(path, folder=PREFIX + "2", resume=True).begin(other)


def test_only_folders_of_probings_are_removed(tmp_path: Path) -> None:
    for name in ("home", "../x", f"{PREFIX}1/../../home"):
        with pytest.raises(UsageError):
            remove_folder(tmp_path, name)


@pytest.mark.parametrize(
    ("flavour", "line", "expected"),
    [
        (Flavour.HYDRA, "mpiexec -n 64", "mpiexec -n 8 -ppn 2"),
        (Flavour.OPEN_MPI, "mpirun -np 64 --mca a b", "mpirun -np 8 --mca a b --map-by ppr:2:node"),
        (Flavour.SLURM, "srun --ntasks=64 -p x", "srun --ntasks=8 -p x --ntasks-per-node=2"),
        (Flavour.SLURM, "srun -c 2 -n 64", "srun -c 2 -n 8 --ntasks-per-node=2"),
        (Flavour.HYDRA, "env A=1 mpiexec", "env A=1 mpiexec -n 8 -ppn 2"),
    ],
)
def test_launchers_are_given_other_numbers_of_ranks(
    flavour: Flavour, line: str, expected: str
) -> None:
    assert with_ranks(line.split(), flavour=flavour, ranks=8, per_node=2) == tuple(expected.split())


@pytest.mark.parametrize("value", [1.0, 123456.0, 9.8e9, 3.2e-4, 5e-9])
def test_quantities_come_back(value: float) -> None:
    assert parse_quantity(spell_rate(value)) == pytest.approx(value, rel=1e-5)
    assert parse_quantity(spell_seconds(value)) == pytest.approx(value, rel=1e-5)
    assert parse_quantity("9.8 parsec") is None


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, str(root / "python" / "forebay"), *words]


def environment() -> dict[str, str]:
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


SMALL_SECONDS = 40
START_SECONDS = 3.0
"""Time that the interpreter may take before it probes, on a machine that has other work."""
SMALL = ("--bytes", "200m", "--share", "50%", "--seconds", str(SMALL_SECONDS))


def test_a_real_directory_is_probed_and_left_as_it_was(tmp_path: Path, root: Path) -> None:
    where = tmp_path / "scratch"
    where.mkdir()
    portrait = tmp_path / "p.toml"
    line = ("probe", str(where), *SMALL, "-o", str(portrait), "--", launcher(), "-n", "2")
    began = time.monotonic()
    done = subprocess.run(
        command(root, *line),
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    assert took <= SMALL_SECONDS * 1.05 + START_SECONDS
    assert list(where.iterdir()) == []
    found = read_portrait(portrait)
    assert not found.identity.is_modelled
    assert any("files a second" in text for text in found.findings)
    assert found.identity.nodes == 1
    assert found.identity.ranks_per_node == 2
    assert not portrait.with_name("p.toml.journal").exists()


class Killed:
    """A real probing in a folder of its own, and that it was killed at some moment."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.where, self.temporary = folder / "scratch", folder / "temporary"
        self.where.mkdir()
        self.temporary.mkdir()
        self.portrait, self.journal = folder / "p.toml", folder / "p.toml.journal"
        self._root, self.folder = root, folder
        self._line = ("probe", str(self.where), *SMALL, "-o", str(self.portrait))

    def at(self, is_time: Callable[[], bool]) -> None:
        """Kills it as soon as that is so."""
        started = subprocess.Popen(
            command(self._root, *self._line, "--", launcher(), "-n", "2"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **self._surroundings(),
        )
        deadline = time.monotonic() + 120
        while not is_time():
            assert started.poll() is None
            assert time.monotonic() < deadline
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()

    def clean(self) -> None:
        self._run("probe", "--clean", "-o", str(self.portrait))

    def resume(self) -> None:
        self._run(*self._line, "--resume", "--", launcher(), "-n", "2")

    def measured(self) -> int:
        return self.journal.read_text().count('"sample"') if self.journal.exists() else 0

    def left(self) -> list[Path]:
        """Files of its own, but for the portrait. (A library of MPI may have left others.)"""
        folders = [*self.folder.iterdir(), *self.where.iterdir(), *self.temporary.iterdir()]
        return [one for one in folders if "forebay" in one.name or one == self.journal]

    def _run(self, *words: str) -> None:
        done = subprocess.run(
            command(self._root, *words),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **self._surroundings(),
        )
        assert done.returncode == 0, done.stderr

    def _surroundings(self) -> Any:
        return {
            "cwd": self.folder,
            "env": {**environment(), "TMPDIR": str(self.temporary)},
        }


MOMENTS: Mapping[str, Callable[[Killed], bool]] = {
    "its journal is there": lambda killed: killed.journal.exists(),
    "its folder is there": lambda killed: bool(list(killed.where.iterdir())),
    "the pilot starts": lambda killed: bool(list(killed.folder.glob(f".{PREFIX}*/*"))),
    "the first probe begins": lambda killed: bool(list(killed.where.glob("*/0000"))),
    "a probe writes": lambda killed: bool(list(killed.where.glob("*/*/f*"))),
    "three are done": lambda killed: killed.measured() >= 3,
}


def has_come(moment: str, killed: Killed) -> bool:
    """Folders may go while we look into them."""
    try:
        return MOMENTS[moment](killed)
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_a_killed_probing_leaves_is_taken_away(
    tmp_path: Path, root: Path, moment: str
) -> None:
    killed = Killed(tmp_path, root)
    killed.at(lambda: has_come(moment, killed))
    killed.clean()
    assert killed.left() == []


@pytest.mark.parametrize(
    "moment", [pytest.param("the pilot starts", marks=pytest.mark.full), "three are done"]
)
def test_a_killed_probing_goes_on_and_leaves_nothing(
    tmp_path: Path, root: Path, moment: str
) -> None:
    killed = Killed(tmp_path, root)
    killed.at(lambda: has_come(moment, killed))
    measured = killed.measured()
    killed.resume()
    assert len(read_portrait(killed.portrait).samples) > measured
    assert killed.left() == []


def test_a_journal_without_a_whole_line_is_of_nothing(tmp_path: Path, root: Path) -> None:
    journal = tmp_path / "p.toml.journal"
    journal.write_text('{"schema": "forebay.pro')
    ProbeJournal(journal, folder=PREFIX + "1", resume=False).place(tmp_path)
    assert begun(journal).directory == str(tmp_path)
    journal.write_text("")
    subprocess.run(command(root, "probe", "--clean", "-o", str(tmp_path / "p.toml")), check=True)
    assert not journal.exists()


def test_files_that_are_made_while_it_cleans_are_removed_too(tmp_path: Path) -> None:
    """As by ranks that outlive their launcher."""
    folder = tmp_path / f"{PREFIX}1"
    folder.mkdir()
    script = "i=0; while [ $i -lt 20000 ] && : > f$i; do i=$((i+1)); done"
    with subprocess.Popen(["sh", "-c", script], cwd=folder, stderr=subprocess.DEVNULL) as writer:
        while not (folder / "f100").exists():
            assert writer.poll() is None
        remove_folder(tmp_path, folder.name)
        assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_probed_is_told(tmp_path: Path, root: Path) -> None:
    line = ("probe", str(tmp_path / "none"), "--", launcher(), "-n", "2")
    done = subprocess.run(
        command(root, *line), capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 2
    assert "none" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_journal_is_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = ProbeJournal(path, folder=PREFIX + "1", resume=False)
    carry_out_probe(plan_probe(REQUEST, modelled()), modelled(), journal, told=quiet)
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["plan", *(["ask", "sample"] * 60)]
