// Many processes write a piece of one file each, and each reads the piece of another one. Those
// beyond FIRST begin when the first ones have written, and read a piece of theirs before anything.
//   many FILE PROCESSES FIRST
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { piece = 4096 };

struct meeting {
    pthread_barrier_t first_have_written, all_have_written, all_have_read;
};

static struct meeting* meeting;

static void meet(pthread_barrier_t* barrier, int count) {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    need(pthread_barrier_init(barrier, &shared, (unsigned)count) == 0, "a barrier");
}

static int reads(int fd, int of) {
    unsigned char expected[piece], got[piece];
    fill(expected, piece, (size_t)of * piece, 0);
    return pread(fd, got, piece, (off_t)of * piece) == piece && memcmp(expected, got, piece) == 0;
}

static int write_and_read(const char* name, int self, int count, int first) {
    unsigned char bytes[piece];
    int right = 1;
    const int fd = open(name, O_RDWR);
    need(fd >= 0, name);
    if (self >= first) {
        right = reads(fd, self % first);
    }
    fill(bytes, piece, (size_t)self * piece, 0);
    need(pwrite(fd, bytes, piece, (off_t)self * piece) == piece, "write");
    if (self < first) {
        pthread_barrier_wait(&meeting->first_have_written);
    }
    pthread_barrier_wait(&meeting->all_have_written);
    right = reads(fd, (self + count / 2) % count) && right;
    pthread_barrier_wait(&meeting->all_have_read);
    close(fd);
    return right;
}

int main(int argc, char** argv) {
    need(argc == 4, "many FILE PROCESSES FIRST");
    const int count = atoi(argv[2]), first = atoi(argv[3]);
    meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(meeting != MAP_FAILED, "mmap");
    meet(&meeting->first_have_written, first + 1);
    meet(&meeting->all_have_written, count);
    meet(&meeting->all_have_read, count);
    close(open_new(argv[1]));
    for (int i = 0; i < count; ++i) {
        if (i == first) {
            pthread_barrier_wait(&meeting->first_have_written);
        }
        const pid_t child = fork();
        need(child >= 0, "fork");
        if (child == 0) {
            _exit(write_and_read(argv[1], i, count, first) ? 0 : 1);
        }
    }
    if (first == count) {
        pthread_barrier_wait(&meeting->first_have_written);
    }
    long wrong = 0;
    for (int i = 0; i < count; ++i) {
        int status = 1;
        wait(&status);
        wrong += status != 0;
    }
    say("read something else", wrong);
    return 0;
}
