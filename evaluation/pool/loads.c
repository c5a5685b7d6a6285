/* Loads with output that the pool is meant to hide. They are plain POSIX calls; ranks are processes
 * that this program forks and that meet at a barrier, so that it runs without MPI.
 *
 *   pool_loads burst DIR RANKS STEPS BYTES COMPUTE_MS [WINDOW]
 *       Each step: compute (a busy loop), a barrier, then every rank writes BYTES to its own file
 *       in calls of 1 MiB. In each step the same bytes are also copied by memcpy: into warm private
 *       memory, and into memory that another process has touched, which is new to this one in the
 *       first step. The order of the three is permuted, since the first one reads the bytes from
 *       memory, and those after the output share the processors with the daemon. Prints one JSON
 *       line: the seconds of output, of the loop, of memcpy, and of memcpy into the other's memory,
 *       each of the slowest rank. With WINDOW (at least 1 MiB), another process per rank does the
 *       writing, from shared memory of that size.
 *
 *   pool_loads calls DIR COUNT
 *       Writes of 4 KiB, then reads of the same, then both by memcpy: the nanoseconds of a call
 *       (p10, p50, p99), less those of reading the clock.
 *
 *   pool_loads opens DIR COUNT
 *       Creates, opens and closes files: the nanoseconds of each (p50, p90).
 *
 *   pool_loads transfers DIR RANKS BYTES TRANSFER sequential|random write|read
 *       Each rank has its own file. Prints the bytes per second of all.
 *
 *   pool_loads copies DIR RANKS BYTES TRANSFER
 *       Each rank copies BYTES in pieces of TRANSFER into new memory that can be shared. Prints the
 *       bytes per second of all.
 *
 *   pool_loads fills DIR RANKS BYTES TRANSFER
 *       As `copies`, but by write calls, without mapping the memory.
 *
 *   pool_loads given DIR RANKS BYTES TRANSFER
 *       As `fills`, but another process allocates the memory for all ranks, 1 MiB for each in turn,
 *       at most 8 MiB ahead: a lower bound for a pool that owns its memory.
 *
 *   pool_loads once DIR RANKS BYTES cached|direct
 *       All ranks read DIR/transfers.0 from begin to end in calls of 1 MiB; direct: by O_DIRECT. */
#define _GNU_SOURCE
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { ranks_max = 64, call_bytes = 1 << 20, pieces_ahead = 8 };

/* Memory of a rank that another process allocates in pieces of call_bytes. `got` counts pieces that
 * are allocated and not used, `room` pieces that may be allocated. */
struct gift {
    int fd;
    sem_t got, room;
};

struct shared {
    pthread_barrier_t barrier;
    struct gift gifts[ranks_max];
    double output[ranks_max], loop[ranks_max], copy[ranks_max], pass[ranks_max];
    double first[ranks_max], last[ranks_max];
};

static void fail(const char* what) {
    fprintf(stderr, "pool_loads: cannot %s (%s). See the folder.\n", what, strerror(errno));
    exit(1);
}

static void compute(double seconds) {
    volatile double x = 1;
    for (const double end = now() + seconds; now() < end;) {
        for (int i = 0; i < 1000; ++i) {
            x = x * 1.0000001 + 1e-9;
        }
    }
}

static char* filled(size_t bytes, int seed) {
    char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (buffer == MAP_FAILED) {
        fail("allocate");
    }
    uint64_t state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memcpy(buffer + i, &state, 8);
    }
    return buffer;
}

static double slowest(const double* seconds, int ranks) {
    double most = 0;
    for (int i = 0; i < ranks; ++i) {
        most = seconds[i] > most ? seconds[i] : most;
    }
    return most;
}

static void write_all(int fd, const char* from, size_t bytes, size_t call) {
    for (size_t done = 0; done < bytes;) {
        const size_t want = bytes - done < call ? bytes - done : call;
        const ssize_t got = write(fd, from + done, want);
        if (got < 0) {
            fail("write");
        }
        done += (size_t)got;
    }
}

/* Another process that writes for this rank. It gets the bytes in shared memory, in slots of one
 * call each. A byte in a pipe stands for a slot. */
struct relay {
    char* slots;
    size_t count, next;
    int freed, filled;
    pid_t writer;
};

