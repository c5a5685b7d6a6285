"""Past mistakes of forebay-ior; each test is named after one."""

from __future__ import annotations

import ctypes
import json
import os
import re
from pathlib import Path

from suite import mpi as m
from suite.ior import DATA_WRONG, GOOD, INPUT_OUTPUT, REFUSED, TIME_LIMIT, USAGE, Ior
from suite.on import BENCHMARK, EACH, FULL
from suite.verdict import ensure

PATIENCE = 90


@BENCHMARK
def test_one_open_fails_under_wear_out(mpi: m.Mpi, folder: Path) -> None:
    """The rank that could not open agreed on errors while the others agreed on their goal."""
    (folder / "there").mkdir()
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    line = "-F -D 2 -O stoneWallingWearOut=1 -t 4k -b 64k -w"
    text = run(f"{line} -o there/f@missing/f", status=INPUT_OUTPUT)
    ensure("rank 1: cannot open missing/f" in text, text[-800:])
    run.ensure_clean("there")


@BENCHMARK
def test_least_time_is_longer_than_the_wall(mpi: m.Mpi, folder: Path) -> None:
    """Repeating what the wall had stopped stood still for ever."""
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    for words in ("", "-O stoneWallingWearOut=1", "-a MPIIO -c"):
        run(f"-w -D 1 -O minTimeDuration=100 -t 64k -b 64m -s 4 -Y {words} -o tf")
    run.ensure_clean()


@BENCHMARK
def test_fsync_per_write_is_collective(mpi: m.Mpi, folder: Path) -> None:
    """MPI_File_sync of a shared file needs all ranks, which the wall stops at different writes."""
    run = Ior(mpi=mpi, folder=folder, ranks=3, seconds_max=PATIENCE)
    for api in ("MPIIO", "HDF5", *["NCMPI"] * mpi.is_open_mpi):
        run(f"-a {api} -w -Y -D 1 -t 4k -b 1m -s 64 -o tf")
    run.ensure_clean()


@BENCHMARK
def test_a_delay_is_no_latency(mpi: m.Mpi, folder: Path) -> None:
    """interIODelay belongs to the phase and to no transfer."""
    run = Ior(mpi=mpi, folder=folder)
    run("-a DUMMY -w -t 1k -b 20k -O interIODelay=20000 -o tf --json a.json")
    result = json.loads((folder / "a.json").read_text())["tests"][0]["Results"][0]
    ensure(result["latency_of_transfers"]["p50_ns"] < 10_000_000, f"{result}")
    ensure(result["wrRdTime"] > 0.39, f"{result}")


