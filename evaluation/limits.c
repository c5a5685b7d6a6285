/* The machine's upper bounds, to which results are compared: copying, gathering small pieces, and
 * writing and reading a file, by one thread and by one per core. "assembled" is the work of a
 * collective write without the collective part: gather pieces into a 1 MiB buffer and pwrite it to
 * a fresh file; "scattered" is that of a collective read. It needs no MPI.
 *
 *     limits DIRECTORY BYTES          prints JSON: rates in MiB/s, the best of three passes */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, CHUNK = 1 << 20, PASSES = 3 };

typedef enum { COPY, GATHER, WRITE, READ, ASSEMBLE, SCATTER } work_t;

typedef struct {
    work_t work;
    size_t piece;
    int fd;
    int64_t first, bytes;  /* of the file, or of memory */
    unsigned char* memory; /* twice `bytes`: a gap of one piece follows each piece */
    unsigned char* chunk;
    pthread_barrier_t* start;
    double seconds;
} share_t;

static void check(int ok, const char* what) {
    if (ok) return;
    fprintf(stderr, "limits: %s (%s).\n", what, strerror(errno));
    exit(3);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void gather(unsigned char* to, const unsigned char* from, size_t bytes, size_t piece) {
    for (size_t at = 0; at < bytes; at += piece) memcpy(to + at, from + 2 * at, piece);
}

static void scatter(unsigned char* to, const unsigned char* from, size_t bytes, size_t piece) {
    for (size_t at = 0; at < bytes; at += piece) memcpy(to + 2 * at, from + at, piece);
}

static void do_chunk(const share_t* s, int64_t at, size_t bytes) {
    const ssize_t all = (ssize_t)bytes;
    const off_t place = s->first + at;
    if (s->work == COPY) memcpy(s->chunk, s->memory + at, bytes);
    if (s->work == GATHER || s->work == ASSEMBLE)
        gather(s->chunk, s->memory + 2 * at, bytes, s->piece);
    if (s->work == WRITE || s->work == ASSEMBLE)
        check(pwrite(s->fd, s->chunk, bytes, place) == all, "Cannot write");
    if (s->work == READ || s->work == SCATTER)
        check(pread(s->fd, s->chunk, bytes, place) == all, "Cannot read");
    if (s->work == SCATTER) scatter(s->memory + 2 * at, s->chunk, bytes, s->piece);
}

static void* do_share(void* argument) {
    share_t* s = argument;
    pthread_barrier_wait(s->start);
    const double start = now();
    for (int64_t at = 0; at < s->bytes; at += CHUNK) {
        const int64_t left = s->bytes - at;
        do_chunk(s, at, left < CHUNK ? (size_t)left : CHUNK);
    }
    s->seconds = now() - start;
    return NULL;
}

typedef struct {
    int threads;
    int64_t bytes;
    unsigned char* memory; /* threads x 2 x share */
    unsigned char* chunks; /* threads x CHUNK */
} room_t;

/* MiB/s of one pass: all bytes over the time of the slowest thread. */
static double pass(const room_t* room, work_t work, size_t piece, int fd) {
    pthread_t threads[THREADS_MAX];
    share_t shares[THREADS_MAX];
    pthread_barrier_t start;
    const int64_t share = room->bytes / room->threads / CHUNK * CHUNK;
    double longest = 1e-9;
    pthread_barrier_init(&start, NULL, (unsigned)room->threads);
    for (int i = 0; i < room->threads; ++i) {
        shares[i] = (share_t){work,
                              piece,
                              fd,
                              i * share,
                              share,
                              room->memory + 2 * i * share,
                              room->chunks + (int64_t)i * CHUNK,
                              &start,
                              0};
        check(pthread_create(&threads[i], NULL, do_share, &shares[i]) == 0, "Cannot start");
    }
    for (int i = 0; i < room->threads; ++i) {
        pthread_join(threads[i], NULL);
        if (shares[i].seconds > longest) longest = shares[i].seconds;
    }
    pthread_barrier_destroy(&start);
    return (double)(share * room->threads) / longest / (1 << 20);
}

static double best_of_passes(const room_t* room, work_t work, size_t piece, int fd) {
    double best = 0;
    for (int i = 0; i < PASSES; ++i) {
        const double rate = pass(room, work, piece, fd);
        if (rate > best) best = rate;
    }
    return best;
}

static double fresh(const room_t* room, work_t work, size_t piece, const char* path, int flush) {
    double best = 0;
    for (int i = 0; i < PASSES; ++i) {
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        check(fd >= 0, "Cannot create a file");
        const double start = now();
        double rate = pass(room, work, piece, fd);
        if (flush) {
            check(fsync(fd) == 0, "Cannot flush");
            rate = (double)room->bytes / (now() - start) / (1 << 20);
        }
        close(fd);
        unlink(path);
        if (rate > best) best = rate;
    }
    return best;
}

static void print(int* count, const char* name, size_t piece, int threads, double rate) {
    printf(
        "%s\n  {\"name\": \"%s\", \"piece_bytes\": %zu, \"threads\": %d, "
        "\"mebibytes_per_second\": %.1f}",
        (*count)++ == 0 ? "" : ",", name, piece, threads, rate);
    fflush(stdout);
}

static void measure(const room_t* room, const char* path, int* count) {
    static const size_t pieces[] = {16, 256, 1024, 4096, 1 << 20};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    const int n = room->threads;
    print(count, "copy", 0, n, best_of_passes(room, COPY, 0, -1));
    for (int i = 0; i < PIECES; ++i)
        print(count, "gather", pieces[i], n, best_of_passes(room, GATHER, pieces[i], -1));
    print(count, "write_fresh", 0, n, fresh(room, WRITE, 0, path, 0));
    print(count, "write_fresh_fsync", 0, n, fresh(room, WRITE, 0, path, 1));
    for (int i = 0; i < PIECES; ++i)
        print(count, "assembled", pieces[i], n, fresh(room, ASSEMBLE, pieces[i], path, 0));
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(fd >= 0, "Cannot create a file");
    pass(room, WRITE, 0, fd);
    print(count, "rewrite", 0, n, best_of_passes(room, WRITE, 0, fd));
    print(count, "read_cached", 0, n, best_of_passes(room, READ, 0, fd));
    for (int i = 0; i < PIECES; ++i)
        print(count, "scattered", pieces[i], n, best_of_passes(room, SCATTER, pieces[i], fd));
    close(fd);
    unlink(path);
}

int main(int argc, char** argv) {
    char path[4096];
    int count = 0;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (argc != 3) {
        fprintf(stderr, "Usage: limits DIRECTORY BYTES\n");
        return 1;
    }
    snprintf(path, sizeof path, "%s/limits-%d", argv[1], (int)getpid());
    room_t room = {1, atoll(argv[2]), NULL, NULL};
    const int most = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (int)cores;
    room.memory = malloc((size_t)room.bytes * 2 + 2 * (size_t)CHUNK);
    room.chunks = malloc((size_t)most * CHUNK);
    check(room.memory != NULL && room.chunks != NULL, "Cannot take memory");
    memset(room.memory, 1, (size_t)room.bytes * 2);
    memset(room.chunks, 1, (size_t)most * CHUNK);
    printf("[");
    measure(&room, path, &count);
    room.threads = most;
    if (most > 1) measure(&room, path, &count);
    printf("\n]\n");
    return 0;
}
