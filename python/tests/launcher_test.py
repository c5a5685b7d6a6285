"""Command lines of launchers: found, told apart, and made to pass our variables on."""

import pytest

from forebay.common.model.known_launchers import Flavour
from forebay.common.model.launcher import (
    Forwarding,
    compose_preload,
    find_launcher,
    find_programs,
    flavour_of_help,
    flavour_of_name,
    flavour_of_version,
    forward,
    preload_without,
    ranks_of,
    slurm_export,
    start,
    subcommand_of,
    version_of,
    with_ranks,
)

OURS = Forwarding(library="/f.so", preload="/f.so", variables={"FOREBAY_RECORD": "/r"})
OPEN_MPI_FLAGS = ["-x", "LD_PRELOAD", "-x", "FOREBAY_RECORD"]
HYDRA_FLAGS = ["-genv", "LD_PRELOAD", "/f.so", "-genv", "FOREBAY_RECORD", "/r"]


@pytest.mark.parametrize(
    ("flavour", "root", "words"),
    [
        (
            Flavour.OPEN_MPI,
            True,
            "mpirun -n 3 --oversubscribe --allow-run-as-root --mca io romio321 -x A=1 -x B=x=y",
        ),
        (Flavour.OPEN_MPI, False, "mpirun -n 3 --oversubscribe --mca io romio321 -x A=1 -x B=x=y"),
        (Flavour.HYDRA, True, "mpirun -n 3 -genv A 1 -genv B x=y"),
    ],
)
def test_start_of_ranks_with_variables(flavour: Flavour, root: bool, words: str) -> None:
    started = start(
        "mpirun",
        flavour=flavour,
        ranks=3,
        root=root,
        variables={"A": "1", "B": "x=y"},
        parameters=[("io", "romio321")],
    )
    assert " ".join(started) == words


def test_start_refuses_to_lose_a_variable() -> None:
    assert start("srun", flavour=Flavour.SLURM, ranks=2, root=False) == ("srun", "-n", "2")
    with pytest.raises(ValueError, match="passed on by srun"):
        start("srun", flavour=Flavour.SLURM, ranks=2, root=False, variables={"A": "1"})


@pytest.mark.parametrize(
    ("existing", "composed"),
    [
        (None, "/f.so"),
        ("", "/f.so"),
        ("/a.so", "/f.so:/a.so"),
        ("/a.so /b.so", "/f.so:/a.so:/b.so"),
        ("/x/libdarshan.so:/a.so", "/x/libdarshan.so:/f.so:/a.so"),
        ("/a.so:/x/libdarshan-3.so.0", "/x/libdarshan-3.so.0:/f.so:/a.so"),
        ("/f.so:/a.so", "/f.so:/a.so"),
    ],
)
def test_preload_goes_first_but_behind_darshan(existing: str | None, composed: str) -> None:
    assert compose_preload("/f.so", existing) == composed


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("mpiexec -n 4 ./a", 0),
        ("/opt/x/bin/mpirun -n 4 ./a", 0),
        ("mpiexec.hydra ./a", 0),
        ("env A=1 mpirun.openmpi ./a", 2),
        ("timeout 60 srun ./a", 2),
        ("./a mpiexec", None),
        ("python mpiexec.py", None),
        ("env A=1 ./a", None),
        ("mpiexecutor ./a", None),
        ("/usr/bin/flux run -n 4 ./a", 0),
        ("timeout 9 flux submit ./a", 2),
        ("flux proxy x flux run ./a", None),
        ("flux", None),
        ("env A=1 jsrun -n 2 ./a", 2),
        ("aprun ./a", 0),
        ("ibrun ./a", 0),
        ("prun ./a", 0),
        ("jsrunner ./a", None),
    ],
)
def test_launcher_is_found_behind_wrappers_only(line: str, at: int | None) -> None:
    assert find_launcher(line.split()) == at


