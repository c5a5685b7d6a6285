"""Programs that nobody captures, started by one that is: they see what was written before, and
what they write stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suite import pooled
from suite.ordinary_user import IS_ROOT, ordinary_user
from suite.verdict import ensure

# Every way to start a program, each with an environment that brings no library of ours.
WAYS = """
import ctypes, os, shutil, subprocess, sys

clean = {"PATH": "/usr/bin:/bin"}

def forked(start):
    child = os.fork()
    if child == 0:
        start()
        os._exit(1)
    os.waitpid(child, 0)

def by_system():
    forked(lambda: (os.unsetenv("LD_PRELOAD"),
                    os._exit(os.waitstatus_to_exitcode(os.system("cat result.txt")))))

def by_popen():
    libc = ctypes.CDLL(None)
    libc.popen.restype = ctypes.c_void_p
    libc.pclose.argtypes = [ctypes.c_void_p]
    def start():
        os.unsetenv("LD_PRELOAD")
        libc.pclose(libc.popen(b"cat result.txt", b"w"))
        os._exit(0)
    forked(start)

def by_fexecve():
    fd = os.open("/bin/cat", os.O_RDONLY)
    forked(lambda: os.execve(fd, ["cat", "result.txt"], clean))

# The kernel does not know what to do with it, and libc has the shell run it.
def by_script():
    with open("script", "w") as script:
        script.write("cat result.txt\\n")
    os.chmod("script", 0o755)
    words = (ctypes.c_char_p * 2)(b"./script", None)
    forked(lambda: (os.unsetenv("LD_PRELOAD"), ctypes.CDLL(None).execvp(b"./script", words)))

def by_wordexp():
    show_errors = 16
    def start():
        os.unsetenv("LD_PRELOAD")
        words = ctypes.create_string_buffer(64)
        os._exit(ctypes.CDLL(None).wordexp(b"$(cat result.txt >&2)", words, show_errors))
    forked(start)

# Found by libc in a list of folders, of which an empty one is the current one.
def by_path(name, folders):
    words = (ctypes.c_char_p * 3)(name.encode(), b"result.txt", None)
    def start():
        os.unsetenv("LD_PRELOAD")
        os.putenv("PATH", folders)
        ctypes.CDLL(None).execvp(name.encode(), words)
    forked(start)

def by_last_empty_folder():
    shutil.copy("/bin/cat", "reader")
    by_path("reader", "/nowhere:")

def by_empty_path():
    shutil.copy("/bin/cat", "reader")
    by_path("reader", "")

def behind_a_folder_of_its_name():
    os.makedirs("first/cat")
    by_path("cat", "first:/usr/bin:/bin")

WAYS = {
    "subprocess": lambda: subprocess.run(["cat", "result.txt"], env=clean, check=True),
    "execve": lambda: forked(lambda: os.execve("/bin/cat", ["cat", "result.txt"], clean)),
    "execvpe": lambda: forked(lambda: os.execvpe("cat", ["cat", "result.txt"], clean)),
    "execv": lambda: forked(lambda: (os.unsetenv("FOREBAY_POOL_SOCKET"),
                                     os.execv("/bin/cat", ["cat", "result.txt"]))),
    "execvp": by_script,
    "fexecve": by_fexecve,
    "posix_spawn": lambda: os.waitpid(
        os.posix_spawn("/bin/cat", ["cat", "result.txt"], clean), 0),
    "posix_spawnp": lambda: os.waitpid(os.posix_spawnp("cat", ["cat", "result.txt"], clean), 0),
    "system": by_system,
    "popen": by_popen,
    "wordexp": by_wordexp,
    "execvp, last empty folder": by_last_empty_folder,
    "execvp, empty PATH": by_empty_path,
    "execvp, behind a folder of its name": behind_a_folder_of_its_name,
    "env -i": lambda: subprocess.run(["env", "-i", "cat", "result.txt"], check=True),
    "env -u": lambda: subprocess.run(["env", "-u", "LD_PRELOAD", "cat", "result.txt"], check=True),
    "switched off": lambda: subprocess.run(
        ["env", "FOREBAY_ENABLED=0", "cat", "result.txt"], check=True),
}
with open("result.txt", "w") as file:
    file.write("what was written before\\n" * 1000)
