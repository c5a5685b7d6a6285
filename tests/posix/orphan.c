// Every call on a file of the pool, after its daemon was killed.
#define _GNU_SOURCE
#include "common.h"

#include <sys/mman.h>
#include <sys/uio.h>

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
    const pid_t child = fork();
    if (child == 0) {
        say("child's write", write(fd, text, 10));
        _exit(0);
    }
    say("close", close(other));
    say("close", close(fd));
    return 0;
}
