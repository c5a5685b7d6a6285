/* A preloaded library that counts a program's file calls as darshan-runtime does, for machines
 * where that cannot be installed. Each rank writes a raw file of records, of which make.py makes a
 * log with Darshan's own library. Only files below RECORD_UNDER are counted. counters.h, with the
 * indices of the counters, is made from PyDarshan's names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

enum { DESCRIPTORS = 65536 };

static struct record records[FILES];
static int many, ranks = 1, rank = 0;
static struct record* of_descriptor[DESCRIPTORS];
static int64_t offsets[DESCRIPTORS];
static double started, clock_begin;
static const char* under;

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + t.tv_nsec * 1e-9 - clock_begin;
}

__attribute__((constructor)) static void begin(void) {
    under = getenv("RECORD_UNDER");
    clock_begin = 0;
    started = clock_begin = now();
}

struct record* find(const char* path, int module) {
    if (!under || !path || strncmp(path, under, strlen(under)) != 0) return NULL;
    for (int at = many - 1; at >= 0; at--)
        if (records[at].module == module && strcmp(records[at].name, path) == 0)
            return &records[at];
    if (many == FILES) return NULL;
    struct record* one = &records[many++];
    snprintf(one->name, sizeof one->name, "%s", path);
    one->module = module;
    one->last_read = one->last_written = -1;
    return one;
}

void add_common(struct common* all, int64_t value) {
    for (int at = 0; at < SIZES; at++) {
        if (all->count[at] && all->value[at] != value) continue;
        all->value[at] = value;
        all->count[at]++;
        return;
    }
}

int bin(int64_t size) {
    static const int64_t most[] = {100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20};
    int at = 0;
    while (at < 8 && size > most[at]) at++;
    return at<8 ? at : size>(1LL << 30) ? 9 : 8;
}

void span(struct record* one, int start, int end, double a, double b) {
    if (one->time[start] == 0 || a < one->time[start]) one->time[start] = a;
    if (b > one->time[end]) one->time[end] = b;
}

static void moved(struct record* one, int writing, int64_t at, int64_t size, double a, double b) {
    if (!one || size < 0) return;
    int64_t* c = one->counter;
    double* t = one->time;
    int64_t* last = writing ? &one->last_written : &one->last_read;
    if (one->module == STDIO) {
        c[writing ? STDIO_WRITES : STDIO_READS]++;
        c[writing ? STDIO_BYTES_WRITTEN : STDIO_BYTES_READ] += size;
        c[writing ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ] += size;
        t[writing ? STDIO_F_WRITE_TIME : STDIO_F_READ_TIME] += b - a;
        writing ? span(one, STDIO_F_WRITE_START_TIMESTAMP, STDIO_F_WRITE_END_TIMESTAMP, a, b)
                : span(one, STDIO_F_READ_START_TIMESTAMP, STDIO_F_READ_END_TIMESTAMP, a, b);
        return;
    }
    c[writing ? POSIX_WRITES : POSIX_READS]++;
    c[writing ? POSIX_BYTES_WRITTEN : POSIX_BYTES_READ] += size;
    int end = writing ? POSIX_MAX_BYTE_WRITTEN : POSIX_MAX_BYTE_READ;
    if (size && at + size - 1 > c[end]) c[end] = at + size - 1;
    if (at > *last) c[writing ? POSIX_SEQ_WRITES : POSIX_SEQ_READS]++;
    if (at == *last + 1)
        c[writing ? POSIX_CONSEC_WRITES : POSIX_CONSEC_READS]++;
    else if (*last >= 0)
        add_common(&one->stride, at - *last - 1);
    *last = at + size - 1;
    if (c[POSIX_READS] + c[POSIX_WRITES] > 1 && one->last_was_write != writing)
        c[POSIX_RW_SWITCHES]++;
    one->last_was_write = writing;
    c[POSIX_FILE_ALIGNMENT] = 4096;
    c[POSIX_MEM_ALIGNMENT] = 8;
    if (at % 4096) c[POSIX_FILE_NOT_ALIGNED]++;
    c[(writing ? POSIX_SIZE_WRITE_0_100 : POSIX_SIZE_READ_0_100) + bin(size)]++;
    add_common(&one->access, size);
    t[writing ? POSIX_F_WRITE_TIME : POSIX_F_READ_TIME] += b - a;
    int longest = writing ? POSIX_F_MAX_WRITE_TIME : POSIX_F_MAX_READ_TIME;
    if (b - a > t[longest]) {
        t[longest] = b - a;
        c[writing ? POSIX_MAX_WRITE_TIME_SIZE : POSIX_MAX_READ_TIME_SIZE] = size;
    }
    writing ? span(one, POSIX_F_WRITE_START_TIMESTAMP, POSIX_F_WRITE_END_TIMESTAMP, a, b)
            : span(one, POSIX_F_READ_START_TIMESTAMP, POSIX_F_READ_END_TIMESTAMP, a, b);
}

static struct record* posix(int fd) {
    return fd >= 0 && fd < DESCRIPTORS ? of_descriptor[fd] : NULL;
}

static int opened(int fd, const char* path, double a) {
    struct record* one = fd >= 0 && fd < DESCRIPTORS ? find(path, POSIX) : NULL;
    if (!one) return fd;
    double b = now();
    of_descriptor[fd] = one;
    offsets[fd] = 0;
    one->counter[POSIX_OPENS]++;
    one->counter[POSIX_MODE] = 0644;
    one->time[POSIX_F_META_TIME] += b - a;
    span(one, POSIX_F_OPEN_START_TIMESTAMP, POSIX_F_OPEN_END_TIMESTAMP, a, b);
    return fd;
}

#define OPEN(name)                                       \
    int name(const char* path, int flags, ...) {         \
        REAL(int, name, const char*, int, ...);          \
        va_list rest;                                    \
        va_start(rest, flags);                           \
        int mode = va_arg(rest, int);                    \
        va_end(rest);                                    \
        double a = now();                                \
        return opened(real(path, flags, mode), path, a); \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    REAL(int, close, int);
    struct record* one = posix(fd);
    double a = now();
    int done = real(fd);
    if (one) {
        one->time[POSIX_F_META_TIME] += now() - a;
        span(one, POSIX_F_CLOSE_START_TIMESTAMP, POSIX_F_CLOSE_END_TIMESTAMP, a, now());
        of_descriptor[fd] = NULL;
    }
    return done;
}

#define MOVE(name, kind, writing)                             \
    ssize_t name(int fd, kind* bytes, size_t size) {          \
        REAL(ssize_t, name, int, kind*, size_t);              \
        double a = now();                                     \
        ssize_t done = real(fd, bytes, size);                 \
        struct record* one = posix(fd);                       \
        if (one && done >= 0) {                               \
            moved(one, writing, offsets[fd], done, a, now()); \
            offsets[fd] += done;                              \
        }                                                     \
        return done;                                          \
    }
MOVE(read, void, 0)
MOVE(write, const void, 1)

#define MOVE_AT(name, kind, writing)                           \
    ssize_t name(int fd, kind* bytes, size_t size, off_t at) { \
        REAL(ssize_t, name, int, kind*, size_t, off_t);        \
        double a = now();                                      \
        ssize_t done = real(fd, bytes, size, at);              \
        moved(posix(fd), writing, at, done, a, now());         \
        return done;                                           \
    }
MOVE_AT(pread, void, 0)
MOVE_AT(pread64, void, 0)
MOVE_AT(pwrite, const void, 1)
MOVE_AT(pwrite64, const void, 1)

#define SEEK(name)                                     \
    off_t name(int fd, off_t by, int whence) {         \
        REAL(off_t, name, int, off_t, int);            \
        double a = now();                              \
        off_t done = real(fd, by, whence);             \
        struct record* one = posix(fd);                \
        if (one && done >= 0) {                        \
            offsets[fd] = done;                        \
            one->counter[POSIX_SEEKS]++;               \
            one->time[POSIX_F_META_TIME] += now() - a; \
        }                                              \
        return done;                                   \
    }
SEEK(lseek)
SEEK(lseek64)

#define SYNC(name, counted)                             \
    int name(int fd) {                                  \
        REAL(int, name, int);                           \
        double a = now();                               \
        int done = real(fd);                            \
        struct record* one = posix(fd);                 \
        if (one) {                                      \
            one->counter[counted]++;                    \
            one->time[POSIX_F_WRITE_TIME] += now() - a; \
        }                                               \
        return done;                                    \
    }
SYNC(fsync, POSIX_FSYNCS)
SYNC(fdatasync, POSIX_FDSYNCS)

#define STAT(name, kind)                                           \
    int name(const char* path, kind* into) {                       \
        REAL(int, name, const char*, kind*);                       \
        double a = now();                                          \
        int done = real(path, into);                               \
        struct record* one = done == 0 ? find(path, POSIX) : NULL; \
        if (one) {                                                 \
            one->counter[POSIX_STATS]++;                           \
            one->time[POSIX_F_META_TIME] += now() - a;             \
        }                                                          \
        return done;                                               \
    }
STAT(stat, struct stat)
STAT(lstat, struct stat)

static struct {
    FILE* stream;
    struct record* record;
} streams[256];

static struct record* stdio(FILE* stream) {
    for (int at = 0; at < 256; at++)
        if (streams[at].stream == stream) return streams[at].record;
    return NULL;
}

FILE* fopen(const char* path, const char* mode) {
    REAL(FILE*, fopen, const char*, const char*);
    double a = now();
    FILE* stream = real(path, mode);
    struct record* one = stream ? find(path, STDIO) : NULL;
    for (int at = 0; one && at < 256; at++)
        if (!streams[at].stream) {
            streams[at].stream = stream;
            streams[at].record = one;
            break;
        }
    if (one) {
        one->counter[STDIO_OPENS]++;
        one->time[STDIO_F_META_TIME] += now() - a;
        span(one, STDIO_F_OPEN_START_TIMESTAMP, STDIO_F_OPEN_END_TIMESTAMP, a, now());
    }
    return stream;
}

int fclose(FILE* stream) {
    REAL(int, fclose, FILE*);
    struct record* one = stdio(stream);
    for (int at = 0; at < 256; at++)
        if (streams[at].stream == stream) streams[at].stream = NULL;
    double a = now();
    int done = real(stream);
    if (one) one->time[STDIO_F_META_TIME] += now() - a;
    return done;
}

int fflush(FILE* stream) {
    REAL(int, fflush, FILE*);
    double a = now();
    int done = real(stream);
    struct record* one = stream ? stdio(stream) : NULL;
    if (one) {
        one->counter[STDIO_FLUSHES]++;
        one->time[STDIO_F_WRITE_TIME] += now() - a;
    }
    return done;
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
    REAL(size_t, fwrite, const void*, size_t, size_t, FILE*);
    double a = now();
    size_t done = real(bytes, size, count, stream);
    moved(stdio(stream), 1, 0, (int64_t)(done * size), a, now());
    return done;
}

size_t fread(void* bytes, size_t size, size_t count, FILE* stream) {
    REAL(size_t, fread, void*, size_t, size_t, FILE*);
    double a = now();
    size_t done = real(bytes, size, count, stream);
    moved(stdio(stream), 0, 0, (int64_t)(done * size), a, now());
    return done;
}

/* MPI-IO: a table maps each MPI_File handle to its record. */
static struct {
    MPI_File file;
    struct record* record;
} handles[256];

