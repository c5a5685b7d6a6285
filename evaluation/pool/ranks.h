/* Processes that this program forks, which meet at a barrier and share memory. */
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

/* For qsort, of doubles. */
static inline int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Memory that all of them share, zero; NULL: there is none. */
static inline void* shared_memory(size_t bytes) {
    void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* A barrier in such memory, for so many of them. */
static inline void make_barrier(pthread_barrier_t* barrier, int count) {
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier, &attributes, (unsigned)count);
}

/* As fork; they end with the one that made them, for they might wait for one that has failed. */
static inline pid_t fork_rank(void) {
    const pid_t made = fork();
    if (made == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    return made;
}

/* Whether so many of them have ended, and well; it does not wait for others than the first that has
 * not. */
static inline int all_ended(int count) {
    for (int i = 0; i < count; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) {
            return 0;
        }
    }
    return 1;
}