@BENCHMARK
def test_a_failed_read_keeps_the_file(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    run("-w -k -t 64k -b 1m -G 5 -o tf")
    text = run("-r -t 64k -b 2m -o tf", status=INPUT_OUTPUT)
    ensure("cannot read tf" in text, text[-800:])
    run.ensure_clean("tf")


@BENCHMARK
def test_one_rank_takes_the_space_of_a_mapped_file(mpi: m.Mpi, folder: Path) -> None:
    """Where the file system has no fallocate, the C library writes into every block: that of
    a late rank went over data of another."""
    shim = m.shim(mpi, folder / "late.c", LATE_ALLOCATION)
    run = Ior(mpi=mpi, folder=folder, ranks=3)
    run("-a MMAP -t 64k -b 64k -s 4 -w -r -R -W -e -o tf", LD_PRELOAD=str(shim))
    text = run("-a MMAP -t 64k -b 64k -w -o missing/tf", status=INPUT_OUTPUT)
    ensure("rank 0: cannot open missing/tf" in text, text[-800:])
    run.ensure_clean("late.c", "late.so")


LATE_ALLOCATION = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int fill(int fd, off_t begin, off_t bytes) {
    const char *rank = getenv("PMI_RANK");
    if (rank == NULL) { rank = getenv("OMPI_COMM_WORLD_RANK"); }
    char one = 0;
    const time_t end = time(NULL) + 20;  /* a late rank: another has written */
    while (rank != NULL && *rank != '0' && one == 0 && time(NULL) < end) {
        if (pread(fd, &one, 1, begin) != 1) { one = 0; }
        sched_yield();
    }
    for (off_t at = begin; at < begin + bytes; at += 4096) {
        if (pwrite(fd, "", 1, at) != 1) { return 5; }
    }
    return ftruncate(fd, begin + bytes);
}
int posix_fallocate(int fd, off_t begin, off_t bytes) { return fill(fd, begin, bytes); }
int posix_fallocate64(int fd, off_t begin, off_t bytes) { return fill(fd, begin, bytes); }
"""


@BENCHMARK
def test_a_summary_that_cannot_be_written_is_an_error(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    line = "-w -t 4k -b 4k -o tf -O summaryFile="
    for words in ("/dev/full", "/dev/full,summaryFormat=JSON"):
        text = run(line + words, status=INPUT_OUTPUT)
        ensure("cannot write /dev/full (No space left on device)" in text, text[-800:])
    text = run(line + ".", status=USAGE)
    ensure("cannot write . (Is a directory)" in text, text[-800:])
    line = "-w -t 4k -b 4k -o tf "
    for words in (
        "-O summaryFile=",
        "-O summaryFormat=JSON,summaryFile=",
        "--json ",
        "--csv ",
        "-O saveRankPerformanceDetailsCSV=",
        "-O savePerOpDataCSV=",
        "-k -D 9 -O stoneWallingStatusFile=",
    ):
        text = run(line + words + "no/where", status=USAGE)
        ensure("cannot write no/where" in text and "MiB/s" not in text, text[-800:])
    for words in ("saveRankPerformanceDetailsCSV", "stoneWallingStatusFile"):
        text = run(f"{line} -O {words}=/dev/full", status=INPUT_OUTPUT)
        ensure("cannot write /dev/full (No space left on device)" in text, text[-800:])
    run.ensure_clean()


@BENCHMARK
def test_phases_and_tests_share_their_files_of_numbers(mpi: m.Mpi, folder: Path) -> None:
    """Each phase replaced the calls of the one before, each test of a script the ranks."""
    run = Ior(mpi=mpi, folder=folder)
    (folder / "script").write_text(
        "IOR START\ntestFile=tf\nblockSize=64k\ntransferSize=16k\nsavePerOpDataCSV=ops\n"
        "saveRankPerformanceDetailsCSV=ranks.csv\nRUN\nsegmentCount=2\nRUN\nIOR STOP\n"
    )
    run("-f script")
    lines = (folder / "ops-0-1.csv").read_text().splitlines()
    ensure(lines[0].startswith("time,runtime,tp,"), lines[0])
    phases = [tuple(line.split(",")[3:]) for line in lines[1:]]
    for test, calls in (("0", 4), ("1", 8)):
        for access in ("write", "read"):
            ensure(phases.count((access, test)) == calls, f"{access} of test {test}: {phases}")
    lines = (folder / "ranks.csv").read_text().splitlines()
    ensure(lines[0].endswith(",iter,test") and len(lines) == 1 + 2 * 2 * 2, f"{lines}")
    run.ensure_clean("script", "ops-0-0.csv", "ops-0-1.csv", "ranks.csv")


@BENCHMARK
def test_documents_keep_what_was_said_at_once(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    run("-w -k -t 64k -b 1m -G 5 -o tf")
    line = "-r -R -k -t 64k -b 1m -G 6 -o tf --json a.json -O summaryFormat="
    run(line + "default", status=DATA_WRONG)
    for text in ((folder / "a.json").read_text(), run(line + "JSON", status=DATA_WRONG)):
        made = json.loads(text[text.index("{") : text.rindex("}") + 1])["tests"][0]
        ensure(len(made["mismatches"]) == 10, f"{made['mismatches']}")
        ensure("tf, offset 0: expected 0x" in made["mismatches"][0], f"{made['mismatches']}")
        ensure("Incorrect data on read (32 errors found)" in made["warnings"][0], f"{made}")
    text = run(line + "CSV", status=DATA_WRONG)
    ensure("Incorrect data on read (32 errors found)" in text, text)
    text = run("-w -t 64k -b 1m -G 6 -o tf -O summaryFormat=JSON")
    made = json.loads(text[text.index("{") : text.rindex("}") + 1])["tests"][0]
    ensure("exists already" in made["warnings"][0], f"{made['warnings']}")


@BENCHMARK
def test_a_budget_is_of_all_tests_of_a_script(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    script = folder / "script"
    head = "IOR START\ntestFile=tf\nblockSize=1m\nwriteFile=1\n"
    script.write_text(head + "RUN\nRUN\nIOR STOP\n")
    text = run("-f script --budget-bytes 3m", status=REFUSED)
    ensure("it writes 4 MiB, the budget allows 3 MiB" in text, text[-800:])
    ensure("Max(MiB)" in text and not re.search(r"^write", text, re.M), text[-800:])
    run("-f script --budget-bytes 4m")
    delay = "api=DUMMY\ndummy.delay-xfer=300000\n"
    script.write_text(head + delay + "RUN\nRUN\nRUN\nRUN\nRUN\nRUN\nIOR STOP\n")
    run("-f script --budget-time 3", status=TIME_LIMIT)
    text = run("-D 300 -b 1m -t 1m -o tf")
    estimate = text[text.index("Estimate: ") :].splitlines()[0]
    ensure("at most 600 s" in estimate and "at least" not in estimate, estimate)
    run.ensure_clean("script")


@EACH
def test_blocks_of_many_transfers_fit_a_view(mpi: m.Mpi, folder: Path) -> None:
    """2^31 transfers of a block are more than an int counts."""
    run = Ior(mpi=mpi, folder=folder)
    line = "-t 8 -b 16g -w -D 1 -o tf -a MPIIO --mpiio.useFileView"
    run(f"{line}")
    run("-t 64k -b 256k -s 3 -w -r -R -o tf -a MPIIO -c --mpiio.useFileView")
    run.ensure_clean()


@BENCHMARK
def test_too_much_memory_is_said(mpi: m.Mpi, folder: Path) -> None:
    """Memory that there is not ended the ranks by std::terminate."""
    run = Ior(mpi=mpi, folder=folder)
    text = run("-t 64t -b 64t -D 1 -o tf", status=INPUT_OUTPUT)
    ensure("cannot take 64 TiB of memory" in text, text[-800:])
    for amount in ("200%", "x", "64t"):
        text = run(f"-t 4k -b 4k -M {amount} -o tf", status=USAGE)
        ensure("Give -M " in text, text[-800:])
    run.ensure_clean()


@BENCHMARK
def test_advice_is_no_warning(mpi: m.Mpi, folder: Path) -> None:
    """--warningAsErrors failed any run that read from the page cache, and the JSON said 0."""
    run = Ior(mpi=mpi, folder=folder)
    line = "-t 64k -b 1m -o tf --warningAsErrors --json a.json"
    for words, status in (("-w -r -k -u", GOOD), ("-w -k", INPUT_OUTPUT), ("-r", GOOD)):
        text = run(f"{line} {words}", status=status)
        made = json.loads((folder / "a.json").read_text())
        ensure(made["exit_status"] == status, f"{made['exit_status']} of {words}")
        ensure(bool(made["errors"]) == (status != GOOD), f"{made['errors']}")
        ensure(("had warnings" in text) == (status != GOOD), text[-800:])
    run.ensure_clean("a.json")


@BENCHMARK
def test_iors_own_data_is_called_corrupt(mpi: m.Mpi, folder: Path) -> None:
    """A file of the real IOR with the same -G; random data from its definition and rand_r."""
    run = Ior(mpi=mpi, folder=folder)
    words = bytearray()
    for at in range(0, 1 << 18, 1 << 16):  # 2 ranks, one block of two transfers each
        word = ctypes.CDLL(None).rand_r(ctypes.byref(ctypes.c_uint(42 + (at >> 17) + at)))
        for _ in range(1 << 13):
            word = (word * 0x9E37FFFFFFFC0001 % (1 << 64)) >> 3
            words += word.to_bytes(8, "little")
    (folder / "tf").write_bytes(words)
    line = "-t 64k -b 128k -l random -G 42 -k -o tf"
    run(f"-r -R --ior-compat {line}")
    text = run(f"-r -R {line}", status=DATA_WRONG)
    ensure("looks like IOR's (-l random). Add --ior-compat" in text, text[-2000:])
    run(f"-w --ior-compat {line}")
    ensure((folder / "tf").read_bytes() == words, "other data than IOR's is written")


@BENCHMARK
def test_queues_and_mixed_transfers_move_all(mpi: m.Mpi, folder: Path) -> None:
    run = Ior(mpi=mpi, folder=folder)
    for words in ("-r -R -G 3 --iodepth=8", "--rwmixpct=30 --iodepth=4", "--rwmixpct=30 -z"):
        run(f"-w -W {words} -t 4k -b 1m -o tf --json a.json")
        results = json.loads((folder / "a.json").read_text())["tests"][0]["Results"]
        moved = {one["access"]: one["latency_of_transfers"]["transfers"] for one in results}
        mixed = "mix" in words
        ensure(sum(moved.values()) == (512 if mixed else 1024), f"{words}: {moved}")
        ensure(150 <= moved["read"] <= 155 or not mixed, f"{words}: {moved}")
    run("-w --limitwrite=4m -t 64k -b 1m -o tf --json a.json")
    result = json.loads((folder / "a.json").read_text())["tests"][0]["Results"][0]
    ensure(result["wrRdTime"] > 0.23, f"no limit: {result}")
    run.ensure_clean("a.json")


@BENCHMARK
def test_a_queue_wears_out(mpi: m.Mpi, folder: Path) -> None:
    """Behind the wall nothing more was submitted: the ranks kept files of different lengths."""
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    line = "-a POSIX -F -k -G 5 -t 64 -b 512m -o tf --iodepth=4 -O stoneWallingStatusFile=s"
    run(f"{line} -w -D 1 -O stoneWallingWearOut=1")
    sizes = [(folder / f"tf.0000000{rank}").stat().st_size for rank in range(2)]
    ensure(sizes[0] == sizes[1] and 0 < sizes[0] < 512 << 20, f"{sizes}")
    run(f"{line} -r -R")
    run.ensure_clean("s", "tf.00000000", "tf.00000001")


@BENCHMARK
def test_a_queue_that_the_kernel_refuses_ends(mpi: m.Mpi, folder: Path) -> None:
    """A transfer that could not be submitted was waited for, and a failing wait repeated, for
    ever."""
    shim = m.shim(mpi, folder / "refuse.c", REFUSING_RING)
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    os.mkfifo(folder / "full")  # what a pipe has no room for is under way until someone reads
    line = "-w -k -E -a POSIX --iodepth=4 -t 64k -b 1m -o"
    for call in ("submit", "wait for"):
        text = run(f"{line} full", status=INPUT_OUTPUT, LD_PRELOAD=str(shim), REFUSED_CALL=call)
        ensure(f"cannot {call} a transfer (" in text, text[-800:])
    run.ensure_clean("full", "refuse.c", "refuse.so")


REFUSING_RING = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
__attribute__((constructor)) static void refuse(void) {
    const char *call = getenv("REFUSED_CALL");
    const int submits = call != NULL && strcmp(call, "submit") == 0;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, submits ? 1 : 0, submits ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        abort();
    }
}
"""


@FULL
@BENCHMARK
def test_a_limited_rate_is_no_stall(mpi: m.Mpi, folder: Path) -> None:
    """A rank that slept for its turn was said to stand still."""
    run = Ior(mpi=mpi, folder=folder, seconds_max=PATIENCE)
    for words in ("", "--iodepth=2"):
        run(f"-w --limitwrite=200k -t 1m -b 2m --stall-limit 2s {words} -o tf")
    run.ensure_clean()


@BENCHMARK
def test_a_queue_quits_on_wrong_data(mpi: m.Mpi, folder: Path) -> None:
    """-q was heeded by transfers one by one only."""
    run = Ior(mpi=mpi, folder=folder)
    line = "-k -a POSIX -t 4k -b 1m -o tf"
    run(f"{line} -w -G 5")
    for depth in (1, 4):
        text = run(f"{line} -r -R -q -G 6 --iodepth={depth}", status=DATA_WRONG)
        found = re.search(r"Incorrect data on read \((\d+) errors found\)", text)
        ensure(found and 2 <= int(found[1]) <= 2 * depth, text[-800:])
    run.ensure_clean("tf")