def test_flavours_tell_themselves() -> None:
    assert flavour_of_name("orterun") is Flavour.OPEN_MPI
    assert flavour_of_name("mpiexec.hydra") is Flavour.HYDRA
    assert flavour_of_name("mpiexec") is None
    assert flavour_of_version("mpirun (Open MPI) 5.0.11") is Flavour.OPEN_MPI
    assert flavour_of_version("mpirun.openmpi (OpenRTE) 4.1.4") is Flavour.OPEN_MPI
    assert flavour_of_version("HYDRA build details:\n  Version: 4.0.2") is Flavour.HYDRA
    assert flavour_of_version("Intel(R) MPI Library for Linux, Version 2021.9") is Flavour.HYDRA
    assert flavour_of_version("slurm 23.02.1") is Flavour.SLURM
    assert flavour_of_version("mpibind") is None
    assert flavour_of_name("flux") is Flavour.FLUX
    assert flavour_of_name("jsrun") is Flavour.JSRUN
    assert flavour_of_name("aprun") is Flavour.APRUN
    assert flavour_of_name("ibrun") is Flavour.IBRUN
    assert flavour_of_help("Parallel Application Launch Service\nUsage: mpiexec") is Flavour.PALS
    assert flavour_of_help("Usage: mpiexec [global opts]") is None
    assert version_of("HYDRA build details:\n  Version: 4.0.2") == "4.0.2"


PROGRAMS = {"./a", "./b"}


def run(flavour: Flavour, line: str) -> list[str]:
    words = line.split()
    return list(
        forward(
            words,
            launcher=0,
            flavour=flavour,
            forwarding=OURS,
            is_program=lambda word: word in PROGRAMS,
        )
    )


def test_open_mpi_gets_x_behind_the_launcher() -> None:
    assert run(Flavour.OPEN_MPI, "mpirun -n 4 ./a -x") == [
        "mpirun", *OPEN_MPI_FLAGS, "-n", "4", "./a", "-x",
    ]  # fmt: skip


def test_open_mpi_4_does_not_share_x_between_contexts() -> None:
    found = run(Flavour.OPEN_MPI, "mpirun -n 1 ./a : -n 2 ./b")
    assert found == [
        "mpirun", *OPEN_MPI_FLAGS, "-n", "1", "./a", ":", *OPEN_MPI_FLAGS, "-n", "2", "./b",
    ]  # fmt: skip


def test_open_mpi_keeps_what_the_user_exports() -> None:
    found = run(Flavour.OPEN_MPI, "mpirun -x LD_PRELOAD=/u.so -x FOREBAY_RECORD ./a")
    assert found == "mpirun -x LD_PRELOAD=/f.so:/u.so -x FOREBAY_RECORD ./a".split()


def test_hydra_passes_everything_unless_told_not_to() -> None:
    assert run(Flavour.HYDRA, "mpiexec -n 4 ./a") == "mpiexec -n 4 ./a".split()
    assert run(Flavour.HYDRA, "mpiexec -genvnone -n 4 ./a") == [
        "mpiexec", *HYDRA_FLAGS, "-genvnone", "-n", "4", "./a",
    ]  # fmt: skip
    assert run(Flavour.HYDRA, "mpiexec -genvlist HOME -n 4 ./a") == (
        "mpiexec -genvlist HOME,LD_PRELOAD,FOREBAY_RECORD -n 4 ./a".split()
    )
    assert run(Flavour.HYDRA, "mpiexec -genv LD_PRELOAD /u.so ./a") == (
        "mpiexec -genv LD_PRELOAD /f.so:/u.so ./a".split()
    )


def test_hydra_without_anything_behind_the_launcher() -> None:
    assert run(Flavour.HYDRA, "mpiexec -genv") == ["mpiexec", "-genv"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("ALL", "ALL"),
        ("ALL,LD_PRELOAD=/u.so", "ALL,LD_PRELOAD=/f.so:/u.so"),
        ("NONE", "LD_PRELOAD,FOREBAY_RECORD"),
        ("HOME,FOREBAY_RECORD", "HOME,FOREBAY_RECORD,LD_PRELOAD"),
    ],
)
def test_srun_exports_what_ranks_need(given: str, wanted: str) -> None:
    assert slurm_export(given, OURS) == wanted
    assert run(Flavour.SLURM, f"srun --export={given} ./a")[1] == f"--export={wanted}"
    assert run(Flavour.SLURM, f"srun --export {given} ./a")[2] == wanted


