/* Files on a small file system are written and closed; then it is made read-only and unmounted at
 * once. In a mount namespace of its own: nothing stays behind. */
#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { rounds = 30, files = 3 };
static unsigned char bytes[5000];

static void write_files(void) {
    for (unsigned i = 0; i < files; ++i) {
        char name[32];
        snprintf(name, sizeof name, "there/%u", i);
        const int fd = open_new(name);
        fill(bytes, sizeof bytes, 0, i);
        need(write(fd, bytes, sizeof bytes) == sizeof bytes, "write");
        close(fd);
    }
}

int main(void) {
    need(unshare(CLONE_NEWNS) == 0, "a mount namespace");
    need(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "of its own");
    mkdir("there", 0755);
    int busy = 0;
    for (int round = 0; round < rounds; ++round) {
        need(mount("none", "there", "tmpfs", 0, "") == 0, "mount");
        write_files();
        busy += mount("none", "there", "tmpfs", MS_REMOUNT | MS_RDONLY, "") != 0;
        struct stat found;
        need(stat("there/1", &found) == 0 && found.st_size == (off_t)sizeof bytes, "the size");
        busy += umount("there") != 0;
    }
    printf("busy: %d\n", busy);
    need(mount("none", "there", "tmpfs", 0, "") == 0, "mount");
    write_files();
    const int held = open("there/0", O_RDWR);
    say("with a file open", umount2("there", 0));
    close(held);
    say("without", umount2("there", 0));
    return 0;
}
