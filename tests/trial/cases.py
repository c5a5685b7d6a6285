"""The lines that the new user types, and their required results. {home} and {tmp} are filled in."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A line for the shell; its exit status; patterns that its output has, or must not have."""

    line: str
    status: int = 0
    says: Sequence[str] = ()
    never: Sequence[str] = ()


# Whatever is typed: no inner life of ours is shown, and one of a thing is "1 thing".
NEVER = (r"Traceback", r"(?<!\d)1 (ranks|nodes|jobs|files)\b")

_RUN = "forebay run {} -- mpiexec -n 2 ./program"
RIGHT = (
    Case("forebay --version", says=(r"^forebay \d",)),
    Case("forebay -h", says=("forebay doctor",)),
    Case("forebay doctor", says=("No problem found",)),
    Case("forebay doctor . {tmp}", says=("No problem found", "{tmp}")),
    Case("forebay doctor --program ./program -n 2", says=("program",)),
    Case("forebay doctor --format json .", says=(r'"schema": "forebay.doctor/1"',)),
    Case("forebay doctor --site .", says=("No problem found", "^Kernel$")),
    Case("forebay pool status --format openmetrics", says=("forebay_pool_daemons", "^# EOF$")),
    Case("forebay settings", says=("cb_nodes",)),
    Case("forebay settings --origin", says=("cb_nodes", "^setting .* origin")),
    Case("forebay settings --settings site.toml --format json", says=('"cb_nodes"',)),
    Case(_RUN.format(""), says=(r"program.out",)),
    Case(_RUN.format("--set cb_nodes=1 --set cb_buffer_size=1MiB"), says=("program.out",)),
    Case(_RUN.format("--set cb_buffer_size=16MB"), says=("program.out",)),
    Case(_RUN.format("--set romio_cb_write=enable"), says=("program.out",)),
    Case(
        _RUN.format("--settings site.toml --record run.jsonl --summary run.txt"), never=("MiB/s",)
    ),
    Case(_RUN.format("--verbose"), says=("program.out",)),
    Case(_RUN.format("--format json"), says=(r'^\{.*"schema".*\}$',)),
    Case(
        "forebay run --pool . -- tar -cf pooled.tar site.toml",
        says=("through the pool: 10.0 KiB of 1 file",),
    ),
    Case(
        "forebay run --private --set pool_mount=auto --pool . -- "
        "tar -cf private.tar site.toml && tar -tf private.tar",
        says=("^site.toml$",),
    ),
    Case(
        "forebay run --compare --pool . -- tar -cf compared.tar site.toml",
        says=("same bytes in 1 file", "run 1 of 2, without Forebay"),
        never=("changed nothing",),
    ),
    Case(
        "forebay run --compare --pairs 2 --pool run --output-dir run -- "
        "tar -cf run/compared.tar site.toml",
        says=("same bytes in 1 file", "in 2 pairs"),
    ),
    Case(  # its output is its standard output, to which C stdio may write
        "forebay run --pool . -- dd if=/dev/zero of=pooled bs=3333 count=3",
        says=("through the pool: 0 B of 0 files", "standard input or output"),
    ),
    Case(
        'eval "$(forebay pool start {tmp})"; forebay pool status; forebay pool status --all; '
        "FOREBAY_POOL_NODES=2 FOREBAY_POOL_STARTER=env forebay pool status --all-nodes; "
        "forebay pool drain; "
        'eval "$(forebay pool stop --unset)"; echo ${FOREBAY_POOL_SOCKET-unset}',
        says=("daemon", "drained in", "^unset$"),
    ),
    Case(
        'mkdir held && forebay tier start held --fast held.fast --policy "write move=manual" && '
        "cp site.toml held/a && { timeout -s INT 3 forebay tier status --watch held; "
        "forebay tier stop --leave held; } && forebay tier finish held --fast held.fast && "
        "cmp site.toml held/a && echo moved",
        says=("waiting", "^moved$"),
    ),
    Case(
        "mkdir alike && forebay tier start alike --fast alike.fast --shared --wait 5 && "
        "cp site.toml alike/a && forebay tier stop alike && cmp site.toml alike/a && echo moved",
        says=("^moved$",),
    ),
    Case("forebay run --io-ranks 2 --spread 2 -- mpiexec.mpich -n 4 ./program.mpich"),
    Case("forebay tier start tiered --fast /proc/none", 1, says=("Name a folder of fast storage",)),
    Case('forebay run --pool "$NOT_SET" -- ./program', 2, says=("is a variable not set",)),
    Case("forebay help pool start", says=("Start a daemon",)),
    Case("forebay version", says=("forebay ",)),
    Case("forebay settings pool_cap", says=("^pool_cap = ",), never=("cb_nodes",)),
    Case("forebay settings --for pool --about journal", says=("^pool_journal", "^Words:")),
    Case("forebay settings --about nothing-at-all", 2, says=("no setting is about",)),
    Case(
        'eval "$(forebay pool start --settings site.toml {tmp})" && S=$FOREBAY_POOL_SOCKET; '
        "timeout -s INT 3 forebay pool status --watch --interval 0.5 --socket $S; "
        "forebay pool drain --socket $S && forebay pool stop --verbose --socket $S",
        says=("daemon", "drained in"),
    ),
    Case(
        "forebay job-script --slurm --pool . --step 'cat pooled.sh' -- tar -cf pooled.sh site.toml "
        "> several.sh && bash several.sh",
        says=("through the pool: 10.0 KiB of 1 file",),
    ),
    Case("forebay probe --simulate lustre-96-ost --formulas --seed 2 --drift 5% -o scratch.toml"),
    Case("forebay probe --simulate lustre-96-ost nodes=1 -o node.toml", says=("1 node",)),
    Case(
        "forebay probe . --seconds 20 --bytes 64m --files 100 --share 1% --targets 1 --reads "
        "--dry-run -- mpiexec -n 2",
        says=("at most 60 probes",),
    ),
    Case("forebay probe . --clean"),
    Case(
        "forebay advise --portrait scratch.toml --ranks 8192 --nodes 256 --bytes 512g "
        "--collective --transfer 1m --stripes 1 --files 1 --output-dir . -o advice.json",
        says=("write",),
    ),
    Case(
        "forebay advise --rules rules.toml --ranks 64 --bytes 1g --collective --may-change program "
        "--format json",
        says=(r"at most two aggregators a node",),
    ),
    Case(
        "forebay verify advice.json --output-dir run --pairs 6 --margin 50% --seed 2 "
        "--run-time 60 --time '^real +([0-9.]+)' -- sh -c 'echo real 1; echo >{out}/f'",
        5,  # a shell, whose output no advice concerns
        says=("not applied",),
    ),
    Case(
        "forebay verify advice.json --simulate lustre-96-ost --drift 5% --pairs 6 "
        "--html verify.html",
        says=("improved: ",),
    ),
    Case("forebay report run.jsonl", says=("2 ranks",)),
    Case("forebay report --portrait scratch.toml run.jsonl", says=("2 ranks",)),
    Case("forebay layout show .", says=("target",)),
    Case("forebay layout show --format json ./program", says=('"targets"',)),
    Case("forebay simulate laptop region_count=10", says=("forebay",)),
    Case("forebay simulate laptop region_count=10 --variant placement --format json"),
    Case("forebay simulate tsubame-2.5-thin nodes=1 targets=2 region_count=4 verify=1"),
    Case("forebay simulate lustre-96-ost nodes=1 region_count=2"),
    Case("forebay simulate --independent laptop processes=2", says=("iB/s",)),
    Case("forebay bench ior -np 2 -t 4k -b 64k -o f.ior", says=("Summary of all tests",)),
    Case("forebay bench ior --launcher 'mpiexec.mpich -n 2' -t 4k -b 64k -o f.ior"),
    Case(
        "forebay bench ior -np 2 -t 4k -b 64k -o f.ior --html ior.html --format json",
        says=('"schema"',),
    ),
    Case("forebay bench ior -np 1 --posix.odirect=TRUE -t 4k -b 64k -o f.ior"),
    Case("forebay bench hpio -np 2 -n 0001 -m 11 -c 16 -s 1k -p 128 -d ."),
    Case("forebay bench meta -np 2 -n 10 -d md", says=("File creation",)),
    Case("forebay bench meta -np 2 --storm all -n 10 --phase-time 1 -d md --html meta.html"),
    Case(
        "forebay bench compare -np 2 --pairs 8 --seed 3 --margin 5% --run-time 60 "
        "--format json ior -t 4k -b 64k -o f.ior -- ior -t 8k -b 64k -o f.ior",
        says=("forebay.bench.compare/1",),
    ),
    Case(
        "forebay bench compare --pairs 8 --early --launcher 'mpiexec.mpich -n 2' "
        "--html compare.html ior -t 4k -b 64k -o f.ior -- ior -t 8k -b 64k -o f.ior"
    ),
    Case("mpiexec.mpich -n 2 forebay-ior -t 4k -b 64k -o f.ior"),
    Case("mpiexec.openmpi --oversubscribe -n 2 forebay-ior -a MPIIO -t 4k -b 64k -o f.ior"),
    Case("mpiexec.mpich -n 2 forebay-hpio -c 16 -s 64 -p 64 -d ."),
    Case("mpiexec.mpich -n 2 forebay-meta -n 10 -d md"),
    *(Case(f"forebay-{tool} -h", says=(f"^forebay-{tool}: ",)) for tool in ("ior", "hpio", "meta")),
)