sys.stdout.flush()
WAYS[sys.argv[1]]()
with open("after.txt", "w") as file:
    file.write("pooled again" * 1000)
"""
WAY_NAMES = [line.split('"')[1] for line in WAYS.splitlines() if line.startswith('    "')]


@pytest.mark.parametrize("way", WAY_NAMES)
def test_a_child_without_the_library_sees_what_was_written(way: str, folder: Path) -> None:
    pooled.Twice(command=[sys.executable, "-c", WAYS, way]).ensure_same(folder)


APPENDED = """
import subprocess
clean = {"PATH": "/usr/bin:/bin"}
log = open("job.log", "w", buffering=1)
for turn in range(5):
    log.write(f"header {turn}\\n")
    subprocess.run("echo appended by the child >> job.log", shell=True, env=clean)
    log.seek(0, 2)
print(open("job.log").read())
log.truncate(20)
subprocess.run("wc -c job.log; : > job.log", shell=True, env=clean)
log.seek(0, 2)
log.write("the end\\n")
"""


def test_a_childs_bytes_are_not_overwritten_by_deposits_of_its_parent(folder: Path) -> None:
    pooled.Twice(command=[sys.executable, "-c", APPENDED]).ensure_same(folder)


# The child lives on in the background, where its parent goes on writing; it closes what it has
# inherited, or its own child does.
LIVES_ON = """
import os, subprocess, sys, time
clean = {"PATH": "/usr/bin:/bin"}
closes = "exec 512>&- 513>&-; " if sys.argv[1] == "closes" else ""
script = closes + "(echo ready; read line < go; cat file > seen; echo done)"
child = subprocess.Popen(["bash", "-c", script], env=clean, stdout=subprocess.PIPE, text=True)
assert child.stdout.readline() == "ready\\n"
with open("file", "w") as file:
    file.write("written while the child lives\\n" * 100)
with open("go", "w") as go:
    go.write("on\\n")
assert child.stdout.readline() == "done\\n"
child.wait()
"""


@pytest.mark.parametrize("way", ["keeps", "closes"])
def test_what_is_written_while_such_a_child_lives_is_written_through(
    way: str, folder: Path
) -> None:
    with pooled.pool(folder) as served:
        subprocess.run(["mkfifo", served.folder / "go"], check=True)
        command = [sys.executable, "-c", LIVES_ON, way]
        pooled.run(command, served.folder, served.environment())
        seen = (served.folder / "seen").read_text()
        ensure(seen == "written while the child lives\n" * 100, f"it saw {len(seen)} bytes")
        told = served.status()
        ensure(any("bash (its environment" in note for note in told.notes), f"{told.notes}")
        reasons = {Path(file.path).name: file.reason for file in told.files}
        ensure(reasons["file"] == "uncaptured", f"{reasons}")


COMES_BACK = """
import os, subprocess, sys, time
clean = {"PATH": "/usr/bin:/bin"}
fd = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(fd, b"a" * 1000)
subprocess.run(["truncate", "-s", "500", "file"], env=clean)
print(os.fstat(fd).st_size, flush=True)
os.lseek(fd, 0, os.SEEK_END)
while not os.path.exists("../stop"):
    os.write(fd, b"c" * 10)
    time.sleep(0.001)
"""


def test_files_are_pooled_again_behind_such_a_child(folder: Path) -> None:
    with pooled.pool(folder) as served:
        program = subprocess.Popen(
            [sys.executable, "-c", COMES_BACK],
            cwd=served.folder,
            env={**os.environ, **served.environment()},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            pooled.until(lambda: served.taken() > 1000, "it is pooled again")
        finally:
            (folder / "stop").touch()
            said, _ = program.communicate(timeout=pooled.SECONDS_MAX)
        ensure(said == "500\n", f"it says {said}")
    left = (served.folder / "file").read_bytes()
    ensure(left.rstrip(b"c") == b"a" * 500, f"{len(left)} bytes are another's")


READS = (
    '#include <stdio.h>\nint main(void) { char line[80] = "nothing"; FILE* f = fopen("file", '
    '"r"); fgets(line, 80, f); puts(line); fclose(f); return 0; }\n'
)
WRITTEN_THEN_READ = """
import subprocess, sys
with open("file", "w") as file:
    file.write("what was written before")
