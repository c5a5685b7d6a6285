"""Tries what a file system does, in the folder that it is started in, and says as JSON what came
out: the same below the mount and through it."""

# The calls themselves are observed, not pathlib's.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH110, PTH116, PTH123
# ruff: noqa: PTH115, PTH208, PTH211

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import struct
import subprocess
import sys
from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)
Observation = Callable[[], object]
OBSERVATIONS: dict[str, Observation] = {}
AT_FDCWD = -100
AT_SYMLINK_FOLLOW = 0x400
F_OFD_SETLK = 37
NAME_MAX = 255
FAR = 15 << 40


def observed(function: Observation) -> Observation:
    OBSERVATIONS[function.__name__] = function
    return function


def call(name: str, *arguments: object) -> int:
    """libc's, by its errno."""
    done = int(getattr(LIBC, name)(*arguments))
    if done == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done


def make(name: str, text: bytes = b"0123456789") -> str:
    with open(name, "wb") as out:
        out.write(text)
    return name


def content(name: str) -> str:
    with open(name, "rb") as file:
        return file.read().decode("latin-1")


def renameat2(old: str, new: str, flags: int) -> None:
    call("renameat2", AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags)


@observed
def execution() -> object:
    make("script", b"#!/bin/sh\necho ran\n")
    os.chmod("script", 0o755)
    return subprocess.run(["./script"], capture_output=True, text=True, check=False).stdout


@observed
def busy_text() -> object:
    subprocess.run(["cp", "/bin/true", "busy"], check=True)
    with open("busy", "ab"):
        return subprocess.run(["./busy"], check=False).returncode


@observed
def write_to_running_text() -> object:
    subprocess.run(["cp", "/bin/sleep", "running"], check=True)
    with subprocess.Popen(["./running", "30"]) as program:
        try:
            for _ in range(1000):
                if os.readlink(f"/proc/{program.pid}/exe").endswith("running"):
                    break
            open("running", "ab").close()
        finally:
            program.kill()
    return "opened"


@observed
def copied_text_runs() -> object:
    subprocess.run(["cp", "/bin/echo", "copied"], check=True)
    return subprocess.run(["./copied", "hello"], capture_output=True, check=False).stdout.decode()


@observed
def flock_excludes() -> object:
    with open(make("flocked")) as one, open("flocked") as two:
        fcntl.flock(one, fcntl.LOCK_EX)
        fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return None


def other_process_locks(name: str) -> object:
    code = f"import fcntl; fcntl.lockf(open({name!r},'r+'),fcntl.LOCK_EX|fcntl.LOCK_NB)"
    return subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, check=False
    ).returncode


@observed
def posix_locks() -> object:
    with open(make("locked"), "r+") as one:
        fcntl.lockf(one, fcntl.LOCK_EX)
        held = other_process_locks("locked")
        open("locked").close()  # drops the lock of the process: POSIX
        with open("locked", "r+"):
            pass
        dropped = other_process_locks("locked")
    return [held, dropped]