WRONG = (
    Case("forebay", 2, says=("Usage",)),
    Case("forebay nosuch", 2),
    Case("forebay doctor ./program", 2, says=("directory",)),
    Case("forebay doctor /nonexistent", 2),
    Case("forebay doctor -n 0", 2),
    Case("forebay settings --settings /nonexistent", 2),
    Case("forebay settings --settings wrong.toml", 2, says=("cb_node", "cb_nodes")),
    Case("forebay settings --format xml", 2),
    Case("forebay run", 2),
    Case("forebay run --set cb_node=2 -- ./program", 2, says=("cb_nodes",)),
    Case("forebay run --set cb_nodes=many -- ./program", 2),
    Case("forebay run --set cb_nodes -- ./program", 2, says=("KEY=VALUE",)),
    Case("forebay run --record /nonexistent/r -- ./program", 2),
    Case("forebay run --summary /nonexistent/r -- ./program", 2),
    Case("forebay run -- ./nosuch", 127),
    Case("forebay run -- ./site.toml", 126, says=(r"chmod \+x ./site.toml",)),
    Case("forebay run -- program", 127, says=("Did you mean ./program",)),
    Case(
        "mkdir -m 0 closed; forebay run -- closed/x; s=$?; rmdir closed; (exit $s)",
        126,
        says=("may not enter .*/closed",),
    ),
    Case("forebay run -- sh -c 'exit 7'", 7),
    Case("forebay run -- sh -c 'kill -TERM $$'", 143),
    Case("forebay run --pool /nonexistent/f -- ./program", 2, says=("no such folder",)),
    Case("forebay run --pool misspelt -- ./program", 2, says=("mkdir -p .*/misspelt",)),
    Case("forebay run --pool -- ./program", 2, says=("--pool wants a folder",)),
    Case("forebay run --pairs 6 -- ./program", 2, says=("Say --compare",)),
    Case("forebay run --compare --pairs few -- ./program", 2, says=("--pairs 6",)),
    Case("forebay run --compare --pool /tmp -- ../program", 2, says=("--output-dir",)),
    Case("forebay job-script -- ./program", 2, says=("Say one of --slurm",)),
    Case("forebay job-script --slurm", 2, says=("no program was given",)),
    Case("forebay job-script --slurm --time 30 -- ./program", 2, says=("--time 02:30:00",)),
    Case("forebay job-script --slurm --array 1,2 -- ./program", 2, says=("--array 1-100",)),
    Case("forebay job-script --pbs --signal USR1@60 -- ./program", 2, says=("Leave it out",)),
    Case("forebay job-script --slurm --step 'a | b' -- ./program", 2, says=("bash -c",)),
    Case("forebay pool", 2),
    Case("forebay pool start", 2, says=("Name a folder",)),
    Case("forebay pool status --socket {tmp}/none", 1, says=("nobody listens",)),
    Case("forebay pool rescue ./program", 1, says=("no rescue file",), never=("kept",)),
    Case("forebay pool rescue --force --dry-run --into f ./program", 1, says=("no rescue file",)),
    Case("forebay probe . -- mpiexec -n 1000000", 1, says=("Run it alone",), never=("--\\)",)),
    Case("forebay probe .", 2),
    Case("forebay advise", 2),
    Case("forebay advise --portrait wrong.toml --ranks 2 --bytes 1g", 1),
    Case("forebay apply nosuch.json -- ./program", 1, says=("forebay advise -o",)),
    Case("forebay report site.toml", 1),
    Case("forebay pool rescue /nonexistent", 1),
    Case("forebay layout", 2),
    Case("forebay layout show /nonexistent", 1),
    Case("forebay layout set -c 4 new.nc", 1, says=("Lustre",)),
    Case("forebay layout set -c zero new.nc", 2),
    Case("forebay simulate", 2),
    Case("forebay simulate nosuch", 2, says=("laptop",)),
    Case("forebay simulate laptop node=3", 2, says=("nodes",)),
    Case("forebay simulate laptop nodes=many", 2),
    Case("forebay bench", 2),
    Case("forebay bench ior -np 0", 1),
    Case("forebay bench ior -np 2 --nosuch", 1),
    Case("forebay bench ior -np 2 --launcher mpiexec -o f.ior", 1, says=("exclude each other",)),
    Case("forebay bench ior -np 2 -t 3 -b 64k -o f.ior", 1),
    Case("forebay bench ior --launcher ./nosuch -o f.ior", 1, says=("mpiexec",)),
    Case("forebay bench hpio -np 2 --pattern nosuch", 1),
    Case("forebay bench meta -np 2 --nosuch", 1),
    Case("forebay bench compare -np 2 ior", 1),
    Case("forebay-ior --nosuch", 1),
    Case("forebay-hpio --nosuch", 1),
    Case("forebay-meta --nosuch", 1),
)

# The list of issue 14, as far as it shows from outside and is not among the above.
MET = (
    *(
        Case(
            f"forebay run -- mpiexec.{mpi} {flags} -n 4 ./program.{mpi} left.out exit",
            never=("signal", "Segmentation"),
        )
        for mpi, flags in (("mpich", ""), ("openmpi", "--oversubscribe"))
    ),
    Case(
        "forebay run -- mpiexec.mpich -n 4 ./program.mpich s.out self",
        says=("4 ranks",),
        never=(r"\d jobs", "each: 4 ranks"),
    ),
    Case("forebay doctor /proc", 1, says=("/proc",)),
    Case(
        "forebay run --set exclude={home}/prog -- mpiexec -n 2 ./program program.out",
        says=("program.out",),
    ),
    Case("forebay bench ior -np 2 -t 4k -b 64k -o f.ior | awk '/^write/{n++} END {exit n != 2}'"),
)
