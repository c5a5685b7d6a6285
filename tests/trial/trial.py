"""The trial of tests/trial.sh, by the user: every case, every example of every help page, every
option, the manual, the completions, the module files. Needs nothing but Python and the tree."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cases import MET, NEVER, RIGHT, WRONG, Case

SECONDS_MAX = 300
# An example's words, and the user's.
PLACES = (
    (r"--tier /scratch/me=/local/nvme/me", "--tier run=fast"),
    (r"tier (start|stop) /scratch/me\b", r"tier \1 tiered"),
    (r"tier start \.", "tier start tiered"),
    (r"/scratch/me/(restart|input|logs)(?=\s|$)", "tiered"),
    (r"/local/nvme/me|/dev/shm/me|/bb/me", "fast"),
    (r"/scratch/me\b|/home/me\b|/scratch\b(?=\s|$)", "."),
    (r"/scratch/", "./"),
    (r"--io-ranks 2 -- mpiexec -n 10 \./program\b.*", "--io-ranks 1 -- mpiexec -n 2 ./program"),
    (r"mpiexec -n \d+ \./program\b.*", "mpiexec -n 2 ./program"),
    (r"mpiexec -n (4|64)(?=$| forebay-ior)", "mpiexec -n 2"),
    (r"--(level standard|resume)\b", r"--\1 --seconds 20"),
    (r"--record run\.jsonl -o advice\.json", "--record run.jsonl -o keep.json"),
    (r"mpiexec -n 8 python .*", "mpiexec -n 2 ./program"),
    (r"-np \d+", "-np 2"),
    (r"-n 1000\b", "-n 10"),
    (r"-b (16|64)m\b", "-b 4m"),
    (r"\bregion_count=\d+", "region_count=20"),
    (r"\$PREFIX", "{prefix}"),
)
# There is no rescue file without a defect of a file system. A screen ends when it is told to.
NO_SUCH_HERE = re.compile(r"\bsrun\b|job\.sh|\.\.\. *$|forebay-rescue-|status --watch")
# A file system without stripes; what the machine lacks is a finding; verdicts on an advice that is
# for another machine. PyDarshan is there or not. No daemon runs unless an example has started one.
ALSO_FINE = {
    "forebay layout set": {1},
    "forebay doctor": {1},
    "forebay apply": {5},
    "forebay verify": {3, 4, 5},
    "forebay pool drain": {1},
    "forebay report before.darshan": {1, 125},
    "forebay report logs/": {1, 125},
    "forebay report --format json job.darshan": {1, 125},
    "forebay report --portrait scratch.toml job.darshan": {1, 125},
    "forebay report job.darshan": {1, 125},
    "forebay advise --portrait scratch.toml --darshan": {1, 125},
}


class Trial:
    """Runs lines and counts."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.passed = 0
        self.failed: list[str] = []
        self.typed: list[str] = []

    def run(self, line: str) -> tuple[int, str]:
        """Exit status and output of what the shell makes of it."""
        self.typed.append(line)
        try:
            done = subprocess.run(
                ["bash", "-c", line],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"did not end within {SECONDS_MAX} s"
        return (done.returncode, done.stdout)

    def expect(self, what: str, is_so: bool, output: str = "") -> None:
        if is_so:
            self.passed += 1
        else:
            self.failed.append(what)
            print(f"-- {what}\n{output[-3000:]}", flush=True)

    def case(self, case: Case) -> None:
        """Status, and what it says and does not say."""
        places = {"{tmp}": tempfile.gettempdir(), "{home}": str(Path.cwd())}
        line = case.line
        for place, path in places.items():
            line = line.replace(place, path)
        status, output = self.run(line)
        wrong = [] if status == case.status else [f"status {status}, not {case.status}"]
        for pattern in case.says:
            if not re.search(pattern.replace("{tmp}", places["{tmp}"]), output, re.MULTILINE):
                wrong.append(f"does not say {pattern}")
        for pattern in (*NEVER, *case.never):
            if re.search(pattern, output):
                wrong.append(f"says {pattern}")
        self.expect(f"{line}: {', '.join(wrong)}", not wrong, output)

    def help_pages(self, words: str = "forebay") -> Iterator[tuple[str, str]]:
        """(command, its help), of all that the help names."""
        status, text = self.run(f"{words} --help")
        self.expect(f"{words} --help", status == 0, text)
        yield words, text
        _, _, below = text.partition("\nCommands:\n")
        for name in re.findall(r"^  ([\w-]+)  ", below, re.MULTILINE):
            yield from self.help_pages(f"{words} {name}")

    def example(self, command: str, line: str) -> None:
        for pattern, ours in PLACES:
            line = re.sub(pattern, ours.replace("{prefix}", str(self.prefix)), line)
        status, output = self.run(line)
        fine = {0} | next((also for key, also in ALSO_FINE.items() if line.startswith(key)), set())
        is_fine = status in fine and not any(re.search(one, output) for one in NEVER)
        self.expect(f"example of {command}: {line} (status {status})", is_fine, output)


def examples(text: str) -> Iterator[str]:
    """The lines of a help text that begin with the command, without what is said about them."""
    joined = re.sub(r" *\\\n +", " ", text)
    for line in re.findall(
        r"^ +(forebay (?:run|doctor|[\w-]+ ).*|forebay settings.*)$", joined, re.M
    ):
        words = re.sub(
            r"(?<=\S) {3,}\S.*$| {2,}(?=[a-z]\w+ ).*$", "", re.sub(r" {5,}(?=\S+=)", " ", line)
        )
        if not NO_SUCH_HERE.search(words):
            yield words.strip()


def options(text: str) -> Iterator[list[str]]:
    """The spellings of each option that a help page lists."""
    for spelling in re.findall(r"^ {2}(-{1,2}[a-z].*?)(?: {2,}|$)", text, re.MULTILINE | re.I):
        yield re.findall(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*", spelling)


def prepare(trial: Trial) -> None:
    """Makes the files that a user has: a program for each MPI, files of settings."""
    here = Path(__file__).parent
    for mpi in ("mpich", "openmpi"):
        status, output = trial.run(f"mpicc.{mpi} -O1 {here}/program.c -o program.{mpi}")
        trial.expect(f"a program for {mpi}", status == 0, output)
    told = trial.run("mpiexec --version")[1]
    of_default = "openmpi" if "Open MPI" in told or "OpenRTE" in told else "mpich"
    shutil.copy(f"program.{of_default}", "program")
    Path("serial").write_text("#!/usr/bin/env python3\nopen('serial.out', 'wb', 0).write(b'x')\n")
    Path("serial").chmod(0o755)
    for name in ("restarts", "run", "tiered"):
        Path(name).mkdir()
    for name in ("f", "restart.nc", "job.darshan"):
        Path(name).write_text("a file\n", encoding="utf-8")
    Path("rules.toml").write_text(
        '[[rule]]\nname = "at most two aggregators a node"\nsource = "the handbook"\nprior = 0.7\n'
        'when = ["collective"]\nthen = ["per_node <= 2"]\n',
        encoding="utf-8",
    )
    Path("site.toml").write_text('cb_nodes = 2\ncb_buffer_size = "1 MiB"\n', encoding="utf-8")
    Path("wrong.toml").write_text("cb_node = 2\n", encoding="utf-8")


def try_help(trial: Trial) -> None:
    """Every example runs; every option of a page of ours was typed in some line."""
    pages = dict(trial.help_pages())
    lines = {line: page for page, text in pages.items() for line in examples(text)}
    for line, page in lines.items():
        trial.example(page, line)
    for page, text in pages.items():
        for names in options(text):
            typed = any(
                re.search(rf"{page}\b[^;|&]*(?<!\S){re.escape(name)}(?![\w-])", line)
                for line in trial.typed
                for name in names
            )
            if page.startswith("forebay bench "):  # one text for four commands
                typed = typed or any(
                    re.search(rf" {name}\b", line) for line in trial.typed for name in names
                )
            trial.expect(f"{page} {names[-1]} was tried", typed or names[-1] in _ON_STRIPES)


# Their page tells where they work; here they would only be refused as -c is.
_ON_STRIPES = {"--striping-unit", "--first-ost", "--pool", "--format"}


def try_manual(trial: Trial) -> None:
    pages = sorted((trial.prefix / "share/man/man1").glob("*.1"))
    trial.expect("a manual", len(pages) >= 16)
    for page in pages:
        status, output = trial.run(f"man --warnings -l {page} 2>&1 >{page.stem}.txt")
        trial.expect(f"man -l {page.name}", status == 0 and not output, output)
        shown = Path(f"{page.stem}.txt").read_text(encoding="utf-8")
        trial.expect(f"{page.name} is complete", "NAME" in shown and "SYNOPSIS" in shown, shown)
        status, output = trial.run(f"MANPATH={trial.prefix}/share/man man {page.stem}")
        trial.expect(f"man {page.stem}", status == 0 and page.stem in output, output)
    status, output = trial.run("env -u MANPATH man -w forebay-run")
    trial.expect("man finds it by PATH", status == 0, output)


# The text before the tab key, and the completions that it has to offer.
TABS = (
    ("forebay ", "run doctor settings simulate layout bench pool"),
    ("forebay pool st", "start status stop"),
    ("forebay layout ", "show set"),
    ("forebay bench c", "compare"),
    ("forebay run --s", "--settings --set --summary"),
    ("forebay run --c", "--compare"),
    ("forebay run --p", "--pool --pairs"),
    ("forebay run --set cb_", "cb_nodes= cb_buffer_size="),
    ("forebay doctor --s", "--site"),
    ("forebay settings --o", "--origin"),
    ("forebay pool status --format o", "openmetrics"),
    ("forebay run --format ", "text json"),
    ("forebay simulate lap", "laptop"),
    ("forebay simulate laptop region_c", "region_count="),
    ("forebay bench ior --posix.odi", "--posix.odirect"),
    ("forebay-ior --posix.odi", "--posix.odirect"),
)


def try_completion(trial: Trial) -> None:
    share = trial.prefix / "share"
    script = share / "bash-completion/completions/forebay"
    for line, wanted in TABS:
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        status, output = trial.run(
            f"source {script}; COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}; _forebay; "
            'echo "${COMPREPLY[@]}"'
        )
        offered = set(output.split())
        trial.expect(f"bash completes {line!r}", set(wanted.split()) <= offered, output)
        if shutil.which("fish"):
            files = share / "fish/vendor_completions.d"
            status, output = trial.run(
                f"fish -c 'for f in {files}/*.fish; source $f; end; complete -C \"{line}\"'"
            )
            offered = {row.split("\t")[0] for row in output.splitlines()}
            trial.expect(f"fish completes {line!r}", set(wanted.split()) <= offered, output)
    if shutil.which("zsh"):
        status, output = trial.run(f"zsh -n {share}/zsh/site-functions/_forebay")
        trial.expect("zsh reads its completion", status == 0, output)


def try_modules(trial: Trial) -> None:
    """Each where its tool is installed."""
    modules = trial.prefix / "share/modulefiles"
    ask = f"module use {modules} && module load forebay && echo $FOREBAY_ROOT && forebay --version"
    for tool, start in (
        ("Lmod", "/usr/share/lmod/lmod/init/bash"),
        ("Environment Modules", "/usr/share/modules/init/bash"),
    ):
        if Path(start).is_file():
            status, output = trial.run(f"PATH=/usr/bin:/bin; source {start}; {ask}")
            is_so = status == 0 and str(trial.prefix) in output and "forebay " in output
            trial.expect(f"{tool} loads the module", is_so, output)


def main(prefix: Path) -> int:
    trial = Trial(prefix)
    begin = time.monotonic()
    prepare(trial)
    for case in (*RIGHT, *WRONG, *MET):
        trial.case(case)
    for part in (try_help, try_manual, try_completion, try_modules):
        part(trial)
    print(f"\n{len(trial.typed)} lines typed in {time.monotonic() - begin:.0f} s")
    for what in trial.failed:
        print(f"failed: {what}")
    print(f"{trial.passed} passed, {len(trial.failed)} failed")
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
