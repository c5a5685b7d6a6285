/* Calls on files by their numbers (syscall(2)): as other than C programs make them. Says what each
 * returns. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static unsigned char bytes[100000];
static unsigned char in[100000];

static void stated(void) {
    const int fd = open_new("file");
    say("write", write(fd, bytes, sizeof bytes));
    struct statx more;
    say("statx", syscall(SYS_statx, AT_FDCWD, "file", 0, STATX_SIZE, &more));
    say("size", (long)more.stx_size);
    say("statx", syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &more));
    say("size", (long)more.stx_size);
    struct stat found;
    say("fstat", syscall(SYS_fstat, fd, &found));
    say("size", found.st_size);
    say("stat", syscall(SYS_stat, "file", &found));
    say("size", found.st_size);
    say("newfstatat", syscall(SYS_newfstatat, AT_FDCWD, "file", &found, 0));
    say("size", found.st_size);
    say("stat of none", syscall(SYS_stat, "none", &found));
    say("lseek", syscall(SYS_lseek, fd, 0L, SEEK_END));
    say("ftruncate", syscall(SYS_ftruncate, fd, 5000L));
    say("truncate", syscall(SYS_truncate, "file", 4000L));
    say("fsync", syscall(SYS_fsync, fd));
    say("lseek", lseek(fd, 0, SEEK_END));
}

static void moved(void) {
    fill(bytes, sizeof bytes, 0, 1);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "file", O_CREAT | O_RDWR | O_TRUNC, 0644);
    say("openat", fd < 0 ? -1 : 0);
    say("write", syscall(SYS_write, fd, bytes, 50000L));
    say("write", write(fd, bytes, 1000));
    say("pwrite64", syscall(SYS_pwrite64, fd, bytes + 7, 3000L, 20000L));
    const struct iovec pieces[] = {{bytes, 100}, {bytes + 500, 900}};
    say("writev", syscall(SYS_writev, fd, pieces, 2L));
    say("pwritev", syscall(SYS_pwritev, fd, pieces, 2L, 70000L, 0L));
    say("pwritev2", syscall(SYS_pwritev2, fd, pieces, 2L, 80000L, 0L, 0L));
    say("pwritev2", syscall(SYS_pwritev2, fd, pieces, 2L, -1L, -1L, 0L));
    say("lseek", syscall(SYS_lseek, fd, 0L, SEEK_SET));
    say_bytes("read", in, syscall(SYS_read, fd, in, sizeof in));
    say_bytes("pread64", in, syscall(SYS_pread64, fd, in, sizeof in, 1000L));
    const struct iovec into[] = {{in, 4000}, {in + 9000, 10000}};
    say_bytes("preadv", in, syscall(SYS_preadv, fd, into, 2L, 60000L, 0L));
    say_bytes("preadv2", in, syscall(SYS_preadv2, fd, into, 2L, 100L, 0L, 0L));
    say("preadv2 with a flag", syscall(SYS_preadv2, fd, into, 2L, 100L, 0L, 0x40000000L));
    const int other = (int)syscall(SYS_dup, fd);
    say("write", syscall(SYS_write, other, "end", 3L));
    say("close", syscall(SYS_close, fd));
    say("close", syscall(SYS_close, fd));
    const int third = (int)syscall(SYS_fcntl, other, F_DUPFD_CLOEXEC, 100L);
    say("fcntl", third);
    say("write", write(third, "more", 4));
    say("close_range", syscall(SYS_close_range, 100L, 200L, 0L));
    say("write", syscall(SYS_write, third, "none", 4L));
    say("write of nothing", syscall(SYS_write, other, NULL, 5L));
    say("read of none", syscall(SYS_read, -1L, in, 5L));
    say("of no number", syscall(100000L));
}

static void opened(void) {
    const int fd = open_new("file");
    say("write", write(fd, "something that is there", 23));
    struct open_how how = {.flags = O_RDWR, .resolve = RESOLVE_NO_SYMLINKS};
    const int again = (int)syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how);
    say("openat2", again < 0 ? -1 : 0);
    say_bytes("read", in, read(again, in, sizeof in));
    say("pwrite", pwrite(again, "anything", 8, 4));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    how.flags = O_WRONLY | O_TRUNC;
    const int emptied = (int)syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how);
    say("openat2", emptied < 0 ? -1 : 0);
    say("size", lseek(fd, 0, SEEK_END));
    say("write", write(emptied, "new", 3));
    struct {
        struct open_how how;
        long more;
    } longer = {.how = {.flags = O_WRONLY | O_TRUNC}};
    const int once_more = (int)syscall(SYS_openat2, AT_FDCWD, "file", &longer, sizeof longer);
    say("openat2", once_more < 0 ? -1 : 0);
    say("size", lseek(fd, 0, SEEK_END));
    say("write", write(once_more, "newer", 5));
    how.flags = O_PATH | O_TRUNC;
    say("openat2", syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how));
    how.flags = O_RDONLY;
    how.resolve = RESOLVE_BENEATH;
    say("openat2", syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how));
    say("openat2", syscall(SYS_openat2, AT_FDCWD, "file", NULL, sizeof how));
    say("openat2", syscall(SYS_openat2, AT_FDCWD, "file", &how, 3L));
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
}

static void wait_for(long child) {
    int status = 0;
    waitpid((pid_t)child, &status, 0);
    say("status", status);
}

/* Offsets are shared by parent and child. */
static void forked(void) {
    const int fd = open_new("file");
    say("write", write(fd, "parent ", 7));
    long child = syscall(SYS_fork);
    if (child == 0) {
        _exit(write(fd, "fork ", 5) == 5 ? 0 : 1);
    }
    wait_for(child);
    say("write", write(fd, "again ", 6));
    child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0L);
    if (child == 0) {
        _exit(write(fd, "clone ", 6) == 6 ? 0 : 1);
    }
    wait_for(child);
    struct {
        unsigned long flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } block = {.exit_signal = SIGCHLD};
    child = syscall(SYS_clone3, &block, sizeof block);
    if (child == 0) {
        _exit(write(fd, "clone3 ", 7) == 7 ? 0 : 1);
    }
    wait_for(child);
    say("clone3 of nothing", syscall(SYS_clone3, NULL, 64L));
    say("write", write(fd, "at last\n", 8));
    say("size", lseek(fd, 0, SEEK_END));
}