@pytest.mark.parametrize(
    "words",
    [
        "./a --export=netcdf",
        "./a --export netcdf",
        "./a -envnone",
        "./a -envlist x -genvlist y",
        "./a -genv LD_PRELOAD /u.so",
        "./a -x LD_PRELOAD=/u.so",
        "./not-on-this-node --export=netcdf -envnone -genvlist y -x LD_PRELOAD=/u.so",
        "./a -envnone : -n 2 ./b --export=netcdf -envlist y",
    ],
)
def test_the_programs_own_arguments_stay_as_they_are(words: str) -> None:
    assert run(Flavour.SLURM, f"srun -n 2 {words}") == f"srun -n 2 {words}".split()
    assert run(Flavour.HYDRA, f"mpiexec -n 2 {words}") == f"mpiexec -n 2 {words}".split()
    flags = " ".join(OPEN_MPI_FLAGS)
    told = f"mpirun {flags} -n 2 {words.replace(' : ', f' : {flags} ')}"
    assert run(Flavour.OPEN_MPI, f"mpirun -n 2 {words}") == told.split()


def test_options_of_later_contexts_are_the_launchers() -> None:
    line = "mpiexec -n 1 ./a -envlist A : -envlist B -n 1 ./b"
    assert run(Flavour.HYDRA, line) == (
        "mpiexec -n 1 ./a -envlist A : -envlist B,LD_PRELOAD,FOREBAY_RECORD -n 1 ./b".split()
    )
    line = "srun --export=A ./a --export=B : --export=C ./b"
    assert run(Flavour.SLURM, line) == (
        "srun --export=A,LD_PRELOAD,FOREBAY_RECORD ./a --export=B "
        ": --export=C,LD_PRELOAD,FOREBAY_RECORD ./b".split()
    )
    line = "mpiexec -n 1 ./a : -envnone -n 1 ./b"
    assert run(Flavour.HYDRA, line) == ["mpiexec", *HYDRA_FLAGS, *line.split()[1:]]


@pytest.mark.parametrize(
    ("flavour", "line", "wanted"),
    [
        (Flavour.FLUX, "flux run -n 4 ./a --env=x", "flux run -n 4 ./a --env=x"),
        (
            Flavour.FLUX,
            "flux run --env-remove=* --env PATH ./a",
            "flux run --env-remove=* --env PATH --env=LD_PRELOAD --env=FOREBAY_RECORD ./a",
        ),
        (
            Flavour.FLUX,
            "flux run --env=LD_PRELOAD=/u.so ./a",
            "flux run --env=LD_PRELOAD=/f.so:/u.so --env=LD_PRELOAD --env=FOREBAY_RECORD ./a",
        ),
        (Flavour.JSRUN, "jsrun -n 4 -E A=1 ./a", "jsrun -n 4 -E A=1 ./a"),
        (
            Flavour.JSRUN,
            "jsrun -E LD_PRELOAD=/u.so ./a -E LD_PRELOAD=/u.so",
            "jsrun -E LD_PRELOAD=/f.so:/u.so ./a -E LD_PRELOAD=/u.so",
        ),
        (
            Flavour.APRUN,
            "aprun -n 1 -e LD_PRELOAD=/u.so ./a : -n 2 ./b",
            "aprun -n 1 -e LD_PRELOAD=/f.so:/u.so ./a : -n 2 ./b",
        ),
        (Flavour.PALS, "mpiexec --ppn 4 ./a", "mpiexec --ppn 4 ./a"),
        (
            Flavour.PALS,
            "mpiexec --envnone ./a",
            "mpiexec --genv=LD_PRELOAD=/f.so --genv=FOREBAY_RECORD=/r --envnone ./a",
        ),
        (
            Flavour.PALS,
            "mpiexec --envlist HOME ./a",
            "mpiexec --envlist HOME,LD_PRELOAD,FOREBAY_RECORD ./a",
        ),
        (
            Flavour.PRUN,
            "prun --dvm-uri file:x -n 2 ./a",
            "prun -x LD_PRELOAD -x FOREBAY_RECORD --dvm-uri file:x -n 2 ./a",
        ),
        (Flavour.IBRUN, "ibrun -n 4 -o 8 ./a", "ibrun -n 4 -o 8 ./a"),
    ],
)
def test_other_launchers_pass_our_variables_on(flavour: Flavour, line: str, wanted: str) -> None:
    assert run(flavour, line) == wanted.split()


