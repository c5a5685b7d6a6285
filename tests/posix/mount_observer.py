"""Tries what a file system does, in the folder that it is started in, and says as JSON what came
out: the same below the mount and through it."""

# The calls themselves are observed, not pathlib's.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH110, PTH116, PTH123
# ruff: noqa: PTH115, PTH208, PTH211

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import struct
import subprocess
import sys
import time
from itertools import pairwise

from observing import AT_FDCWD, call, content, make, observed, renameat2, say_all, stripped

AT_SYMLINK_FOLLOW = 0x400
F_OFD_SETLK = 37
NAME_MAX = 255
FAR = 15 << 40
FIEMAP, FSGETXATTR, GETFLAGS, SETFLAGS = 0xC020660B, 0x801C581F, 0x80086601, 0x40086602
STATX_BTIME, NODUMP = 0x800, 0x40
TICK_SECONDS = 0.02


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
        return [stripped(before.read()), content("old"), os.fstat(before.fileno()).st_nlink]


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
        return stripped(bytes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)))


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
def files_of_a_second_group() -> object:
    os.mkdir("group")
    os.chown("group", 0, 7777)
    os.chmod("group", 0o2777)
    for name, group, user in (("member", 7777, 4321), ("stranger", 8888, 4321), ("root", 0, 0)):
        code = f"import os; os.setgroups([{group}]); os.setgid({user}); os.setuid({user}); "
        code += f"os.open('group/{name}', os.O_CREAT, 0o2755); os.mkdir('group/{name}.d'); "
        code += f"os.mknod('group/{name}.n', 0o102755)"
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
    found = [os.stat(f"group/{name}") for name in sorted(os.listdir("group"))]
    return [(one.st_gid, oct(one.st_mode)) for one in found]


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


@observed
def birth_time() -> object:
    found = bytearray(256)
    room = (ctypes.c_char * len(found)).from_buffer(found)
    call("statx", AT_FDCWD, make("born").encode(), 0, 0xFFF, room)
    return struct.unpack_from("I", found)[0] & STATX_BTIME != 0


@observed
def extents_on_the_device() -> object:
    with open(make("mapped_out"), "rb") as file:
        answer = fcntl.ioctl(file, FIEMAP, struct.pack("QQIIII", 0, 1 << 40, 1, 0, 0, 0))
    return struct.unpack("QQIIII", answer)[3] > 0


@observed
def extended_flags() -> object:
    with open(make("flags"), "rb") as file:  # chattr +d
        (old,) = struct.unpack("l", fcntl.ioctl(file, GETFLAGS, bytes(8)))
        fcntl.ioctl(file, SETFLAGS, struct.pack("l", old | NODUMP))
        extended = struct.unpack("IIIII8x", fcntl.ioctl(file, FSGETXATTR, bytes(28)))
        return [fcntl.ioctl(file, GETFLAGS, bytes(8))[0] & NODUMP, extended[0]]


@observed
def reading_what_is_there_at_once() -> object:
    with open(make("at_once"), "rb", buffering=0) as file:
        room = bytearray(4)
        return [os.preadv(file.fileno(), [room], 0, os.RWF_NOWAIT), room.decode()]


@observed
def unaligned_without_a_cache() -> object:
    fd = os.open(make("unaligned"), os.O_RDWR | os.O_DIRECT)
    return [os.pwrite(fd, b"abc", 1), content("unaligned")[:5]]


@observed
def sizes_of_the_file_system() -> object:
    found = os.statvfs(make("measured"))
    return [found.f_bsize, found.f_frsize, found.f_namemax, found.f_flag & os.ST_RDONLY]


@observed
def syncing_the_file_system() -> object:
    with open(make("synced"), "rb") as file:
        return call("syncfs", file.fileno())


@observed
def change_times() -> object:
    with open(make("changes"), "r+b", buffering=0) as file:
        made = os.fstat(file.fileno())
        time.sleep(TICK_SECONDS)
        file.seek(0, os.SEEK_END)
        file.write(b"more")
        first = os.fstat(file.fileno())
        time.sleep(TICK_SECONDS)
        os.fsync(file.fileno())
    told = [os.stat("changes")]
    for change in (
        lambda: os.chmod("changes", 0o600),
        lambda: os.link("changes", "changes.link"),
        lambda: os.setxattr("changes", "user.one", b"1"),
        lambda: os.rename("changes", "changed"),
        lambda: os.unlink("changes.link"),
        lambda: os.truncate("changed", 5),
    ):
        time.sleep(TICK_SECONDS)
        change()
        told.append(os.stat("changed" if os.path.exists("changed") else "changes"))
    return [
        first.st_ctime_ns > made.st_ctime_ns,
        told[0].st_ctime_ns == first.st_ctime_ns,
        [before.st_ctime_ns < after.st_ctime_ns for before, after in pairwise(told)],
        [before.st_mtime_ns < after.st_mtime_ns for before, after in pairwise(told)],
    ]


@observed
def watched() -> object:
    """The events of a folder by inotify, each with its file."""
    os.mkdir("watched")
    fd = call("inotify_init1", os.O_NONBLOCK)
    call("inotify_add_watch", fd, b"watched", 0xFFF)
    make("watched/one")
    with open("watched/one", "r+b", buffering=0) as file:
        file.read(1), file.write(b"2"), file.truncate(3)
    os.chmod("watched/one", 0o600)
    os.rename("watched/one", "watched/two")
    os.unlink("watched/two")
    told, at, events = os.read(fd, 65536), 0, []
    while at < len(told):
        _, mask, _, length = struct.unpack_from("iIII", told, at)
        name = told[at + 16 : at + 16 + length].rstrip(b"\0").decode()
        events.append([name, mask])
        at += 16 + length
    return events


if __name__ == "__main__":
    say_all()