static struct record* mpiio(MPI_File file) {
    for (int at = 0; at < 256; at++)
        if (handles[at].record && handles[at].file == file) return handles[at].record;
    return NULL;
}

int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
    double a = now();
    int done = PMPI_File_open(comm, path, mode, info, file);
    struct record* one = done == MPI_SUCCESS ? find(path, MPIIO) : NULL;
    int size = 1;
    MPI_Comm_size(comm, &size);
    for (int at = 0; one && at < 256; at++)
        if (!handles[at].record) {
            handles[at].file = *file;
            handles[at].record = one;
            break;
        }
    if (one) {
        one->counter[size > 1 ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS]++;
        one->counter[MPIIO_MODE] = mode;
        one->time[MPIIO_F_META_TIME] += now() - a;
        span(one, MPIIO_F_OPEN_START_TIMESTAMP, MPIIO_F_OPEN_END_TIMESTAMP, a, now());
    }
    return done;
}

int MPI_File_close(MPI_File* file) {
    struct record* one = mpiio(*file);
    for (int at = 0; at < 256; at++)
        if (handles[at].record && handles[at].file == *file) handles[at].record = NULL;
    double a = now();
    int done = PMPI_File_close(file);
    if (one) {
        one->time[MPIIO_F_META_TIME] += now() - a;
        span(one, MPIIO_F_CLOSE_START_TIMESTAMP, MPIIO_F_CLOSE_END_TIMESTAMP, a, now());
    }
    return done;
}