static void mapped(void) {
    const int fd = open_new("file");
    say("write", write(fd, "below the mapping", 17));
    char* const at =
        (char*)syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, (long)fd, 0L);
    say("mmap", at == MAP_FAILED ? -1 : 0);
    say_bytes("mapped", at, 17);
    memcpy(at, "through", 7);
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    say("pwrite", pwrite(fd, "by a call", 9, 8));
    say_bytes("mapped", at, 17);
    say("munmap", syscall(SYS_munmap, at, 4096L));
    const int other = open_new("copy");
    say("copy_file_range", syscall(SYS_copy_file_range, fd, &(long){0}, other, NULL, 17L, 0L));
    say("write", write(other, " and more", 9));
    say_bytes("pread", in, pread(other, in, sizeof in, 0));
}

static void* is_cancelled(void* descriptors) {
    const int* const each = descriptors;
    pthread_cancel(pthread_self());
    const long written[] = {syscall(SYS_write, each[0], "kept", 4L),
                            syscall(SYS_write, each[1], "appended", 8L)};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    say("write of a thread that is cancelled", written[0]);
    say("write behind the end", written[1]);
    return NULL;
}

/* syscall is no cancellation point, where write is one. */
static void cancelled(void) {
    const int descriptors[] = {open_new("file"),
                               open("other", O_CREAT | O_WRONLY | O_APPEND, 0644)};
    pthread_t thread;
    pthread_create(&thread, NULL, is_cancelled, (void*)descriptors);
    pthread_join(thread, NULL);
}

/* Modes and owners are set once all is drained, as by libc's functions. */
static void changed(void) {
    const int fd = open_new("file");
    say("write", write(fd, bytes, 5000));
    say("fchmod", syscall(SYS_fchmod, fd, 0640L));
    say("write", write(fd, bytes, 5000));
    say("chmod", syscall(SYS_chmod, "file", 04755L));
    say("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, "file", 0600L));
    say("chmod of none", syscall(SYS_chmod, "none", 0600L));
    struct stat found;
    say("fstat", fstat(fd, &found));
    say("mode", found.st_mode);
    say("size", found.st_size);
}

static const struct test_case cases[] = {
    {"stated", stated}, {"moved", moved},   {"opened", opened},       {"changed", changed},
    {"forked", forked}, {"mapped", mapped}, {"cancelled", cancelled},
};

int main(int argc, char** argv) {
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
