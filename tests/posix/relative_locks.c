/* Locks whose range is counted from the offset or from the end: relative_locks HOW, which is fcntl,
 * ofd or lockf. Another process says which bytes of the file are locked. */
#define _GNU_SOURCE
#include "common.h"

#include <stdint.h>
#include <sys/wait.h>

enum { size = 1000 };

/* A byte for each of the file's first ones: whether somebody else has it locked. */
static void say_locked(const char* when) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open("records", O_RDWR);
        need(fd >= 0, "open");
        printf("%s:", when);
        int locked = 0;
        for (int at = 0; at <= 2 * size; ++at) {
            struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
            need(fcntl(fd, F_OFD_GETLK, &one) == 0, "F_OFD_GETLK");
            const int is = one.l_type != F_UNLCK;
            if (is != locked) {
                printf(" %s %d", is ? "from" : "to", at);
            }
            locked = is;
        }
        printf("\n");
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
}

static long lock(const char* how, int fd, short type, short whence, long start, long length) {
    struct flock one = {.l_type = type, .l_whence = whence, .l_start = start, .l_len = length};
    if (strcmp(how, "lockf") == 0) {
        const off_t before = lseek(fd, 0, SEEK_CUR);
        lseek(fd, start, whence);
        const long done = lockf(fd, type == F_UNLCK ? F_ULOCK : F_TLOCK, length);
        const int error = errno;
        lseek(fd, before, SEEK_SET);
        errno = error;
        return done;
    }
    return fcntl(fd, strcmp(how, "ofd") == 0 ? F_OFD_SETLK : F_SETLK, &one);
}

/* The answer to a process that asks, with ranges that are counted in the same way. */
static void ask(const char* how, int fd) {
    struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 0, .l_len = 50};
    say("free", fcntl(fd, strcmp(how, "ofd") == 0 ? F_OFD_GETLK : F_GETLK, &one));
    printf("type %d whence %d start %ld length %ld\n", one.l_type, one.l_whence, (long)one.l_start,
           (long)one.l_len);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int other = open("records", O_RDWR);
        need(other >= 0 && lseek(other, 20, SEEK_SET) == 20, "open");
        struct flock taken = {
            .l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_start = -10, .l_len = 500};
        say("taken", fcntl(other, strcmp(how, "ofd") == 0 ? F_OFD_GETLK : F_GETLK, &taken));
        printf("type %d whence %d start %ld length %ld\n", taken.l_type, taken.l_whence,
               (long)taken.l_start, (long)taken.l_len);
        lseek(other, 90, SEEK_SET);
        say("lockf F_TEST of a taken one", lockf(other, F_TEST, 20));
        say("lockf F_TEST of a free one", lockf(other, F_TEST, 5));
        say("lockf F_TLOCK of a taken one", lockf(other, F_TLOCK, 20));
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
}

static void refuse(const char* how, int fd) {
    say("before the beginning", lock(how, fd, F_WRLCK, SEEK_CUR, -5000, 10));
    say("lengths backwards", lock(how, fd, F_WRLCK, SEEK_CUR, 0, -5000));
    struct flock far = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = INT64_MAX, .l_len = 1};
    say("too far", fcntl(fd, F_SETLK, &far));
    far.l_start = INT64_MAX - 2 * size;
    far.l_len = 4 * size;
    say("too long", fcntl(fd, F_SETLK, &far));
    far = (struct flock){.l_type = F_WRLCK, .l_whence = 9, .l_start = 0, .l_len = 1};
    say("from nowhere", fcntl(fd, F_SETLK, &far));
    say("no lock", fcntl(fd, F_SETLK, (struct flock*)NULL));
    say("no operation of lockf", lockf(fd, 77, 1));
}

int main(int count, char** words) {
    need(count == 2, "words");
    const char* const how = words[1];
    unsigned char bytes[size];
    fill(bytes, size, 0, 0);
    const int fd = open_new("records");
    need(write(fd, bytes, size) == size, "write");
    need(lseek(fd, 100, SEEK_SET) == 100, "lseek");
    say("from the offset", lock(how, fd, F_WRLCK, SEEK_CUR, 0, 50));
    say_locked("locked");
    say("from before the offset", lock(how, fd, F_WRLCK, SEEK_CUR, -20, 5));
    say_locked("locked");
    ask(how, fd);
    say("from the end", lock(how, fd, F_WRLCK, SEEK_END, -10, 0));
    say_locked("locked");
    say("the last record", lock(how, fd, F_WRLCK, SEEK_END, 0, -200));
    say_locked("locked");
    need(pwrite(fd, bytes, 300, size) == 300, "pwrite");
    say("a longer file", lock(how, fd, F_WRLCK, SEEK_END, 100, 10));
    say_locked("locked");
    need(read(fd, bytes, 20) == 20, "read");
    say("unlocked from the offset", lock(how, fd, F_UNLCK, SEEK_CUR, 0, 10));
    say_locked("locked");
    refuse(how, fd);
    say("all", lock(how, fd, F_UNLCK, SEEK_END, -1300, 0));
    say_locked("unlocked");
    return close(fd);
}