/* The writing process: writes up to 4 adjacent slots (4 MiB) per call. */
static void write_slots(int fd, const char* slots, size_t count, int filled, int freed) {
    char some[4];
    size_t at = 0;
    for (;;) {
        const size_t want = count - at < sizeof some ? count - at : sizeof some;
        const ssize_t got = read(filled, some, want);
        if (got < 0) {
            fail("take a slot");
        }
        if (got == 0) {
            _exit(0);
        }
        write_all(fd, slots + at * call_bytes, (size_t)got * call_bytes, (size_t)got * call_bytes);
        at = (at + (size_t)got) % count;
        if (write(freed, some, (size_t)got) != got) {
            fail("free a slot");
        }
    }
}

static struct relay start_relay(int fd, size_t window) {
    struct relay made = {.slots = shared_memory(window), .count = window / call_bytes};
    int filled[2], freed[2];
    if (made.slots == NULL || pipe(filled) != 0 || pipe(freed) != 0) {
        fail("share memory");
    }
    for (size_t i = 0; i < made.count; ++i) {
        if (write(freed[1], "", 1) != 1) {
            fail("free a slot");
        }
    }
    made.writer = fork();
    if (made.writer == 0) {
        close(filled[1]);
        close(freed[0]);
        write_slots(fd, made.slots, made.count, filled[0], freed[1]);
    }
    close(filled[0]);
    close(freed[1]);
    made.filled = filled[1], made.freed = freed[0];
    return made;
}

static void relay(struct relay* relay, const char* from, size_t bytes) {
    char one;
    for (size_t done = 0; done < bytes; done += call_bytes) {
        if (read(relay->freed, &one, 1) != 1) {
            fail("get a slot");
        }
        memcpy(relay->slots + relay->next * call_bytes, from + done, call_bytes);
        relay->next = (relay->next + 1) % relay->count;
        if (write(relay->filled, &one, 1) != 1) {
            fail("fill a slot");
        }
    }
}

static void end_relay(struct relay* relay) {
    int status = 1;
    close(relay->filled);
    if (waitpid(relay->writer, &status, 0) != relay->writer || status != 0) {
        fail("write by another process");
    }
}

/* Memory that another process has touched. Mapped by this process, but without page tables yet. */
static char* others_memory(size_t bytes) {
    const int fd = memfd_create("pool_loads", 0);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        fail("make shared memory");
    }
    const pid_t other = fork();
    if (other == 0) {
        char* all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (all != MAP_FAILED) {
            memset(all, 1, bytes);
        }
        _exit(all == MAP_FAILED);
    }
    int status = 1;
    char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (other < 0 || waitpid(other, &status, 0) != other || status != 0 || memory == MAP_FAILED) {
        fail("map shared memory");
    }
    close(fd);
    return memory;
}

/* Returns the seconds of a copy. Populating new pages for reading maps many at a time; they can
 * then be written as well, without further faults. */
static double copied(char* to, const char* from, size_t bytes, int is_new) {
    const double begin = now();
    for (size_t i = 0; i < bytes; i += call_bytes) {
        const size_t length = bytes - i < call_bytes ? bytes - i : call_bytes;
        if (is_new) {
            madvise(to + i, length, MADV_POPULATE_READ);
        }
        memcpy(to + i, from + i, length);
    }
    return now() - begin;
}

enum { output, copy, pass, parts };
static const int orders[6][parts] = {{output, copy, pass}, {pass, copy, output},
                                     {copy, output, pass}, {pass, output, copy},
                                     {output, pass, copy}, {copy, pass, output}};

