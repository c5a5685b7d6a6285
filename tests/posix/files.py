"""Python's ways to files; says what it reads and leaves files behind."""

# The calls themselves are what is tested:
# ruff: noqa: PTH104, PTH108, PTH123

import hashlib
import io
import mmap
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

source = Path(sys.argv[1])
data = source.read_bytes()


def say(name: str, value: object) -> None:
    if isinstance(value, bytes):
        value = f"{len(value)} bytes {hashlib.sha256(value).hexdigest()[:16]}"
    print(name, value)


with open("text", "w") as text:
    for i in range(20000):
        text.write(f"line {i}\n")
    text.seek(10)
    text.write("over")
    say("tell", text.tell())
with open("text", "r+") as text:
    say("first", text.readline())
    text.seek(0, io.SEEK_END)
    text.write("end\n")
    text.truncate(150_000)
say("text", Path("text").read_bytes())
with open("unbuffered", "wb", buffering=0) as raw:
    for i in range(0, 100_000, 777):
        raw.write(data[i : i + 777])
    raw.seek(5000)
    raw.write(b"here")
    raw.truncate(90_000)
    say("size", os.fstat(raw.fileno()).st_size)
with open("unbuffered", "ab") as more:
    more.write(b"appended" * 1000)
    say("tell", more.tell())
with open("unbuffered", "rb") as back:
    back.seek(-100, io.SEEK_END)
    say("tail", back.read())
    back.seek(4990)
    say("middle", back.read(20))

fd = os.open("pieces", os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600)
say("pwrite", os.pwrite(fd, data[:100_000], 50_000))
say("pwritev", os.pwritev(fd, [data[:10], b"", data[10:5000]], 7))
say("writev", os.writev(fd, [b"a", b"bc"]))
say("pread", os.pread(fd, 200_000, 0))
room = [bytearray(3), bytearray(60_000)]
say("preadv", os.preadv(fd, room, 49_000))
say("preadv's", bytes(room[0] + room[1]))
say("lseek", os.lseek(fd, 0, os.SEEK_CUR))
say("hole", os.lseek(fd, 0, os.SEEK_DATA))
os.ftruncate(fd, 60_000)
os.ftruncate(fd, 120_000)
say("shrunk", os.pread(fd, 200_000, 0))
os.posix_fallocate(fd, 100_000, 100_000)
say("fallocate", os.fstat(fd).st_size)
os.fsync(fd)
copy = os.open("copied", os.O_CREAT | os.O_RDWR, 0o644)
os.write(copy, b"head")
say("sendfile", os.sendfile(copy, fd, 100, 50_000))
say("copy_file_range", os.copy_file_range(fd, copy, 30_000, 0, 60_000))
os.write(copy, b"tail")
say("copied", os.pread(copy, 200_000, 0))
os.close(copy)
os.close(fd)

fd = os.open("mapped", os.O_CREAT | os.O_RDWR, 0o644)
os.write(fd, data[:300_000])
with mmap.mmap(fd, 0) as mapping:
    mapping[1000:1004] = b"maps"
    os.pwrite(fd, b"file", 2000)
    say("mapped", mapping[:])
    mapping.flush()
os.write(fd, b"after")
os.close(fd)
say("mapped", Path("mapped").read_bytes())

shutil.copyfile(source, "copyfile")
shutil.copy2("mapped", "copy2")
with zipfile.ZipFile("zipped", "w") as archive:
    archive.writestr(zipfile.ZipInfo("name"), data[:40_000], zipfile.ZIP_DEFLATED)
say("zip", zipfile.ZipFile("zipped").read("name"))
with tempfile.TemporaryFile(dir=".") as temporary:
    temporary.write(data[:70_000])
    temporary.seek(100)
    say("temporary", temporary.read())
with tempfile.NamedTemporaryFile(dir=".") as named:
    named.write(data)
    named.flush()
    say("named", Path(named.name).read_bytes())

Path("old").write_bytes(b"old" * 1000)
with open("old", "r+b", buffering=0) as old:
    old.write(b"new")
    os.rename("old", "renamed")
    old.write(b"more")
    Path("old").write_bytes(b"another")
    os.link("renamed", "linked")
    os.unlink("renamed")
    old.write(b"and more")
    say("linked", Path("linked").read_bytes()[:30])
    os.unlink("linked")
    old.write(b"unlinked")
    old.seek(0)
    say("unlinked", old.read())
say("old", Path("old").read_bytes())
for i in range(50):
    Path(f"small{i % 7}").write_bytes(data[i : i * 100])
    Path(f"small{i % 5}").unlink(missing_ok=True)
    Path(f"small{i % 5}").write_bytes(data[: i * 10])
say("listed", sorted((path.name, path.stat().st_size) for path in Path().iterdir()))
pid = os.fork()
if pid == 0:
    with open("child", "wb") as child:
        child.write(data[:1234])
    os._exit(0)
os.waitpid(pid, 0)
say("child", Path("child").read_bytes())
