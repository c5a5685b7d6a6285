"""Ways past the capture: in a mount, a captured program may do what the capture does not see
(docs/internals/posix.md, "What is not covered"). It finds what it finds in a plain folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from suite import mounted as mo
from suite import mpi as m
from suite import pooled
from suite.verdict import ensure

pytestmark = mo.needs_mount

# Each script begins with a file whose captured writes are deposits; plain, nobody captures it.
BEGIN = """
import ctypes, fcntl, mmap, os, socket, struct, subprocess, sys, time
MIB = 1 << 20
libc = ctypes.CDLL("libc.so.6", use_errno=True)  # its own functions, not those of the capture
def made(name="f"):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(MIB))
    try:
        fcntl.ioctl(fd, 0x8028fb02, bytearray(40))  # FOREBAY_POOL_GET, answered by the capture
    except OSError:
        assert "LD_PRELOAD" not in os.environ, "it is not captured"
    return fd
fd = made()
os.write(fd, b"first ")
"""

SCRIPTS: Mapping[str, str] = {
    "libcs_own_functions": """
libc.write(fd, b"second ", 7)
os.write(fd, b"third ")
libc.dprintf(fd, b"%d lines\\n", 4)
trace = (ctypes.c_void_p * 1)(ctypes.cast(libc.write, ctypes.c_void_p).value)
libc.backtrace_symbols_fd(trace, 1, fd)
os.write(fd, b"last")
found = os.pread(fd, 1000, MIB)
print(found.split(b"\\n")[0], found.endswith(b"\\nlast"), len(found) + MIB == os.fstat(fd).st_size)
print(libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(8192)), os.pread(fd, 3, MIB))
os.ftruncate(fd, MIB)  # the trace has addresses
""",
    "libcs_own_sizes": """
name, number, place = ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p
call = ctypes.CFUNCTYPE(number, name, place, number, place)
sizes = []
def seen(name, status, kind, walk):
    sizes.append((name, struct.unpack_from("q", ctypes.string_at(status, 144), 48)[0]))
    return 0
libc.nftw(b"f", call(seen), 5, 0)
print(sizes)
""",
    "calls_by_number": """
room = bytearray(256)
got = libc.syscall(332, -100, b"f", 0, 0x7ff, (ctypes.c_char * 256).from_buffer(room))  # statx
print(got, struct.unpack_from("Q", room, 40)[0])
here = (ctypes.c_char * 6)()
libc.syscall(17, fd, here, ctypes.c_size_t(6), ctypes.c_long(MIB))  # pread64
print(here.raw)
libc.syscall(1, fd, b"second ", 7)  # write
os.write(fd, b"third")
print(os.pread(fd, 99, MIB))
""",
    "children_without_the_capture": """
def run(words):
    script = "import os; " + words
    return subprocess.run([sys.executable, "-c", script], env={}, stdout=-1, check=True).stdout
print(run(f"os.write(1, os.pread(os.open('f', 0), 9, {MIB})); print(os.stat('f').st_size)"))
run("os.write(os.open('f', os.O_WRONLY | os.O_APPEND), b'appended ')")
os.write(fd, b"or not ")
print(os.pread(fd, 99, MIB))
fd = made("g")
os.write(fd, b"first ")
os.set_inheritable(fd, True)
words = [sys.executable, "-c", f"import os; os.write({fd}, b'second ')"]
subprocess.run(words, env={}, close_fds=False, check=True)
os.write(fd, b"third")
print(os.pread(fd, 99, MIB))
""",
    "a_child_of_clone": """
print(subprocess.run([os.environ["WAYS"], "clone"], stdout=-1, check=True).stdout)
""",
    "programs_of_other_makes": """
for program in os.environ["OTHERS"].split():
    os.pwrite(fd, b"of " + os.path.basename(program).encode() + b" ", MIB)
    print(program, subprocess.run([program, "read"], stdout=-1, check=True).stdout)
    subprocess.run([program, "append"], check=True)
    print(os.pread(fd, 999, MIB))
