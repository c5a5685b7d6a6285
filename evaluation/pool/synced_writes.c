/* Sequential writes by several processes, each to its own file, with a sync now and then: the speed
 * of a device, to be compared with that of a pool with a journal on it.
 *
 *   synced_writes DIR WRITERS BYTES SIZE EVERY [in-place]
 *       Each writer writes BYTES in calls of SIZE, with fdatasync every EVERY bytes (0: never).
 *       in-place: overwrites existing bytes with O_DIRECT and O_DSYNC, and ignores EVERY: the lower
 *       bound for a durable write of this size.
 *       Prints the bytes per second of all, and the median and 99th percentile of a write in
 *       microseconds, including its sync. */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { writers_max = 64, place_bytes = 32 << 20 };

struct shared {
    pthread_barrier_t barrier;
    double first[writers_max], last[writers_max];
};

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static void* mapped(size_t bytes) {
    void* const at = shared_memory(bytes);
    if (at == NULL) {
        fail("mmap");
    }
    return at;
}

static void fill(const char* path, const char* buffer, size_t size) {
    const int fd = open(path, O_CREAT | O_WRONLY, 0644);
    for (size_t done = 0; done + size <= place_bytes; done += size) {
        if (pwrite(fd, buffer, size, (off_t)done) != (ssize_t)size) {
            fail("write");
        }
    }
    if (fsync(fd) != 0 || close(fd) != 0) {
        fail("fsync");
    }
}

static void write_file(struct shared* shared, int writer, char** argv, double* took) {
    const size_t bytes = strtoul(argv[3], NULL, 10), size = strtoul(argv[4], NULL, 10);
    const size_t every = argv[6] ? 0 : strtoul(argv[5], NULL, 10);
    const size_t room = argv[6] ? place_bytes / size * size : bytes;
    char path[4096];
    snprintf(path, sizeof path, "%s/synced.%d", argv[1], writer);
    char* const buffer = aligned_alloc(4096, size);
    memset(buffer, 'a' + writer % 26, size);
    if (argv[6]) {
        fill(path, buffer, size);
    }
    const int fd = open(path, O_CREAT | O_WRONLY | (argv[6] ? O_DIRECT | O_DSYNC : 0), 0644);
    if (fd < 0) {
        fail("open");
    }
    pthread_barrier_wait(&shared->barrier);
    shared->first[writer] = now();
    for (size_t done = 0; done < bytes; done += size) {
        const double begin = now();
        if (pwrite(fd, buffer, size, (off_t)(done % room)) != (ssize_t)size) {
            fail("write");
        }
        if (every > 0 && (done + size) % every == 0 && fdatasync(fd) != 0) {
            fail("fdatasync");
        }
        took[done / size] = now() - begin;
    }
    shared->last[writer] = now();
    close(fd);
}

int main(int argc, char** argv) {
    const int in_place = argc == 7 && strcmp(argv[6], "in-place") == 0;
    const int writers = argc == 6 || in_place ? atoi(argv[2]) : 0;
    if (writers < 1 || writers > writers_max) {
        fprintf(stderr, "usage: the first lines of evaluation/pool/synced_writes.c\n");
        return 2;
    }
    const size_t count = strtoul(argv[3], NULL, 10) / strtoul(argv[4], NULL, 10);
    struct shared* const shared = mapped(sizeof *shared);
    double* const took = mapped(count * (size_t)writers * sizeof *took);
    make_barrier(&shared->barrier, writers);
    for (int writer = 0; writer < writers; ++writer) {
        if (fork_rank() == 0) {
            write_file(shared, writer, argv, took + (size_t)writer * count);
            exit(0);
        }
    }
    double begin = 0, end = 0;
    if (!all_ended(writers)) {
        return 1;
    }
    for (int writer = 0; writer < writers; ++writer) {
        begin = writer == 0 || shared->first[writer] < begin ? shared->first[writer] : begin;
        end = shared->last[writer] > end ? shared->last[writer] : end;
    }
    const size_t all = count * (size_t)writers;
    qsort(took, all, sizeof *took, ascending);
    printf("{\"bytes_per_s\": %.0f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           (double)all * (double)strtoul(argv[4], NULL, 10) / (end - begin), took[all / 2] * 1e6,
           took[all * 99 / 100] * 1e6);
    return 0;
}
