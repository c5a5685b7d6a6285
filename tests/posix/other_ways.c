/* Calls that reach a file, or change it, by another way than reading and writing it by its name;
 * one case after the other; says what each returns. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static unsigned char out[300000];
static unsigned char in[400000];

static int open_full(const char* name, size_t bytes, unsigned round) {
    const int fd = open_new(name);
    fill(out, sizeof out, 0, round);
    need(pwrite(fd, out, bytes, 0) == (long)bytes, "pwrite");
    return fd;
}

static void handles(void) {
    const int fd = open_full("handle", 200000, 1);
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } known = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
    int mount = 0;
    if (say("name_to_handle_at", name_to_handle_at(AT_FDCWD, "handle", &known.handle, &mount, 0)) <
        0) {
        return;
    }
    const int folder = open(".", O_RDONLY | O_DIRECTORY);
    const int again = open_by_handle_at(folder, &known.handle, O_RDWR);
    if (say("open_by_handle_at", again < 0 ? -1 : 0) < 0) {
        return;
    }
    say_bytes("read", in, read(again, in, sizeof in));
    say("write", write(again, "end", 3));
    say("pwrite", pwrite(again, "by a handle", 11, 1234));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    say("pwrite", pwrite(fd, "by a name", 9, 1240));
    say_bytes("pread", in, pread(again, in, 2000, 0));
    say("close", close(again));
    say("unlink", unlink("handle"));
    const int emptied = open_by_handle_at(folder, &known.handle, O_WRONLY | O_TRUNC);
    say("emptied", emptied < 0 ? -1 : 0);
    say("size", lseek(fd, 0, SEEK_END));
    say("write", write(emptied, "new", 3));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    const int left = open_full("left", 10, 1);
    say("a file that is", close(left));
}

static void names(void) {
    const int a = open_full("a", 100000, 1);
    const int b = open_full("b", 50000, 2);
    say("exchange", syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2 /* RENAME_EXCHANGE */));
    struct stat found;
    say("stat", stat("a", &found));
    say("size", found.st_size);
    say("pwrite", pwrite(a, "in b", 4, 100000));
    say("pwrite", pwrite(b, "in a", 4, 50000));
    struct statx more;
    say("statx", statx(AT_FDCWD, "b", 0, STATX_SIZE, &more));
    say("size", (long)more.stx_size);
    say("statx of a descriptor", statx(b, "", AT_EMPTY_PATH, STATX_SIZE, &more));
    say("size", (long)more.stx_size);
    say("fstatat of a descriptor", fstatat(a, "", &found, AT_EMPTY_PATH));
    say("size", found.st_size);
    say("link", link("b", "c"));
    say("stat", stat("c", &found));
    say("size", found.st_size);
    say("chmod", chmod("a", 0));
    say("pwrite", pwrite(b, "of mode 0", 9, 7));
    say("fsync", fsync(b));
    say("chmod", chmod("a", 0600));
    say("fsetxattr", fsetxattr(a, "user.forebay", "x", 1, 0) == 0 || errno == EOPNOTSUPP);
    const int folder = open(".", O_RDONLY | O_DIRECTORY);
    say("fsync of a folder", fsync(folder));
    say("truncate", truncate("c", 60000));
    say_bytes("pread", in, pread(a, in, sizeof in, 0));
    const pid_t child = fork();
    if (child == 0) {
        const int own = open("b", O_RDWR);
        _exit(ftruncate(own, 70000) == 0 && pwrite(own, "child", 5, 69000) == 5 ? 0 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
    say_bytes("pread", in, pread(a, in, sizeof in, 0));
}

static void say_time(const char* name) {
    struct stat found;
    need(stat(name, &found) == 0, "stat");
    printf("%s: %ld.%09ld\n", name, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
    fflush(stdout);
}

/* Set while there are deposits; nothing that is drained later sets another one. */
static void times(void) {
    const struct timespec then[2] = {{.tv_sec = 1000000000, .tv_nsec = 7},
                                     {.tv_sec = 1100000000, .tv_nsec = 123456789}};
    int fd = open_full("open", 200000, 1);
    say("futimens", futimens(fd, then));
    say_time("open");
    say("close", close(fd));
    say_time("open");
    fd = open_full("named", 200000, 2);
    say("utimensat", utimensat(AT_FDCWD, "named", then, 0));
    say("close", close(fd));
    say_time("named");
    fd = open_full("closed", 200000, 3);
    say("close", close(fd));
    say("utimensat", utimensat(AT_FDCWD, "closed", then, 0));
    say("rename", rename("closed", "renamed"));
    say_time("renamed");
    fd = open("renamed", O_RDWR);
    say_time("renamed");
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    say("fsync", fsync(fd));
    say("close", close(fd));
    say_time("renamed");
    sync();
    say_time("open");
    say_time("named");
    say_time("renamed");
}

static void ranges(void) {
    const int fd = open_full("ranges", 262144, 1);
    say("readahead", readahead(fd, 0, 65536));
    say("fadvise", posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
    say("sync_file_range", sync_file_range(fd, 0, 65536, SYNC_FILE_RANGE_WRITE));
    say("posix_fallocate", posix_fallocate(fd, 0, 280000));
    say("size", lseek(fd, 0, SEEK_END));
    say("pwrite", pwrite(fd, "after", 5, 270000));
    say("syncfs", syncfs(fd));
    say("data", lseek(fd, 0, SEEK_DATA));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    const int pool = open_full("collapsed", 262144, 2);
    say("collapse", fallocate(pool, FALLOC_FL_COLLAPSE_RANGE, 65536, 65536));
    say_bytes("pread", in, pread(pool, in, sizeof in, 0));
    say("insert", fallocate(pool, FALLOC_FL_INSERT_RANGE, 65536, 65536));
    say_bytes("pread", in, pread(pool, in, sizeof in, 0));
    const int copy = open_new("clone");
    say("clone", ioctl(copy, FICLONE, pool) == 0);
    struct file_clone_range range = {.src_fd = pool, .src_length = 65536};
    say("clone of a range", ioctl(copy, FICLONERANGE, &range) == 0);
    say("punch", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 65536, 65536));
    say("pwrite", pwrite(fd, "in the hole", 11, 70000));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    say("truncate", truncate("ranges", 100000));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
}

/* A child takes its parent's descriptor. */
static void fetched(void) {
    const int fd = open_full("fetched", 100000, 1);
    const int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int got = pidfd_getfd(process, fd, 0);
        say("pidfd_getfd", got < 0 ? -1 : 0);
        say_bytes("pread", in, pread(got, in, sizeof in, 0));
        _exit(pwrite(got, "child", 5, 99998) == 5 ? 0 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
    say("pwrite", pwrite(fd, "parent", 6, 3));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
}

/* Earlier writes arrive although the file takes nothing more. */
static void frozen(void) {
    const int fd = open_full("frozen", 100000, 1);
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
        say("no flags here", 0);
        return;
    }
    flags |= FS_IMMUTABLE_FL;
    say("ioctl", ioctl(fd, FS_IOC_SETFLAGS, &flags));
    say("fsync", fsync(fd));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    flags &= ~FS_IMMUTABLE_FL;
    say("ioctl", ioctl(fd, FS_IOC_SETFLAGS, &flags));
    say("pwrite", pwrite(fd, "goes on", 7, 5));
    say("close", close(fd));
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {{"handles", handles}, {"names", names},
                                      {"times", times},     {"ranges", ranges},
                                      {"fetched", fetched}, {"frozen", frozen}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
