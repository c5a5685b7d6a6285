// Every call on a file of the pool, after its daemon was killed.
#define _GNU_SOURCE
#include "common.h"

#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

// A negative result: the file was said to be a file of some length.
static int visit(const char* path, const struct stat* found, int kind, struct FTW* place) {
    (void)path;
    (void)found;
    (void)place;
    errno = kind == FTW_NS ? EIO : 0;
    return -1;
}

int main(void) {
    const int fd = open_new("orphan");
    const int other = open_new("orphan.other");
    const int third = open_new("orphan.third");
    char text[100] = "text";
    struct iovec piece = {text, sizeof text};
    need(write(fd, text, sizeof text) == sizeof text, "write");
    need(write(other, text, sizeof text) == sizeof text, "write");
    need(write(third, text, sizeof text) == sizeof text, "write");
    puts("written");
    fflush(stdout);
    need(getchar() == 'o', "stdin");
    say("write", write(fd, text, 10));
    say("pwrite", pwrite(fd, text, 10, 0));
    say("writev", writev(fd, &piece, 1));
    say("read", read(fd, text, 10));
    say("pread", pread(fd, text, 10, 0));
    say("preadv", preadv(fd, &piece, 1, 0));
    say("fsync", fsync(fd));
    say("ftruncate", ftruncate(fd, 10));
    say("lseek", lseek(fd, 0, SEEK_END));
    say("mmap", mmap(NULL, 100, PROT_READ, MAP_SHARED, other, 0) == MAP_FAILED ? -1 : 0);
    struct stat found;
    struct statx found_too;
    say("fstat", fstat(fd, &found));
    say("stat", stat("orphan", &found));
    say("lstat", lstat("orphan.third", &found));
    say("statx", statx(AT_FDCWD, "orphan.third", 0, STATX_SIZE, &found_too));
    say("statx of a descriptor", statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &found_too));
    say("nftw", nftw("orphan.third", visit, 1, FTW_PHYS));
    say("open", open("orphan.third", O_RDWR));
    say("syncfs", syncfs(fd));
    const pid_t child = fork();
    if (child == 0) {
        say("child's write", write(fd, text, 10));
        _exit(0);
    }
    say("close", close(other));
    say("close", close(fd));
    return 0;
}