print(subprocess.run(sys.argv[1:], capture_output=True, text=True))
"""


def _built(folder: Path, compiler: list[str], text: str = READS) -> Path:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"there is no {compiler[0]}")
    source = folder / "program.c"
    source.write_text(text)
    made = folder / "program"
    subprocess.run([*compiler, "-O1", "-o", made, source], check=True)
    return made


@pytest.mark.parametrize(
    "compiler",
    [["musl-gcc"], ["musl-gcc", "-static"], ["gcc", "-static"], ["gcc", "-static-pie"], ["gcc"]],
    ids=" ".join,
)
@pytest.mark.parametrize("is_script", [False, True], ids=["program", "script"])
def test_a_program_of_another_loader_starts_and_sees_what_was_written(
    compiler: list[str], is_script: bool, folder: Path
) -> None:
    command = _built(folder, compiler)
    if is_script:
        script = folder / "script"
        script.write_text(f"#!{command} x\n")
        script.chmod(0o755)
        command = script
    words = [sys.executable, "-c", WRITTEN_THEN_READ, command]
    pooled.Twice(command=words).ensure_same(folder)


def test_a_program_with_set_user_id_sees_what_was_written(folder: Path) -> None:
    command = _built(folder, ["gcc"])
    shutil.chown(command, "nobody")
    command.chmod(0o4755)
    for path in (folder, *folder.parents):
        if not path.stat().st_mode & 1:
            pytest.skip("another user does not reach the folder")
    pooled.Twice(command=[sys.executable, "-c", WRITTEN_THEN_READ, command]).ensure_same(folder)


@pytest.mark.skipif(not IS_ROOT, reason="only root gives a file capabilities")
def test_a_program_with_file_capabilities_sees_what_was_written() -> None:
    """The loader preloads nothing into it, but only where its user has not got them anyway."""
    if shutil.which("setcap") is None:
        pytest.skip("there is no setcap. Install libcap2-bin.")
    with ordinary_user() as user:
        below = user.new_folder("below")
        program = user.folder / "reader"
        shutil.copy("/bin/cat", program)
        subprocess.run(["setcap", "cap_net_raw+ep", program], check=True)
        words = [*user.forebay, "run", "--pool", ".", "--set", "pool_quiet=60000", "--"]
        words += [user.python, "-c", WRITTEN_THEN_READ, str(program), "file"]
        done = user.run(*words, within=below)
    ensure("stdout='what was written before'" in done.stdout, done.stdout + done.stderr)
    ensure("1 file" in done.stderr, f"nothing went through the pool:\n{done.stderr}")


def test_a_program_in_another_root_sees_what_was_written(folder: Path) -> None:
    root = folder / "root"
    root.mkdir()
    _built(root, ["gcc", "-static"])
    text = """
import os, subprocess, sys
with open("file", "w") as file:
    file.write("what was written before")
os.link("file", sys.argv[1] + "/file") if not os.path.exists(sys.argv[1] + "/file") else None
print(subprocess.run(["chroot", sys.argv[1], "/program"], capture_output=True, text=True))
os.unlink(sys.argv[1] + "/file")
"""
    pooled.Twice(command=[sys.executable, "-c", text, root]).ensure_same(folder)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19 -shared-libsan"])
def test_a_program_with_address_sanitizer_starts(compiler: str, folder: Path) -> None:
    command = _built(folder, [*compiler.split(), "-fsanitize=address"])
    words = [sys.executable, "-c", WRITTEN_THEN_READ, command]
    run_time = subprocess.run(
        [compiler.split()[0], "-print-file-name=libclang_rt.asan-x86_64.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    environment = {"LD_LIBRARY_PATH": str(Path(run_time).parent)} if "/" in run_time else {}
    pooled.Twice(command=words, environment=environment).ensure_same(folder)


def test_a_program_under_valgrind_is_looked_through_in_little_time(folder: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("there is no valgrind")
    command = _built(folder, ["gcc"])
    words = [sys.executable, "-c", WRITTEN_THEN_READ, "valgrind", "-q", command]
    pooled.Twice(command=words, seconds_max=60).ensure_same(folder)


def test_a_program_that_cannot_be_started_leaves_the_pool_as_it_is(folder: Path) -> None:
    (folder / "no").write_bytes(b"\\x7fELF" + bytes(200))
    (folder / "no").chmod(0o755)
    text = """