int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype view,
                      const char* name, MPI_Info info) {
    double a = now();
    int done = PMPI_File_set_view(file, at, unit, view, name, info);
    struct record* one = mpiio(file);
    if (one) {
        one->counter[MPIIO_VIEWS]++;
        one->time[MPIIO_F_META_TIME] += now() - a;
    }
    return done;
}

int MPI_File_sync(MPI_File file) {
    double a = now();
    int done = PMPI_File_sync(file);
    struct record* one = mpiio(file);
    if (one) {
        one->counter[MPIIO_SYNCS]++;
        one->time[MPIIO_F_WRITE_TIME] += now() - a;
    }
    return done;
}

static void mpi_moved(MPI_File file, int kind, int writing, int count, MPI_Datatype type,
                      double a) {
    struct record* one = mpiio(file);
    int of_type = 0;
    if (!one) return;
    PMPI_Type_size(type, &of_type);
    int64_t size = (int64_t)count * of_type, *c = one->counter;
    double b = now(), *t = one->time;
    c[kind]++;
    c[writing ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ] += size;
    c[(writing ? MPIIO_SIZE_WRITE_AGG_0_100 : MPIIO_SIZE_READ_AGG_0_100) + bin(size)]++;
    add_common(&one->access, size);
    t[writing ? MPIIO_F_WRITE_TIME : MPIIO_F_READ_TIME] += b - a;
    int longest = writing ? MPIIO_F_MAX_WRITE_TIME : MPIIO_F_MAX_READ_TIME;
    if (b - a > t[longest]) t[longest] = b - a;
    writing ? span(one, MPIIO_F_WRITE_START_TIMESTAMP, MPIIO_F_WRITE_END_TIMESTAMP, a, b)
            : span(one, MPIIO_F_READ_START_TIMESTAMP, MPIIO_F_READ_END_TIMESTAMP, a, b);
}

