/* Processes that share a file by its locks: locks HOW, which is fcntl, ofd or flock. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/file.h>
#include <sys/wait.h>

enum { processes = 2, times = 1000 };

static int take(const char* how, int fd, int wait, short type) {
    if (strcmp(how, "flock") == 0) {
        const int operation = type == F_WRLCK ? LOCK_EX : type == F_RDLCK ? LOCK_SH : LOCK_UN;
        return flock(fd, operation | (wait ? 0 : LOCK_NB));
    }
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 8};
    const int is_ofd = strcmp(how, "ofd") == 0;
    return wait ? fcntl(fd, is_ofd ? F_OFD_SETLKW : F_SETLKW, &lock)
                : fcntl(fd, is_ofd ? F_OFD_SETLK : F_SETLK, &lock);
}

static void count(const char* how) {
    const int fd = open("counter", O_RDWR);
    need(fd >= 0, "open");
    for (int i = 0; i < times; ++i) {
        long number = 0;
        need(take(how, fd, 1, F_WRLCK) == 0, "lock");
        need(pread(fd, &number, sizeof number, 0) == sizeof number, "pread");
        ++number;
        need(pwrite(fd, &number, sizeof number, 0) == sizeof number, "pwrite");
        need(take(how, fd, 1, F_UNLCK) == 0, "unlock");
    }
    close(fd);
}

/* Whether another process gets the lock. */
static int is_free(const char* how) {
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open("counter", O_RDWR);
        need(fd >= 0, "open");
        _exit(take(how, fd, 0, F_WRLCK) == 0 ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

/* A process that only reads has a lock, too. */
static void say_shared(const char* how, int fd) {
    need(pwrite(fd, "12345678", 8, 0) == 8, "pwrite");
    const pid_t child = fork();
    if (child == 0) {
        close(fd);
        const int reading = open("counter", O_RDONLY);
        say("shared lock", take(how, reading, 0, F_RDLCK));
        say("truncate", truncate("counter", 4));
        say("free after truncate", is_free(how));
        char bytes[9] = "";
        say("pread", pread(reading, bytes, 8, 0));
        _exit(memcmp(bytes, "1234", 5) == 0 ? 0 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
}

int main(int argc, char** argv) {
    need(argc == 2, "usage: locks HOW");
    const int fd = open_new("counter");
    const long zero = 0;
    need(pwrite(fd, &zero, sizeof zero, 0) == sizeof zero, "pwrite");
    for (int i = 0; i < processes; ++i) {
        if (fork() == 0) {
            count(argv[1]);
            _exit(0);
        }
    }
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        wait(&status);
        need(status == 0, "child");
    }
    long number = 0;
    need(pread(fd, &number, sizeof number, 0) == sizeof number, "pread");
    say("counter", number);
    say("lock", take(argv[1], fd, 0, F_WRLCK));
    say("free while it is held", is_free(argv[1]));
    say("fsync", fsync(fd));
    say("free after fsync", is_free(argv[1]));
    say("truncate", truncate("counter", 8));
    say("free after truncate", is_free(argv[1]));
    say("unlock", take(argv[1], fd, 0, F_UNLCK));
    say("free", is_free(argv[1]));
    say_shared(argv[1], fd);
    const int reading = open("counter", O_RDONLY);
    say("lock", take(argv[1], fd, 0, F_WRLCK));
    say("close another", close(reading));
    say("free after closing another", is_free(argv[1]));
    return 0;
}
