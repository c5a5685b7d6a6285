"""`forebay simulate` end to end, where SimGrid is installed; the parsing everywhere."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from forebay.common.model.errors import SetupError, SimulationError
from forebay.common.model.output_format import Format
from forebay.simulate.command import help_text, show_simulations
from forebay.simulate.files import NativeSimulator, simulator_keys
from forebay.simulate.model.simulation import parse_simulation, words_of
from forebay.simulate.use_case import SimulateRequest, simulate

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]


def simulator() -> NativeSimulator:
    native = NativeSimulator()
    try:
        native.run(["platform=" + native.platform("laptop")])
    except SetupError:
        pytest.skip("the simulator is not built here")
    return native


def run(*words: str, variants: tuple[str, ...] = ("forebay",)) -> list[dict[str, object]]:
    request = SimulateRequest(platform="tsubame-2.5-thin", variants=variants, settings=words)
    return [vars(one) for one in simulate(request, simulator())]


SMALL = ("nodes=4", "ranks_per_node=4", "targets=4", "region_bytes=5992", "region_count=300")


@pytest.mark.parametrize(
    "variant", ["forebay", "original", "placement", "earth(wr:1)", "earth(wr,ex:2)"]
)
def test_every_variant_writes_the_right_bytes(variant: str) -> None:
    (one,) = run(
        *SMALL,
        "aggregators_per_target=4",
        "stripe_bytes=65536",
        "cb_buffer_size=65536",
        "verify=1",
        variants=(variant,),
    )
    assert one["error"] == ""
    assert one["wrong_bytes"] == 0


@pytest.mark.parametrize(
    "machine",
    [
        "nodes=3 ranks_per_node=3 targets=3 region_bytes=4096 region_spacing=100 region_count=3",
        "nodes=2 ranks_per_node=5 targets=8 region_bytes=5992 region_count=20",
        "nodes=3 ranks_per_node=12 targets=8 region_bytes=5992 region_count=20",
        "nodes=4 ranks_per_node=1 targets=1 region_bytes=5992 region_spacing=5992 region_count=400",
        "nodes=2 ranks_per_node=2 targets=3 region_bytes=65537 region_spacing=1 region_count=3",
        "nodes=7 ranks_per_node=2 targets=5 region_bytes=300 region_spacing=1 region_count=50",
        "nodes=1 ranks_per_node=1 targets=1 region_bytes=1 region_count=1",
    ],
)
def test_no_rank_sleeps_on(machine: str) -> None:
    """Odd little machines: whose leaders meet while messages travel, and whose ranks are woken
    while they spend time."""
    variants = ("original", "placement", "earth(wr:1)", "earth(wr,ex:1)", "earth(wr,ex:2)")
    for one in run(*machine.split(), "servers=1", "verify=1", variants=(*variants, "forebay")):
        assert (one["error"], one["wrong_bytes"]) == ("", 0)


def test_the_same_seed_gives_the_same_times() -> None:
    assert run(*SMALL, "seed=7") == run(*SMALL, "seed=7")
    assert run(*SMALL, "seed=7") != run(*SMALL, "seed=8")


def test_a_target_that_errors_in_the_middle_is_everyones_error() -> None:
    for variant in ("forebay", "earth(wr,ex:2)"):
        (one,) = run(
            *SMALL,
            "aggregators_per_target=4",
            "sick_target=1",
            "sick_error_from=0.02",
            "stripe_bytes=262144",
            "cb_buffer_size=262144",
            "region_count=1000",
            variants=(variant,),
        )
        assert "Input/output error" in str(one["error"])


def test_a_write_that_fails_is_told_also_where_bytes_are_compared() -> None:
    words = ("targets=4", "stripe_bytes=65536", "sick_target=1", "sick_error_from=0", "verify=1")
    (one,) = run(*SMALL, *words)
    assert "Input/output error" in str(one["error"])
    assert one["wrong_bytes"] == 0


def test_a_target_that_stalls_delays_and_loses_nothing() -> None:
    (well,) = run(*SMALL)
    (sick,) = run(*SMALL, "sick_target=2", "sick_slower=100")
    assert sick["error"] == ""
    assert sick["bytes"] == well["bytes"]
    assert float(str(sick["seconds"])) > 10 * float(str(well["seconds"]))


def test_a_sick_target_is_named_when_k_is_found() -> None:
    native = simulator()
    words = (
        f"platform={native.platform('tsubame-2.5-thin')}",
        *SMALL,
        "stripe_bytes=1048576",
        "request_bytes_max=1048576",
        "region_count=6000",
        "requests_in_flight=0",
    )
    sick = ("sick_target=2", "sick_slower=5")
    assert json.loads(native.run(words))["slow_target"] == -1
    assert json.loads(native.run((*words, *sick)))["slow_target"] == 2
    shared = ("aggregators_per_target=2", "per_node=2", "cb_buffer_size=1048576")
    assert json.loads(native.run((*words, *sick, *shared)))["slow_target"] == 2


def seconds(variant: str, *words: str) -> float:
    (one,) = run(*words, variants=(variant,))
    assert one["error"] == ""
    return float(str(one["seconds"]))


HPIO = ("region_bytes=5992", "region_count=16000")


def test_the_published_variants_come_in_the_published_order() -> None:
    """As in EARTH (2015) with 768 aggregators, on an eighth of its machine."""
    words = ("nodes=8", "targets=8", "servers=2", "aggregators_per_target=12", *HPIO)
    order = ("original", "placement", "earth(wr:2)", "earth(wr,ex:2)")
    times = [seconds(variant, *words) for variant in order]
    assert all(slower > faster for slower, faster in pairwise(times))
    for variant, best in (("wr", times[2]), ("wr,ex", times[3])):
        assert all(seconds(f"earth({variant}:{k})", *words) > best for k in (1, 4)), variant


def test_forebay_is_half_as_fast_again_as_earth_and_near_the_bound() -> None:
    """On 256 ranks, where messages between all ranks cost as much as writing."""
    words = ("nodes=32", "ranks_per_node=8", "targets=32", "servers=8", *HPIO)
    (own,) = run(*words)
    earth = seconds("earth(wr,ex:2)", *words, "aggregators_per_target=8")
    assert earth > 1.5 * float(str(own["seconds"]))
    assert float(str(own["seconds_bound"])) > 0.85 * float(str(own["seconds"]))


SMALL_MODELS = {
    "one request at a time is best": ("interference_per_queued=0.5", "queued_free=1"),
    "many requests at a time are best": ("request_time=1e-4", "target_rate=2e9"),
}


@pytest.mark.parametrize("model", SMALL_MODELS)
def test_k_found_while_running_is_near_the_best_fixed_k(model: str) -> None:
    """Both beginnings are wrong: with k = 2 all the time these take 8 and 10 % longer."""
    words = (
        *("nodes=8", "ranks_per_node=4", "targets=8", "servers=4", "region_bytes=65536"),
        *("region_count=2000", "stripe_bytes=1048576", "request_bytes_max=1048576"),
        *("interference_per_stream=0", "client_rate=2.5GB/s", *SMALL_MODELS[model]),
    )
    fixed = {
        k: seconds("forebay", *words, f"requests_in_flight={k}") for k in (1, 2, 3, 4, 8, 4096)
    }
    assert fixed[2] > 1.05 * min(fixed.values())
    found = seconds("forebay", *words, "requests_in_flight=0")
    assert found <= 1.03 * min(fixed.values())
    assert found <= 1.02 * fixed[4096]


def test_opening_and_closing_are_part_of_the_time_and_told() -> None:
    native = simulator()
    words = (f"platform={native.platform('lustre-96-ost')}", "nodes=1", "ranks_per_node=4")
    said = json.loads(native.run((*words, "region_bytes=1048576", "region_count=1")))
    assert said["seconds_open"] == pytest.approx(1.03e-4, rel=0.01)
    assert said["seconds_close"] == pytest.approx(0.53e-4, rel=0.01)
    assert said["seconds"] > said["seconds_bound"] + said["seconds_open"] + said["seconds_close"]


def test_wrong_words_are_explained() -> None:
    native = simulator()
    with pytest.raises(SimulationError, match="known: laptop, lustre-96-ost"):
        native.platform("earth-simulator")
    with pytest.raises(SimulationError, match='no key is called "speed"'):
        run("speed=3")
    with pytest.raises(SimulationError, match="there is no variant"):
        run(variants=("romio",))


@pytest.mark.parametrize("command_line", ["collective", "pool", "io_ranks", "independent"])
def test_the_help_has_every_key_of_the_native_program(command_line: str, command: Command) -> None:
    words = [] if command_line == "collective" else [command_line.replace("_", "-")]
    lines = simulator().run([*words, "--help"]).splitlines()
    native = [tuple(line.split(maxsplit=1)) for line in lines if line.startswith("  ")]
    keys = simulator_keys()
    assert native == [*keys.platform, *getattr(keys, command_line)]
    shown = [tuple(line.split(maxsplit=1)) for line in command("--help").stdout.splitlines()]
    assert set(native) <= set(shown)


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(SimulationError, match="cannot read"):
        parse_simulation("Segmentation fault")
    with pytest.raises(SimulationError, match="speaks other/1"):
        parse_simulation('{"schema": "other/1"}')


@pytest.fixture
def command(forebay: Command) -> Command:
    return partial(forebay, "simulate", "laptop", "region_count=10")


ANSWER: dict[str, object] = {
    "schema": "forebay.simulation/1",
    **{"platform": "laptop", "variant": "forebay", "error": ""},
    **{"ranks": 4, "targets": 1, "bytes": 40960, "rounds": 1, "messages": 2, "requests": 1},
    **{"seconds": 2.0, "seconds_open": 0.25, "seconds_close": 0.125, "seconds_bound": 1.0},
    **{"message_bytes": 4711, "slow_target": -1, "slow_target_requests_in_flight": 0},
    "wrong_bytes": None,
}


def imagined(folder: Path, **answer: object) -> str:
    """A simulator that says `answer`, and ends as the native one does."""
    program = folder / "sim"
    said = json.dumps({**ANSWER, **answer})
    status = 1 if answer.get("wrong_bytes") else 0
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {status}\n")
    program.chmod(0o755)
    return str(program)


def test_wrong_bytes_are_told_with_the_result(tmp_path: Path, command: Command) -> None:
    done = command("verify=1", FOREBAY_SIM=imagined(tmp_path, wrong_bytes=3))
    assert done.returncode == 1
    assert "3 of 40960 bytes are wrong (variant forebay: " in done.stderr
    assert "of the bound" in done.stdout
    assert "3 wrong bytes" in done.stdout


def test_every_result_is_shown(tmp_path: Path, command: Command) -> None:
    slow = {"slow_target": 7, "slow_target_requests_in_flight": 2}
    program = imagined(tmp_path, **slow, wrong_bytes=0)
    text = command(FOREBAY_SIM=program).stdout
    for said in ("closing 0.125000 s", "messages of 4.60 KiB together", "target 7 is slow (k = 2)"):
        assert said in text
    assert "0 wrong bytes" in text
    shown = json.loads(command("--format", "json", FOREBAY_SIM=program).stdout)["results"][0]
    wanted = {"seconds_close": 0.125, "message_bytes": 4711, "wrong_bytes": 0, **slow}
    assert {key: shown[key] for key in wanted} == wanted
    program = imagined(tmp_path, slow_target=7, slow_target_requests_in_flight=0)
    assert "target 7 is slow\n" in command(FOREBAY_SIM=program).stdout  # no k was found
    program = imagined(tmp_path)
    text = command(FOREBAY_SIM=program).stdout
    assert "wrong" not in text
    assert "is slow" not in text
    shown = json.loads(command("--format", "json", FOREBAY_SIM=program).stdout)["results"][0]
    assert (shown["slow_target"], shown["wrong_bytes"]) == (None, None)


def test_the_command_shows_a_table_or_json(command: Command) -> None:
    simulator()
    assert "of the bound" in command().stdout
    done = command("--format", "json")
    assert json.loads(done.stdout)["results"][0]["variant"] == "forebay"


def test_a_variant_that_is_wrong_does_not_take_the_finished_ones_with_it(command: Command) -> None:
    simulator()
    words = ("--variant", "forebay", "--variant", "nosuch")
    done = command(*words)
    assert done.returncode == 2
    assert "forebay" in done.stdout
    assert "there is no variant" in done.stderr
    done = command(*words, "--format", "json")
    assert [one["variant"] for one in json.loads(done.stdout)["results"]] == ["forebay"]


def test_too_few_addresses_for_all_nodes_are_told() -> None:
    native = simulator()
    line = f"{native.program()} platform={native.platform('laptop')} nodes=64"
    done = subprocess.run(
        ["sh", "-c", f"ulimit -v 100000000; exec {line} staging_bytes_max=64GiB"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Raise the limit (ulimit -v)" in done.stderr


@pytest.mark.parametrize("program", ["/nonexistent", "/etc/hostname"])
def test_a_simulator_that_cannot_be_run_is_a_fault_of_the_installation(
    program: str, command: Command
) -> None:
    done = command(FOREBAY_SIM=program)
    assert done.returncode == SetupError.exit_code
    assert f"cannot run the simulator {program} (" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_simulator_that_says_nothing(tmp_path: Path) -> None:
    quiet = tmp_path / "sim"
    quiet.write_text("#!/bin/sh\nexit 7\n")
    quiet.chmod(0o755)
    native = NativeSimulator(environment={"FOREBAY_SIM": str(quiet)})
    with pytest.raises(SimulationError, match=r"ended with 7 .*\. Build it again\."):
        native.run([])


def test_a_simulation_that_cannot_go_on_is_told_in_one_line(tmp_path: Path) -> None:
    stuck = tmp_path / "sim"
    stuck.write_text(
        "#!/bin/sh\nprintf '[0.6] Oops! Deadlock detected\\n-> 0# main\\n' >&2; kill -6 $$\n"
    )
    stuck.chmod(0o755)
    native = NativeSimulator(environment={"FOREBAY_SIM": str(stuck)})
    with pytest.raises(SimulationError) as raised:
        native.run(["platform=a b"])
    assert str(raised.value).startswith("the simulation stopped before its end (")
    assert str(raised.value).endswith(f"shows all: {stuck} 'platform=a b'")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_simulation_that_is_stopped_leaves_nothing_running(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The imagined simulator holds the other end of a pipe for as long as it runs."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = tmp_path / "sim"
    program.write_text(f"#!/bin/sh\nexec 9>{pipe}\necho ready >&9\nexec sleep 60\n")
    program.chmod(0o755)
    # A job in background ignores SIGINT, as this test may.
    attentive = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from forebay.main import main; main()"
    )
    words = [sys.executable, "-c", attentive, "simulate", "laptop"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "FOREBAY_SIM": str(program)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        with pipe.open() as running:
            assert running.readline() == "ready\n"
            process.send_signal(number)
            assert running.read() == ""
        assert process.stderr
        assert f"stopped by {number.name}" in process.stderr.read()
    assert process.returncode == 128 + number


def test_a_package_of_pip_has_simulator_and_platforms_within(tmp_path: Path) -> None:
    package = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "forebay"
    for file in ("lib/forebay_sim", "platforms/laptop.toml"):
        (package / file).parent.mkdir(parents=True)
        (package / file).touch()
    native = NativeSimulator(environment={}, package=package)
    assert native.program() == str(package / "lib" / "forebay_sim")
    assert native.platform("laptop") == str(package / "platforms" / "laptop.toml")


def package_of(kind: str, tmp_path: Path) -> Path:
    """An empty Forebay: as a checkout, as pip makes it, as `cmake --install` does."""
    if kind == "checkout":
        package = tmp_path / "python" / "forebay"
        package.mkdir(parents=True)
        (tmp_path / "CMakeLists.txt").touch()
        platforms = tmp_path / "platforms"
    elif kind == "pip":
        package = tmp_path / "site-packages" / "forebay"
        package.mkdir(parents=True)
        (package.parent / "forebay-0.1.0.dist-info").mkdir()
        platforms = package / "platforms"
    else:
        package = tmp_path / "lib" / "forebay" / "python" / "forebay"
        package.mkdir(parents=True)
        platforms = package / "platforms"
    platforms.mkdir()
    (platforms / "laptop.toml").touch()
    return package


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("checkout", "then say `make -C {folder} build`"),
        ("pip", "pip install --force-reinstall"),
        ("installed", "`make install PREFIX=…`"),
    ],
)
def test_a_missing_simulator_is_told_with_what_to_do_in_this_kind_of_tree(
    tmp_path: Path, kind: str, remedy: str
) -> None:
    native = NativeSimulator(environment={}, package=package_of(kind, tmp_path))
    assert native.platform("laptop").endswith("platforms/laptop.toml")
    with pytest.raises(SetupError) as raised:
        native.program()
    assert remedy.format(folder=tmp_path) in str(raised.value)
    assert "libsimgrid-dev" in str(raised.value)
    assert raised.value.exit_code == 125


def test_missing_platforms_are_not_an_empty_list_of_known_ones(tmp_path: Path) -> None:
    native = NativeSimulator(environment={}, package=tmp_path / "share" / "python" / "forebay")
    with pytest.raises(SetupError, match="none are installed") as raised:
        native.platform("laptop")
    assert "known:" not in str(raised.value)


def test_platforms_are_installed_where_simgrid_is_missing() -> None:
    """Nothing but cmake/install.cmake installs them, and it does not ask for SimGrid."""
    install = (ROOT / "cmake" / "install.cmake").read_text(encoding="utf-8")
    assert "${FOREBAY_SOURCE_DIR}/platforms" in install
    assert "SIMGRID" not in install.upper()


def test_a_simulator_without_its_library_is_told_as_incomplete(tmp_path: Path) -> None:
    program = tmp_path / "sim"
    program.write_text(
        "#!/bin/sh\necho 'sim: error while loading shared libraries: libsimgrid.so.3.32: cannot "
        "open shared object file' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    native = NativeSimulator(environment={"FOREBAY_SIM": str(program)})
    with pytest.raises(SetupError, match="Install SimGrid"):
        native.run(["platform=x"])


def test_status_125_is_in_the_help_and_readme_names_what_simulate_needs() -> None:
    assert "\n  125  " in help_text(simulator_keys())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`forebay simulate` needs SimGrid" in readme


@pytest.mark.parametrize(
    ("word", "nearest"), [("node=3", "nodes"), ("stripe_byte=1M", "stripe_bytes")]
)
def test_an_unknown_key_is_told_the_nearest_one(word: str, nearest: str) -> None:
    with pytest.raises(SimulationError, match=f'Did you mean "{nearest}"'):
        words_of("laptop.toml", variant="forebay", settings=[word], keys=simulator_keys())


def test_small_amounts_are_not_shown_as_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer = {
        "schema": "forebay.simulation/1", "platform": "laptop", "variant": "forebay", "ranks": 4,
        "targets": 1, "bytes": 4 << 20, "seconds": 0.0032, "seconds_open": 0.0,
        "seconds_close": 0.0, "seconds_bound": 0.0021, "rounds": 1, "messages": 0,
        "message_bytes": 0, "requests": 4, "slow_target": -1, "slow_target_requests_in_flight": 0,
        "wrong_bytes": None, "error": "",
    }  # fmt: skip
    show_simulations([parse_simulation(json.dumps(answer))], Format.TEXT)
    printed = capsys.readouterr().out
    for part in ("4.00 MiB", "0.0032", "1.22 GiB/s", "66 %", "links, servers and targets"):
        assert part in printed


def test_pip_puts_the_platforms_into_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["scikit-build"]["wheel"]["packages"]
    assert packages["forebay/platforms"] == "platforms"
    assert (ROOT / "platforms" / "laptop.toml").is_file()


def test_the_simulator_that_a_checkout_built_is_found(tmp_path: Path) -> None:
    """The build moved its programs to lib/, and tests that looked in bin/ were skipped."""
    package = tmp_path / "python" / "forebay"
    built = tmp_path / "build" / "release" / "lib" / "forebay_sim"
    for file in (package / "__init__.py", built):
        file.parent.mkdir(parents=True)
        file.touch()
    assert NativeSimulator(environment={}, package=package).program() == str(built)
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    assert presets["configurePresets"][0]["binaryDir"].endswith("build/${presetName}")
    layer = (ROOT / "cmake" / "layer.cmake").read_text(encoding="utf-8")
    assert "RUNTIME_OUTPUT_DIRECTORY ${FOREBAY_BINARY_DIR}/lib" in layer