#define MPI_MOVE(name, bytes, kind, writing)                                       \
    int MPI_File_##name(MPI_File file, bytes buffer, int count, MPI_Datatype type, \
                        MPI_Status* status) {                                      \
        double a = now();                                                          \
        int done = PMPI_File_##name(file, buffer, count, type, status);            \
        mpi_moved(file, kind, writing, count, type, a);                            \
        return done;                                                               \
    }
MPI_MOVE(write, const void*, MPIIO_INDEP_WRITES, 1)
MPI_MOVE(write_all, const void*, MPIIO_COLL_WRITES, 1)
MPI_MOVE(read, void*, MPIIO_INDEP_READS, 0)
MPI_MOVE(read_all, void*, MPIIO_COLL_READS, 0)

#define MPI_MOVE_AT(name, bytes, kind, writing)                                                   \
    int MPI_File_##name(MPI_File file, MPI_Offset at, bytes buffer, int count, MPI_Datatype type, \
                        MPI_Status* status) {                                                     \
        double a = now();                                                                         \
        int done = PMPI_File_##name(file, at, buffer, count, type, status);                       \
        mpi_moved(file, kind, writing, count, type, a);                                           \
        return done;                                                                              \
    }
MPI_MOVE_AT(write_at, const void*, MPIIO_INDEP_WRITES, 1)
MPI_MOVE_AT(write_at_all, const void*, MPIIO_COLL_WRITES, 1)
MPI_MOVE_AT(read_at, void*, MPIIO_INDEP_READS, 0)
MPI_MOVE_AT(read_at_all, void*, MPIIO_COLL_READS, 0)

/* Puts the four commonest sizes into counters that are `apart` places apart. */
static void put_common(const struct common* all, int64_t* value, int apart, int64_t* count) {
    for (int at = 0; at < 4; at++) {
        int best = -1;
        for (int one = 0; one < SIZES; one++) {
            int taken = 0;
            for (int was = 0; was < at; was++)
                taken |= count[was] && value[was * apart] == all->value[one];
            if (!taken && all->count[one] && (best < 0 || all->count[one] > all->count[best]))
                best = one;
        }
        if (best < 0) return;
        value[at * apart] = all->value[best];
        count[at] = all->count[best];
    }
}

#define PUT_COMMON(one, module, kind, unit)                                                      \
    put_common(&one->kind, &one->counter[module##1_##unit], module##2_##unit - module##1_##unit, \
               &one->counter[module##1_COUNT])

static void put_all_common(struct record* one) {
    switch (one->module) {
        case POSIX:
            PUT_COMMON(one, POSIX_ACCESS, access, ACCESS);
            PUT_COMMON(one, POSIX_STRIDE, stride, STRIDE);
            break;
        case MPIIO: PUT_COMMON(one, MPIIO_ACCESS, access, ACCESS); break;
        case H5D: PUT_COMMON(one, H5D_ACCESS, access, ACCESS); break;
        case PNETCDF_VAR: PUT_COMMON(one, PNETCDF_VAR_ACCESS, access, ACCESS); break;
        default: break;
    }
}

int MPI_Init(int* argc, char*** argv) {
    int done = PMPI_Init(argc, argv);
    clock_begin = 0;
    started = clock_begin = now();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return done;
}

int MPI_Finalize(void) {
    char path[512];
    double ended = now();
    under = NULL;
    snprintf(path, sizeof path, "%s.%d", getenv("RECORD_OUT"), rank);
    REAL(FILE*, fopen, const char*, const char*);
    FILE* out = real(path, "w");
    for (int at = 0; out && at < many; at++) {
        struct record* one = &records[at];
        put_all_common(one);
        fprintf(out, "%d %s", one->module, one->name);
        for (int c = 0; c < COUNTERS_MOST; c++) fprintf(out, " %lld", (long long)one->counter[c]);
        for (int t = 0; t < TIMES_MOST; t++) fprintf(out, " %.9g", one->time[t]);
        fprintf(out, "\n");
    }
    if (out) {
        fprintf(out, "end %d %.17g %.17g\n", ranks, started, started + ended);
        fclose(out);
    }
    return PMPI_Finalize();
}