""",
    "node": """
script = "fs = require('fs'); console.log(fs.statSync('f').size, fs.readFileSync('f').length)"
print(subprocess.run(["node", "-e", script], stdout=-1, check=True).stdout)
""",
    "a_descriptor_that_is_sent": """
one, other = socket.socketpair()
words = "import os, socket, sys; s = socket.socket(fileno=int(sys.argv[1])); "
words += "fd = socket.recv_fds(s, 9, 1)[1][0]; os.write(fd, b'second '); s.send(b'x'); s.recv(1); "
words += f"os.write(1, os.pread(fd, 99, {MIB}))"
program = [sys.executable, "-c", words, str(other.fileno())]
with subprocess.Popen(program, pass_fds=[other.fileno()], stdout=-1, env={}) as receiver:
    socket.send_fds(one, [b"x"], [fd])
    one.recv(1)
    os.write(fd, b"third")
    one.send(b"x")
    print(receiver.communicate()[0])
""",
    "a_descriptor_that_is_taken": """
words = "import ctypes, os, sys; take = ctypes.CDLL(None).syscall; "
words += "fd = take(438, os.pidfd_open(os.getppid()), int(sys.argv[1]), 0); "  # pidfd_getfd
words += f"os.write(fd, b'second '); os.write(1, os.pread(fd, 99, {MIB}))"
print(subprocess.run([sys.executable, "-c", words, str(fd)], env={}, stdout=-1).stdout)
os.write(fd, b"third")
print(os.pread(fd, 99, MIB))
""",
    "blocks": """
os.write(fd, bytes(range(1, 256)) * 4200)
print(os.fstat(fd).st_blocks > 2000)
subprocess.run(["tar", "-cSf", "a.tar", "f"], check=True, env={"PATH": os.environ["PATH"]})
subprocess.run(["tar", "-dSf", "a.tar", "f"], check=True)
os.unlink("a.tar")  # it has times
print(subprocess.run(["du", "-k", "f"], stdout=-1, check=True).stdout.split()[0] > b"1000")
""",
    "a_library_that_was_just_written": """
with open(os.environ["LIBRARY"], "rb") as file:
    library = file.read()
for name in ("l.so", "libl.so"):
    made(name)
    other = os.open(name, os.O_RDWR)
    os.truncate(name, 0)
    os.write(other, library + bytes(MIB))
    print(ctypes.CDLL("./" + name).answer())
""",
    "a_program_that_was_just_written": """
with open("/bin/echo", "rb") as file:
    os.pwrite(fd, file.read(), 0)
os.close(fd)
os.chmod("f", 0o755)
print(subprocess.run(["./f", "text"], stdout=-1, check=True).stdout)
""",
    "privileges": """
os.chmod("f", 0o6755)
print(oct(os.stat("f").st_mode))
time.sleep(0.3)
print(oct(os.stat("f").st_mode))
os.chmod("f", 0o755)  # in a mount, root's writes clear them, too
os.write(fd, b"second ")
subprocess.run(["setcap", "cap_net_raw+ep", "f"], check=True)
time.sleep(0.3)
print(subprocess.run(["getcap", "f"], stdout=-1, check=True).stdout)
os.write(fd, b"third")
print(subprocess.run(["getcap", "f"], stdout=-1, check=True).stdout)
""",
    "other_names": """
os.mkdir("folder")
os.link("f", "folder/link")
def read(name):
    script = f"import os; os.write(1, os.pread(os.open({name!r}, 0), 99, {MIB}))"
    return subprocess.run([sys.executable, "-c", script], env={}, stdout=-1, check=True).stdout
print(read("folder/link"))
os.rename("f", "folder/other")
os.write(fd, b"second ")
print(read("folder/other"), os.stat("folder/link").st_size)
other = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
os.pwrite(other, b"FIRST", MIB)
print(os.pread(fd, 99, MIB), read("folder/link"))
""",
    "memory_that_stays_mapped": """