static void burst(struct shared* shared, int rank, char** argv) {
    const int steps = atoi(argv[4]);
    const size_t bytes = strtoul(argv[5], NULL, 10);
    const double seconds = atof(argv[6]) / 1e3;
    char path[4096];
    snprintf(path, sizeof path, "%s/burst.%d", argv[2], rank);
    char* from = filled(bytes, rank);
    char* to = filled(bytes, rank + ranks_max);
    char* others = others_memory(bytes);
    const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0) {
        fail("open");
    }
    const size_t window = argv[7] == NULL ? 0 : strtoul(argv[7], NULL, 10);
    struct relay other = {0};
    if (window >= call_bytes) {
        other = start_relay(fd, window);
    }
    pthread_barrier_wait(&shared->barrier);
    const double begin = now();
    for (int step = 0; step < steps; ++step) {
        compute(seconds);
        for (int turn = 0; turn < parts; ++turn) {
            pthread_barrier_wait(&shared->barrier);
            const int part = orders[step % 6][turn];
            if (part == output) {
                const double last = now();
                if (other.count > 0) {
                    relay(&other, from, bytes);
                } else {
                    write_all(fd, from, bytes, call_bytes);
                }
                shared->output[rank] += now() - last;
            } else if (part == copy) {
                shared->copy[rank] += copied(to, from, bytes, 0);
            } else {
                shared->pass[rank] += copied(others, from, bytes, step == 0);
            }
        }
    }
    const double last = now();
    if (other.count > 0) {
        end_relay(&other);
    }
    if (close(fd) != 0) {
        fail("close");
    }
    shared->output[rank] += now() - last;
    shared->loop[rank] = now() - begin;
}

static void print_calls(const char* name, double* ns, long count, double clock_ns) {
    qsort(ns, (size_t)count, sizeof *ns, ascending);
    printf("\"%s_p10_ns\": %.0f, \"%s_p50_ns\": %.0f, \"%s_p99_ns\": %.0f", name,
           ns[count / 10] - clock_ns, name, ns[count / 2] - clock_ns, name,
           ns[count * 99 / 100] - clock_ns);
}

/* The same bytes by memcpy alone, into shared memory and back: the lower bound for a call. */
static void copies(char* buffer, double* ns, long count, double clock_ns) {
    char* memory = mmap(NULL, (size_t)count * 4096, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("allocate");
    }
    for (int back = 0; back < 2; ++back) {
        for (long i = 0; i < count; ++i) {
            char* there = memory + i * 4096;
            const double begin = now();
            memcpy(back ? buffer : there, back ? there : buffer, 4096);
            ns[i] = (now() - begin) * 1e9;
        }
        printf(", ");
        print_calls(back ? "read_copy" : "write_copy", ns, count, clock_ns);
    }
}

static void calls(char** argv) {
    const long count = atol(argv[3]);
    char path[4096];
    snprintf(path, sizeof path, "%s/calls", argv[2]);
    char* buffer = filled(4096, 1);
    double* ns = calloc((size_t)count, sizeof *ns);
    for (long i = 0; i < count; ++i) {
        const double begin = now();
        ns[i] = (now() - begin) * 1e9;
    }
    qsort(ns, (size_t)count, sizeof *ns, ascending);
    const double clock_ns = ns[count / 2];
    const int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (fd < 0) {
        fail("open");
    }
    printf("{");
    for (int reads = 0; reads < 2; ++reads) {
        for (long i = 0; i < count; ++i) {
            const double begin = now();
            if ((reads ? pread(fd, buffer, 4096, i * 4096) : write(fd, buffer, 4096)) != 4096) {
                fail(reads ? "read" : "write");
            }
            ns[i] = (now() - begin) * 1e9;
        }
        printf(reads ? ", " : "");
        print_calls(reads ? "read" : "write", ns, count, clock_ns);
    }
    copies(buffer, ns, count, clock_ns);
    printf(", \"clock_ns\": %.0f}\n", clock_ns);
    close(fd);
}