@observed
def own_posix_locks_do_not_exclude() -> object:
    with open(make("own"), "r+") as one, open("own", "r+") as two:
        fcntl.lockf(one, fcntl.LOCK_EX)
        fcntl.lockf(two, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return None


@observed
def descriptor_locks() -> object:
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    with open(make("ofd"), "r+") as one, open("ofd", "r+") as two:
        fcntl.fcntl(one, F_OFD_SETLK, lock)
        fcntl.fcntl(two, F_OFD_SETLK, lock)
    return None


@observed
def user_attributes() -> object:
    os.setxattr(make("xattr"), "user.one", b"1")
    os.setxattr("xattr", "user.two", b"")
    os.removexattr("xattr", "user.one")
    return [sorted(os.listxattr("xattr")), os.getxattr("xattr", "user.two").decode()]


@observed
def missing_attribute() -> object:
    return os.getxattr(make("none"), "user.none").decode()


@observed
def trusted_attributes() -> object:
    os.setxattr(make("trusted"), "trusted.one", b"1")
    return os.getxattr("trusted", "trusted.one").decode()


@observed
def access_lists() -> object:
    # Version 2; owner rw-, user 1 rw-, group r--, mask rw-, others ---.
    entries = [(1, 6, -1), (2, 6, 1), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(make("acl"), "system.posix_acl_access", value)
    return [oct(os.stat("acl").st_mode), os.getxattr("acl", "system.posix_acl_access") == value]


@observed
def inherited_access_lists() -> object:
    os.mkdir("inherits")
    entries = [(1, 7, -1), (2, 7, 1), (4, 5, -1), (16, 7, -1), (32, 0, -1)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr("inherits", "system.posix_acl_default", value)
    old = os.umask(0o077)
    os.close(os.open("inherits/a", os.O_CREAT | os.O_WRONLY, 0o666))
    os.umask(old)
    return [oct(os.stat("inherits/a").st_mode), len(os.listxattr("inherits/a"))]


@observed
def file_capabilities() -> object:
    value = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
    os.setxattr(make("capable"), "security.capability", value)
    had = "security.capability" in os.listxattr("capable")
    with open("capable", "ab") as out:
        out.write(b"x")
    return [had, "security.capability" in os.listxattr("capable")]


@observed
def file_without_a_name() -> object:
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"unnamed")
    old = f"/proc/self/fd/{fd}".encode()
    call("linkat", AT_FDCWD, old, AT_FDCWD, b"named", AT_SYMLINK_FOLLOW)
    return [content("named"), oct(os.stat("named").st_mode), os.fstat(fd).st_nlink]


@observed
def hard_links() -> object:
    os.link(make("first"), "second")
    with open("second", "ab") as out:
        out.write(b"more")
    both = os.stat("first"), os.stat("second")
    return [content("first"), both[0].st_ino == both[1].st_ino, both[0].st_nlink]


@observed
def symbolic_links() -> object:
    os.symlink("target/" + "x" * 200, "link")
    return [os.readlink("link"), os.lstat("link").st_size]


@observed
def exchange() -> object:
    make("left", b"left"), make("right", b"right")
    renameat2("left", "right", 2)
    return [content("left"), content("right")]


@observed
def rename_without_replacing() -> object:
    make("there"), make("here")
    renameat2("here", "there", 1)
    return None


@observed
def rename_with_whiteout() -> object:
    renameat2(make("white"), "black", 4)
    return oct(os.lstat("white").st_mode)


@observed
def rename_over_open_file() -> object:
    make("old", b"old"), make("new", b"new")
    with open("old", "rb") as before:
        os.rename("new", "old")
        return [before.read().decode(), content("old"), os.fstat(before.fileno()).st_nlink]


@observed
def removed_but_open() -> object:
    with open(make("removed"), "r+b", buffering=0) as file:
        os.unlink("removed")
        file.seek(0, os.SEEK_END)
        file.write(b"more")
        os.fchmod(file.fileno(), 0o600)
        os.ftruncate(file.fileno(), 12)
        return [os.fstat(file.fileno()).st_size, os.pread(file.fileno(), 20, 0).decode()]


@observed
def copying_inside() -> object:
    with open(make("source"), "rb") as source, open("copy", "wb") as copy:
        moved = os.copy_file_range(source.fileno(), copy.fileno(), 7, 1, 0)
    return [moved, content("copy")]


@observed
def sending() -> object:
    with open(make("sent"), "rb") as source, open("received", "wb") as copy:
        moved = os.sendfile(copy.fileno(), source.fileno(), 2, 5)
    return [moved, content("received")]


@observed
def splicing() -> object:
    ends = os.pipe()
    with open(make("spliced"), "rb") as source:
        moved = os.splice(source.fileno(), ends[1], 6, offset_src=1)
    return [moved, os.read(ends[0], 10).decode()]


@observed
def allocating() -> object:
    sizes = []
    with open(make("allocated"), "r+b") as file:
        for mode in (0, 1, 3, 16):  # plain, keep the size, punch a hole, zeros
            start, bytes_ = ctypes.c_long(2), ctypes.c_long(4096 if mode < 2 else 4)
            call("fallocate", file.fileno(), mode, start, bytes_)
            sizes.append(os.fstat(file.fileno()).st_size)
    return [sizes, content("allocated")[:12]]


@observed
def holes() -> object:
    with open("holes", "w+b") as file:
        os.pwrite(file.fileno(), b"x", 1 << 20)
        data = os.lseek(file.fileno(), 0, os.SEEK_DATA)
        hole = os.lseek(file.fileno(), 1 << 20, os.SEEK_HOLE)
    return [data, hole, os.stat("holes").st_blocks]


@observed
def unbuffered() -> object:
    fd = os.open("direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600)
    memory = mmap.mmap(-1, 4096)
    memory[:4] = b"page"
    return [os.write(fd, memory), os.fstat(fd).st_size, content("direct")[:4]]


@observed
def append_flag_of_one_call() -> object:
    with open(make("appended"), "r+b") as file:
        os.pwritev(file.fileno(), [b"end"], 0, getattr(os, "RWF_APPEND", 0x10))
    return content("appended")


@observed
def appending() -> object:
    with open(make("log"), "ab", buffering=0) as one, open("log", "ab", buffering=0) as two:
        for _ in range(3):
            one.write(b"a"), two.write(b"b")
    return content("log")


@observed
def append_flag_set_later() -> object:
    with open(make("later"), "r+b", buffering=0) as file:
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        file.write(b"z")
    return content("later")


@observed
def mapping() -> object:
    with open("mapped", "w+b", buffering=0) as file:
        file.truncate(8192)
        memory = mmap.mmap(file.fileno(), 8192)
        memory[:6] = b"stored"
        os.pwrite(file.fileno(), b"W", 1)
        seen = bytes(memory[:6]).decode()
        read = os.pread(file.fileno(), 6, 0).decode()
        memory.close()
    return [seen, read, content("mapped")[:6]]


@observed
def private_mapping() -> object:
    with open(make("private"), "rb") as file:
        return bytes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)).decode()


@observed
def long_names() -> object:
    make("n" * NAME_MAX)
    make("n" * (NAME_MAX + 1))
    return None


@observed
def far_ends() -> object:
    with open("far", "wb") as file:
        os.ftruncate(file.fileno(), FAR)
    return os.stat("far").st_size


@observed
def times() -> object:
    os.utime(make("timed"), ns=(1_234_567_891, 2_345_678_912))
    found = os.stat("timed")
    return [found.st_atime_ns, found.st_mtime_ns]


@observed
def writing_sets_times() -> object:
    os.utime(make("aged"), ns=(1, 1))
    with open("aged", "ab") as out:
        out.write(b"x")
    return os.stat("aged").st_mtime_ns > 1


@observed
def modes() -> object:
    old = os.umask(0o027)
    os.mkdir("mode.d", 0o777)
    os.close(os.open("mode.f", os.O_CREAT | os.O_WRONLY, 0o666))
    os.umask(old)
    os.mkfifo("mode.p", 0o600)
    names = ("mode.d", "mode.f", "mode.p")
    os.chmod("mode.f", 0o6755)
    return [oct(os.stat(name).st_mode) for name in names]


@observed
def set_id_bits_go() -> object:
    make("setid")
    os.chmod("setid", 0o6777)
    os.chown("setid", 1, 1)
    after = oct(os.stat("setid").st_mode)
    os.chmod("setid", 0o2755)
    return [after, oct(os.stat("setid").st_mode), os.stat("setid").st_gid]


@observed
def write_by_another_user() -> object:
    make("shared")
    os.chmod("shared", 0o6777)
    os.chmod(".", 0o777)
    code = "import os; os.setgid(65534); os.setuid(65534); open('shared','ab').write(b'x')"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    return oct(os.stat("shared").st_mode)


@observed
def files_of_another_user() -> object:
    os.chmod(".", 0o777)
    code = (
        "import os; os.setgroups([]); os.setgid(1234); os.setuid(4321); open('theirs','w');"
        " os.mkdir('theirs.d'); os.symlink('a','theirs.l')"
    )
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    found = [os.lstat(name) for name in ("theirs", "theirs.d", "theirs.l")]
    return [(one.st_uid, one.st_gid, oct(one.st_mode)) for one in found]


@observed
def permission_is_denied() -> object:
    make("closed")
    os.chmod("closed", 0o600)
    code = "import os; os.setgid(1234); os.setuid(4321); open('closed')"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=False)
    return b"PermissionError" in done.stderr