shared = mmap.mmap(fd, MIB)
shared[:4] = b"text"
os.close(fd)
fd = os.open("f", os.O_RDWR)
os.pwrite(fd, b"more" * (MIB // 4), 0)
print(shared[:8], shared[-4:])
shared[4:8] = b"TEXT"
print(os.pread(fd, 8, 0))
""",
    "streams_whose_descriptor_is_replaced": """
libc.fopen.restype = ctypes.c_void_p
libc.fputs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
libc.fflush.argtypes = libc.fileno.argtypes = [ctypes.c_void_p]
stream = libc.fopen(b"other", b"w")
os.dup2(fd, libc.fileno(stream))
libc.fputs(b"second ", stream)
libc.fflush(stream)
os.write(fd, b"third")
print(os.pread(fd, 99, MIB))
""",
    "a_file_that_has_lost_its_name_and_is_opened_again": """
words = "import os, time; fd = os.open('g', os.O_RDWR | os.O_CREAT); os.write(fd, bytes(1 << 20));"
words += "os.write(fd, b'first'); path = os.open('g', os.O_PATH); os.unlink('g'); name = "
words += "f'/proc/self/fd/{path}'\\nfor text in (b'second', b'third'):\\n os.close(fd)\\n"
words += " time.sleep(0.5)\\n print(os.stat(name).st_size)\\n fd = os.open(name, os.O_RDWR)\\n"
words += " print(os.pread(fd, 99, 1 << 20), len(os.pread(fd, 1 << 20, 0)))\\n"
words += " os.pwrite(fd, text, 1 << 20)"
print(subprocess.run([sys.executable, "-c", words], env={}, stdout=-1, check=True).stdout)
""",
    "leases_and_locks": """
other = os.open("g", os.O_RDWR | os.O_CREAT)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 9, 0))  # F_OFD_SETLK
words = "import fcntl, os, sys; fd = os.open('f', os.O_RDWR)\\n"
words += "try:\\n fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1); print('locked')\\n"
words += "except OSError as error: print(error)"
print(subprocess.run([sys.executable, "-c", words], env={}, stdout=-1, check=True).stdout)
""",
}

NEEDS: Mapping[str, Sequence[str]] = {"privileges": ["setcap", "getcap"], "node": ["node"]}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Programs that scripts need."""
    folder = tmp_path_factory.mktemp("ways")
    source = m.ROOT / "tests" / "posix" / "mount_ways.c"
    flags = [*m.C_FLAGS, "-o"]
    subprocess.run(["cc", *flags, folder / "dynamic", source], check=True)
    subprocess.run(["cc", *flags, folder / "static", "-static", source], check=True)
    others = [folder / "static"]
    if shutil.which("musl-gcc"):
        subprocess.run(["musl-gcc", *flags, folder / "musl", "-static", source], check=True)
        others.append(folder / "musl")
    library = folder / "library.so"
    words = ["cc", "-DLIBRARY", "-shared", "-fPIC", *flags, str(library), str(source)]
    subprocess.run(words, check=True)
    return {
        "WAYS": str(folder / "dynamic"),
        "OTHERS": " ".join(str(one) for one in others),
        "LIBRARY": str(library),
    }


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_finds_what_it_finds_in_a_plain_folder(
    name: str, built: Mapping[str, str], tmp_path: Path
) -> None:
    for needed in NEEDS.get(name, ()):
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed}. Install it.")
    words = [sys.executable, "-c", BEGIN + SCRIPTS[name]]
    plain = tmp_path / "plain"
    plain.mkdir()
    expected = mo.run_in(plain, *words, environment=built).stdout
    with mo.mounted(before_pool=True, captures=True, settings=pooled.KEPT) as mount:
        found = mount.run(*words, environment=built).stdout
        ensure(found == expected, f"plain:\n{expected}in the mount:\n{found}")
        both = [pooled.tree(folder) for folder in (plain, mount.folder)]
        ensure(not pooled.first_difference(*both), pooled.first_difference(*both))