import os, sys
for name in (sys.argv[1], "/not/there"):
    try:
        os.execve(name, [name], {})
    except OSError as error:
        print(error)
with open("file", "w") as file:
    file.write("pooled" * 1000)
"""
    with pooled.pool(folder) as served:
        command = [sys.executable, "-c", text, folder / "no"]
        pooled.run(command, served.folder, served.environment())
        ensure(served.taken() == 6000, f"{served.status()}")


def test_a_captured_child_has_nothing_written_through(folder: Path) -> None:
    text = "import subprocess\nopen('f', 'w').write('x' * 1000)\nsubprocess.run(['true'])\n"
    with pooled.pool(folder) as served:
        pooled.run([sys.executable, "-c", text], served.folder, served.environment())
        ensure(not served.status().notes, f"{served.status().notes}")


CHROOTED = """
import os, sys
with open("file", "w") as file:
    file.write("what was written before")
kept = open("kept", "w", buffering=1)
kept.write("before, ")
os.chroot(".")
print(open("/file").read(), flush=True)
kept.write("in another root, ")
if os.fork() == 0:
    kept.write("of its child")
    os._exit(0)
os.wait()
open("/file", "a").write(" and after")
print(open("/file").read(), os.path.getsize("/kept"))
"""


def test_a_process_that_changes_its_root_goes_on_without_the_pool(folder: Path) -> None:
    pooled.Twice(command=[sys.executable, "-c", CHROOTED]).ensure_same(folder)


# Files that others have written through the pool, met by names outside of it.
OTHER_NAMES = """
import os, subprocess, sys
way, outside = sys.argv[1], os.path.join(sys.argv[2], os.path.basename(os.getcwd()))
os.makedirs(outside)
name = os.path.join(outside, "file")
kept = open("file", "w")
kept.write("what was written before")
kept.flush()
if way == "link":
    os.link("file", name)
elif way == "rename":
    os.rename("file", name)
elif way == "mount":
    subprocess.run(["mount", "--bind", ".", outside], check=True)
elif way == "symbolic":
    os.symlink(os.path.abspath("file"), name)
open("left", "w").close()
try:
    subprocess.run(["cat", name], check=True)
    print(subprocess.run(["stat", "-L", "-c", "%s", name], capture_output=True).stdout)
    print(open(name).read(), os.path.getsize(name), flush=True)
    # Elsewhere in the same process, and in another one, what is written there is not lost.
    subprocess.run(["python3", "-c", "import os,sys; fd = os.open(sys.argv[1], os.O_WRONLY);"
                    "os.pwrite(fd, b'WHAT', 0)", name], check=True)
    kept.write(" and after")
    kept.close()
    print(open(name).read())
    with open(name, "w") as emptied:
        emptied.write("anew")
    print(open(name if way == "rename" else "file").read(), flush=True)
finally:
    if way == "mount":
        subprocess.run(["umount", outside], check=True)
"""


@pytest.mark.parametrize("way", ["link", "rename", "mount", "symbolic"])
def test_a_file_is_the_same_by_another_name(way: str, folder: Path) -> None:
    words = [sys.executable, "-c", OTHER_NAMES, way, folder / "outside"]
    if way == "mount":
        words = ["unshare", "-m", *words]
        if subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
            pytest.skip("nothing can be mounted here")
    pooled.Twice(command=words, deposits=way != "mount").ensure_same(folder)
