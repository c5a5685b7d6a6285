/* Threads fork while others are in the middle of writing: forks PROCESSES. Each record says who
 * wrote it and which of his it is; what was acknowledged is counted. Children write, too, and end
 * by _exit or become another program. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { writers = 2, forkers = 2, record_bytes = 512, children_max = 4096 };

static int shared; /* one offset for all, of all processes */
static atomic_bool over;
static atomic_long next_child;
static int processes;
static atomic_int* acknowledged; /* records, of each writer; in memory that all share */

/* By the offset that all share: nothing is lost and nothing is there twice. */
static int append(int fd, int writer, int number) {
    unsigned char record[record_bytes];
    fill(record, sizeof record, (size_t)number, (unsigned)writer);
    memcpy(record, &writer, sizeof writer);
    memcpy(record + sizeof writer, &number, sizeof number);
    if (write(fd, record, sizeof record) != sizeof record) {
        return 0;
    }
    atomic_fetch_add(&acknowledged[writer], 1);
    return 1;
}

static void* keep_writing(void* argument) {
    const int writer = (int)(long)argument;
    char name[32];
    snprintf(name, sizeof name, "own.%d", writer);
    const int own = open_new(name);
    for (int number = 0; !atomic_load(&over); ++number) {
        need(append(shared, writer, number), "write");
        need(pwrite(own, &number, sizeof number, (number % 1000) * 4L) == sizeof number, "pwrite");
        if (number % 64 == 0) { /* opens and closes while others fork */
            close(open(name, O_RDWR));
        }
    }
    close(own);
    return NULL;
}

static void be_child(int writer) {
    for (int number = 0; number < 3; ++number) {
        if (!append(shared, writer, number)) {
            _exit(8);
        }
    }
    if (writer % 4 == 0) {
        execl("/bin/true", "true", (char*)NULL);
        _exit(9);
    }
    _exit(0);
}

static void* keep_forking(void* argument) {
    (void)argument;
    for (int i = 0; i < processes; ++i) {
        const int writer = writers + (int)atomic_fetch_add(&next_child, 1);
        const pid_t child = fork();
        if (child == 0) {
            be_child(writer);
        }
        int status = 0;
        need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
    }
    return NULL;
}

static void judge(void) {
    static unsigned char seen[children_max][8192 / 8];
    const off_t size = lseek(shared, 0, SEEK_END);
    long wrong = size % record_bytes;
    long records = 0;
    for (off_t at = 0; at + record_bytes <= size; at += record_bytes) {
        unsigned char record[record_bytes];
        unsigned char expected[record_bytes];
        int who[2];
        need(pread(shared, record, sizeof record, at) == sizeof record, "pread");
        memcpy(who, record, sizeof who);
        if (who[0] < 0 || who[0] >= children_max || who[1] < 0) {
            ++wrong;
            continue;
        }
        fill(expected, sizeof expected, (size_t)who[1], (unsigned)who[0]);
        memcpy(expected, who, sizeof who);
        wrong += memcmp(record, expected, sizeof record) != 0;
        if (who[1] < 8192) {
            unsigned char* const bits = &seen[who[0]][who[1] / 8];
            wrong += (*bits >> (who[1] % 8)) & 1; /* twice */
            *bits |= (unsigned char)(1 << (who[1] % 8));
        }
        ++records;
    }
    long promised = 0;
    for (int i = 0; i < children_max; ++i) {
        promised += atomic_load(&acknowledged[i]);
    }
    say("wrong or twice", wrong);
    say("missing", promised - records);
}

static pthread_barrier_t barrier;

static void* fork_once(void* argument) {
    (void)argument;
    pthread_barrier_wait(&barrier);
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return NULL;
}

/* The first forks with a file: its offset is the process' own until then. */
static long lost_by_first_forks(void) {
    long lost = 0;
    pthread_barrier_init(&barrier, NULL, forkers + 1);
    for (int round = 0; round < processes; ++round) {
        const int fd = open_new("first");
        pthread_t all[forkers];
        for (int i = 0; i < forkers; ++i) {
            need(pthread_create(&all[i], NULL, fork_once, NULL) == 0, "pthread_create");
        }
        off_t written = 0;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < 300; ++i) {
            written += write(fd, "0123456789", 10);
        }
        for (int i = 0; i < forkers; ++i) {
            pthread_join(all[i], NULL);
        }
        lost += written != 3000 || lseek(fd, 0, SEEK_CUR) != written;
        close(fd);
    }
    return lost;
}

int main(int argc, char** argv) {
    processes = argc > 1 ? atoi(argv[1]) : 100;
    acknowledged = mmap(NULL, children_max * sizeof *acknowledged, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(acknowledged != MAP_FAILED, "mmap");
    shared = open("shared", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
    need(shared >= 0, "open");
    pthread_t all[writers + forkers];
    for (long i = 0; i < writers + forkers; ++i) {
        void* (*const run)(void*) = i < writers ? keep_writing : keep_forking;
        need(pthread_create(&all[i], NULL, run, (void*)i) == 0, "pthread_create");
    }
    for (int i = writers; i < writers + forkers; ++i) {
        pthread_join(all[i], NULL);
    }
    atomic_store(&over, true);
    for (int i = 0; i < writers; ++i) {
        pthread_join(all[i], NULL);
    }
    judge();
    say("files with an offset that went back", lost_by_first_forks());
    return 0;
}