def test_number_of_ranks_by_each_launchers_own_option() -> None:
    def ranks(flavour: Flavour, line: str) -> int | None:
        words = line.split()
        return ranks_of(words, launcher=0, flavour=flavour, is_program=lambda word: word == "./a")

    assert ranks(Flavour.FLUX, "flux run -N 2 --ntasks=8 ./a") == 8
    assert ranks(Flavour.JSRUN, "jsrun -n 2 -p 8 ./a") == 8
    assert ranks(Flavour.JSRUN, "jsrun -n 2 -a 4 ./a") is None
    assert ranks(Flavour.APRUN, "aprun -n 4 ./a : -n 2 ./a") == 6
    assert ranks(Flavour.PALS, "mpiexec --np 8 --ppn 4 ./a") == 8


def test_ranks_are_set_behind_the_subcommand() -> None:
    told = with_ranks(("flux", "run"), flavour=Flavour.FLUX, ranks=4, per_node=None)
    assert told == ("flux", "run", "-n", "4")
    told = with_ranks(("mpiexec", "-n", "9"), flavour=Flavour.PALS, ranks=4, per_node=2)
    assert told == ("mpiexec", "-n", "4", "--ppn", "2")


def test_subcommand_of_a_launcher_that_has_some() -> None:
    assert subcommand_of(["flux", "run", "./a"], 0) == "run"
    assert subcommand_of(["flux", "start"], 0) == ""
    assert subcommand_of(["srun", "run"], 0) == ""


def test_unknown_launchers_are_left_alone() -> None:
    assert run(Flavour.OTHER, "mpiexec -n 4 ./a") == "mpiexec -n 4 ./a".split()


@pytest.mark.parametrize(
    ("flavour", "line", "programs"),
    [
        (Flavour.OPEN_MPI, "mpirun -n 4 ./a x", ["./a"]),
        (Flavour.OPEN_MPI, "mpirun --mca io romio321 -np 4 ./a", ["./a"]),
        (Flavour.OPEN_MPI, "mpirun --unknown 7 -n 1 ./a : -n 2 ./b", ["./a", "./b"]),
        (Flavour.HYDRA, "mpiexec -genv A b -n 4 ./a", ["./a"]),
        (Flavour.HYDRA, "mpiexec -genv A=b ./a ./b", ["./a"]),
        (Flavour.SLURM, "srun -n4 --mpi=pmix ./a", ["./a"]),
        (Flavour.HYDRA, "mpiexec -n 4", []),
        (Flavour.HYDRA, "mpiexec -wdir ./a -n 4 ./b", ["./b"]),
        (Flavour.FLUX, "flux run --cwd ./b -N 2 -n 4 -o cpu-affinity=off ./a : ./b", ["./a"]),
        (Flavour.JSRUN, "jsrun -n4 -r 2 --chdir ./b --smpiargs -gpu ./a", ["./a"]),
        (Flavour.APRUN, "aprun -n 4 -cc depth -d 2 --wdir ./b ./a : -n 1 ./b", ["./a", "./b"]),
        (Flavour.PALS, "mpiexec --env A=1 --cpu-bind depth -d 2 --wdir ./b -- ./a", ["./a"]),
        (Flavour.PRUN, "prun --pset ./b -s ./a", ["./a"]),
        (Flavour.SLURM, "srun --mpi pmix -n 4 ./a", ["./a"]),
    ],
)
def test_programs_are_found_behind_options(
    flavour: Flavour, line: str, programs: list[str]
) -> None:
    words = line.split()
    found = find_programs(
        words, launcher=0, flavour=flavour, is_program=lambda word: word in PROGRAMS
    )
    assert [words[index] for index in found] == programs


def test_what_is_left_of_ld_preload_without_ours() -> None:
    ours = "/opt/lib/libforebay_mpi.so:/opt/lib/libforebay_posix.so"
    assert preload_without(f"/a/libdarshan.so:{ours} /b/x.so", "libforebay_") == (
        "/a/libdarshan.so:/b/x.so"
    )
    assert preload_without(ours, "libforebay_") == ""
    assert preload_without(None, "libforebay_") == ""


def test_ibruns_helpers_are_no_programs() -> None:
    words = "ibrun -n 2 task_affinity ./a".split()
    found = find_programs(
        words, launcher=0, flavour=Flavour.IBRUN, is_program=lambda word: word != "2"
    )
    assert found == (4,)
