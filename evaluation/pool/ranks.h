/* Forked processes ("ranks") that share memory and meet at a barrier. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The comparison of doubles for qsort(3). */
static inline int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Zeroed memory that forked processes share, or NULL. */
static inline void* shared_memory(size_t bytes) {
    void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Initialises a barrier for `count` processes, in shared memory. */
static inline void make_barrier(pthread_barrier_t* barrier, int count) {
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier, &attributes, (unsigned)count);
}

/* As fork(2), but the child is killed when this process dies: it might wait for it at a barrier. */
static inline pid_t fork_rank(void) {
    const pid_t made = fork();
    if (made == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    return made;
}

/* Waits for `count` children. Returns 0 as soon as one of them has failed, without waiting for the
 * others, else 1. */
static inline int all_ended(int count) {
    for (int i = 0; i < count; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) {
            return 0;
        }
    }
    return 1;
}