@observed
def directories() -> object:
    os.mkdir("many")
    for number in range(500):
        make(f"many/{number}", b"")
    listed = sorted(os.listdir("many"), key=int)
    kinds = {entry.is_file() for entry in os.scandir("many")}
    os.unlink("many/7")
    return [
        listed == [str(number) for number in range(500)],
        kinds == {True},
        len(os.listdir("many")),
    ]


@observed
def removing_full_directories() -> object:
    os.mkdir("full")
    make("full/one")
    os.rmdir("full")
    return None


@observed
def missing_files() -> object:
    try:
        os.stat("comes")
    except FileNotFoundError:
        make("comes")
        os.rename("comes", "came")
    return [os.path.exists("comes"), os.path.exists("came")]


@observed
def exclusive_creation() -> object:
    make("exclusive")
    os.open("exclusive", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    return None


@observed
def emptying() -> object:
    make("emptied", b"x" * 5000)
    with open("emptied", "wb") as out:
        size = os.fstat(out.fileno()).st_size
    return [size, os.stat("emptied").st_size]


@observed
def inode_numbers() -> object:
    make("numbered")
    by_name = os.stat("numbered").st_ino
    return by_name == next(one.inode() for one in os.scandir(".") if one.name == "numbered")


@observed
def copying_to_another_file_system() -> object:
    with open(make("leaves"), "rb") as source, open("/dev/shm/forebay.observer", "wb") as copy:
        os.unlink("/dev/shm/forebay.observer")
        os.copy_file_range(source.fileno(), copy.fileno(), 5)
    return None


@observed
def collapsing() -> object:
    with open(make("collapsed", b"x" * 16384), "r+b") as file:
        call("fallocate", file.fileno(), 8, ctypes.c_long(0), ctypes.c_long(4096))
    return os.stat("collapsed").st_size


@observed
def not_caching() -> object:
    rwf_dontcache = 0x80
    with open(make("uncached"), "r+b", buffering=0) as file:
        return os.pwritev(file.fileno(), [b"abc"], 0, rwf_dontcache)


@observed
def seeking_beyond_all_files() -> object:
    with open(make("beyond"), "r+b", buffering=0) as file:
        return os.lseek(file.fileno(), 1 << 60, os.SEEK_SET)


@observed
def writing_beyond_all_files() -> object:
    with open(make("too_far"), "r+b", buffering=0) as file:
        return os.pwrite(file.fileno(), b"abc", 1 << 60)


def main() -> None:
    said: dict[str, object] = {}
    for name, observation in OBSERVATIONS.items():
        try:
            said[name] = observation()
        except OSError as error:
            said[name] = errno.errorcode.get(error.errno or 0, "?")
        except subprocess.CalledProcessError:
            if os.geteuid() == 0:
                raise
            said[name] = "only root becomes another user"
    print(json.dumps(said))


if __name__ == "__main__":
    main()