static void transfers(struct shared* shared, int rank, char** argv) {
    const size_t bytes = strtoul(argv[4], NULL, 10), size = strtoul(argv[5], NULL, 10);
    const int random = strcmp(argv[6], "random") == 0, writes = strcmp(argv[7], "write") == 0;
    const size_t count = bytes / size;
    char path[4096];
    snprintf(path, sizeof path, "%s/transfers.%d", argv[2], rank);
    char* buffer = filled(size, rank);
    size_t* order = calloc(count, sizeof *order);
    for (size_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    srand48(rank + 1);
    for (size_t i = count; random && i > 1; --i) {
        const size_t j = (size_t)(drand48() * (double)i), kept = order[i - 1];
        order[i - 1] = order[j], order[j] = kept;
    }
    const int fd = open(path, writes ? O_CREAT | O_WRONLY : O_RDONLY, 0644);
    if (fd < 0) {
        fail("open");
    }
    pthread_barrier_wait(&shared->barrier);
    shared->first[rank] = now();
    for (size_t i = 0; i < count; ++i) {
        const off_t at = (off_t)(order[i] * size);
        const ssize_t got = writes ? pwrite(fd, buffer, size, at) : pread(fd, buffer, size, at);
        if (got != (ssize_t)size) {
            fail(writes ? "write" : "read");
        }
    }
    if (close(fd) != 0) {
        fail("close");
    }
    shared->last[rank] = now();
}

static void copy_all(struct shared* shared, int rank, char** argv) {
    const size_t bytes = strtoul(argv[4], NULL, 10), size = strtoul(argv[5], NULL, 10);
    char* const buffer = filled(size, rank);
    pthread_barrier_wait(&shared->barrier);
    shared->first[rank] = now();
    char* const memory = shared_memory(bytes);
    if (memory == NULL) {
        fail("map memory");
    }
    for (size_t at = 0; at + size <= bytes; at += size) {
        if (at % call_bytes == 0) { /* allocates in one call, if the kernel supports it */
            madvise(memory + at, bytes - at < call_bytes ? bytes - at : call_bytes,
                    MADV_POPULATE_WRITE);
        }
        memcpy(memory + at, buffer, size);
    }
    shared->last[rank] = now();
}

static void fill_all(struct shared* shared, int rank, char** argv) {
    const size_t bytes = strtoul(argv[4], NULL, 10), size = strtoul(argv[5], NULL, 10);
    char* const buffer = filled(size, rank);
    pthread_barrier_wait(&shared->barrier);
    shared->first[rank] = now();
    const int fd = memfd_create("pool_loads", 0);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        fail("make shared memory");
    }
    for (size_t at = 0; at + size <= bytes; at += size) {
        if (pwrite(fd, buffer, size, (off_t)at) != (ssize_t)size) {
            fail("write to shared memory");
        }
    }
    shared->last[rank] = now();
    close(fd);
}

static void make_gift(struct gift* gift, size_t bytes) {
    gift->fd = memfd_create("pool_loads", 0);
    if (gift->fd < 0 || ftruncate(gift->fd, (off_t)bytes) != 0 || sem_init(&gift->got, 1, 0) != 0 ||
        sem_init(&gift->room, 1, pieces_ahead) != 0) {
        fail("make shared memory");
    }
}

/* Allocates the next piece for each rank with room in turn; waits for a rank only if none has. */
static void give_all(struct gift* gifts, int ranks, size_t bytes) {
    size_t given[ranks_max] = {0};
    for (int left = ranks, idle = 0, rank = 0; left > 0; rank = (rank + 1) % ranks) {
        struct gift* const gift = &gifts[rank];
        if (given[rank] == bytes || (idle < ranks && sem_trywait(&gift->room) != 0)) {
            ++idle;
            continue;
        }
        if (idle >= ranks && sem_wait(&gift->room) != 0) {
            fail("wait for room");
        }
        idle = 0;
        const size_t rest = bytes - given[rank], piece = rest < call_bytes ? rest : call_bytes;
        if (fallocate(gift->fd, 0, (off_t)given[rank], (off_t)piece) != 0) {
            fail("get shared memory");
        }
        given[rank] += piece;
        left -= given[rank] == bytes;
        sem_post(&gift->got);
    }
}

static void fill_given(struct shared* shared, int rank, char** argv) {
    const size_t bytes = strtoul(argv[4], NULL, 10), size = strtoul(argv[5], NULL, 10);
    struct gift* const gift = &shared->gifts[rank];
    char* const buffer = filled(size, rank);
    pthread_barrier_wait(&shared->barrier);
    shared->first[rank] = now();
    size_t known = 0;
    for (size_t at = 0; at + size <= bytes; at += size) {
        for (; known < at + size; known += call_bytes) {
            if (known > 0) {
                sem_post(&gift->room);
            }
            sem_wait(&gift->got);
        }
        if (pwrite(gift->fd, buffer, size, (off_t)at) != (ssize_t)size) {
            fail("write to shared memory");
        }
    }
    shared->last[rank] = now();
}

