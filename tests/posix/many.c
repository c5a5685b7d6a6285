// Many processes write a piece of one file each, meet, and each reads the piece of another one:
//   many FILE PROCESSES
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { piece = 4096 };

static pthread_barrier_t* barrier;

static int write_and_read(const char* name, int self, int count) {
    unsigned char mine[piece], there[piece];
    const int other = (self + count / 2) % count;
    const int fd = open(name, O_RDWR);
    need(fd >= 0, name);
    fill(mine, piece, (size_t)self * piece, 0);
    pthread_barrier_wait(barrier);
    need(pwrite(fd, mine, piece, (off_t)self * piece) == piece, "write");
    pthread_barrier_wait(barrier);
    const ssize_t got = pread(fd, there, piece, (off_t)other * piece);
    fill(mine, piece, (size_t)other * piece, 0);
    pthread_barrier_wait(barrier);
    close(fd);
    return got == piece && memcmp(mine, there, piece) == 0;
}

int main(int argc, char** argv) {
    need(argc == 3, "many FILE PROCESSES");
    const int count = atoi(argv[2]);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    barrier =
        mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(barrier != MAP_FAILED, "mmap");
    pthread_barrier_init(barrier, &shared, (unsigned)count);
    close(open_new(argv[1]));
    for (int i = 0; i < count; ++i) {
        const pid_t child = fork();
        need(child >= 0, "fork");
        if (child == 0) {
            _exit(write_and_read(argv[1], i, count) ? 0 : 1);
        }
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