/* Starts the process that allocates memory for the ranks; it has to be started before them. */
static void start_giving(struct shared* shared, int ranks, size_t bytes) {
    for (int rank = 0; rank < ranks; ++rank) {
        make_gift(&shared->gifts[rank], bytes);
    }
    if (fork_rank() == 0) {
        pthread_barrier_wait(&shared->barrier);
        give_all(shared->gifts, ranks, bytes);
        exit(0);
    }
}

static void once(struct shared* shared, int rank, char** argv) {
    const size_t bytes = strtoul(argv[4], NULL, 10);
    const int direct = strcmp(argv[5], "direct") == 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/transfers.0", argv[2]);
    char* buffer = filled(call_bytes, rank);
    const int fd = open(path, direct ? O_RDONLY | O_DIRECT : O_RDONLY);
    if (fd < 0) {
        fail("open");
    }
    pthread_barrier_wait(&shared->barrier);
    shared->first[rank] = now();
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(fd, buffer, call_bytes);
        if (got <= 0) {
            fail("read");
        }
        done += (size_t)got;
    }
    shared->last[rank] = now();
    close(fd);
}

static void opens(char** argv) {
    const int count = atoi(argv[3]);
    double* took = calloc((size_t)count, sizeof *took);
    if (count < 1 || took == NULL) {
        fail("open so many files");
    }
    for (int i = 0; i < count; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%s/opens.%d", argv[2], i);
        const double begin = now();
        const int fd = open(path, O_CREAT | O_RDWR, 0644);
        took[i] = now() - begin;
        if (fd < 0) {
            fail("open");
        }
        close(fd);
    }
    qsort(took, (size_t)count, sizeof *took, ascending);
    printf("{\"open_p50_ns\":%.0f,\"open_p90_ns\":%.0f}\n", took[count / 2] * 1e9,
           took[count * 9 / 10] * 1e9);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "opens") == 0 && argc == 4) {
        opens(argv);
        return 0;
    }
    if (strcmp(what, "calls") == 0 && argc == 4) {
        calls(argv);
        return 0;
    }
    const int bursts = strcmp(what, "burst") == 0 && (argc == 7 || argc == 8);
    const int reads_once = strcmp(what, "once") == 0 && argc == 6;
    const int only_copies = strcmp(what, "copies") == 0 && argc == 6;
    const int only_fills = strcmp(what, "fills") == 0 && argc == 6;
    const int gives = strcmp(what, "given") == 0 && argc == 6;
    if (!bursts && !reads_once && !only_copies && !only_fills && !gives &&
        !(strcmp(what, "transfers") == 0 && argc == 8)) {
        fprintf(stderr, "usage: the first lines of evaluation/pool/loads.c\n");
        return 2;
    }
    const int ranks = atoi(argv[3]);
    if (ranks < 1 || ranks > ranks_max) {
        fprintf(stderr, "pool_loads: 1 to %d ranks\n", ranks_max);
        return 2;
    }
    struct shared* const shared = shared_memory(sizeof *shared);
    if (shared == NULL) {
        fail("map memory");
    }
    make_barrier(&shared->barrier, ranks + gives);
    if (gives) {
        start_giving(shared, ranks, strtoul(argv[4], NULL, 10));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        if (fork_rank() == 0) {
            bursts        ? burst(shared, rank, argv)
            : reads_once  ? once(shared, rank, argv)
            : only_copies ? copy_all(shared, rank, argv)
            : only_fills  ? fill_all(shared, rank, argv)
            : gives       ? fill_given(shared, rank, argv)
                          : transfers(shared, rank, argv);
            exit(0);
        }
    }
    if (!all_ended(ranks + gives)) {
        return 1;
    }
    if (bursts) {
        printf("{\"output_s\": %.6f, \"loop_s\": %.6f, \"memcpy_s\": %.6f, \"pass_s\": %.6f}\n",
               slowest(shared->output, ranks), slowest(shared->loop, ranks),
               slowest(shared->copy, ranks), slowest(shared->pass, ranks));
        return 0;
    }
    double begin = shared->first[0];
    for (int i = 1; i < ranks; ++i) {
        begin = shared->first[i] < begin ? shared->first[i] : begin;
    }
    const double seconds = slowest(shared->last, ranks) - begin;
    printf("{\"seconds\": %.6f, \"bytes_per_s\": %.0f}\n", seconds,
           (double)ranks * (double)strtoul(argv[4], NULL, 10) / seconds);
    return 0;
}
