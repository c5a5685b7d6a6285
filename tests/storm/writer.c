// Does random calls on files until it is told to end, or killed, and keeps account of each in
// memory that outlives it: before the call what it is about to do, behind it what came of it.
//
//   writer FOLDER LEDGER NUMBER SEED CALLS
//
// Files `shared-N` belong to all writers, which only write to them; `own-NUMBER-N` to this one,
// which truncates, renames and makes them anew, too. CALLS is a sum of bits, see `calls` below:
// what it may do beside writing. tests/storm/ledger.py reads the account.
#define _GNU_SOURCE
#include "forebay_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    records_max = 1 << 15,
    shared_files = 2,
    own_files = 3,
    file_bytes_max = 3 << 20,
    piece_bytes_max = 200000,
    period = 65521,     // a prime: no two versions near each other have the same bytes
    failures_max = 30,  // then nothing will come right any more
};

// Calls that a writer may make beside writing.
enum calls { renames = 1, truncates = 2, streams = 4, syncs = 8, shares = 16 };

enum kind { opens = 1, writes, cuts, moves, removes, makes_durable, closes, misreads, empties };

struct record {
    _Atomic uint64_t begin_ns;
    _Atomic uint64_t end_ns;  // 0: the call has not returned
    int64_t at;
    int64_t bytes;
    int64_t result;  // or minus an errno
    uint32_t version;
    uint32_t kind;
    uint32_t file;  // another one each time that a name is made anew
    uint32_t name;
    int64_t length;  // the file's length, where another thing was read than was written
};

struct ledger {
    _Atomic uint64_t count;
    _Atomic uint64_t told_to_end;
    _Atomic uint64_t done;      // it came to its end by itself
    _Atomic uint64_t captured;  // descriptors that were captured when they were closed
    uint64_t spare[4];
    struct record records[records_max];
};

struct file {
    char path[2][512];  // the second one is what it is renamed to
    uint32_t name;      // of the first one
    int moved;          // which of them it has
    uint32_t number;
    int fd;  // -1: it is closed
    FILE* stream;
    int64_t end;  // where a stream goes on
};

static struct ledger* ledger;
static unsigned char* bytes_of_versions;
static unsigned char* piece;
static unsigned char* seen;
static uint64_t state;
static uint32_t writer;
static uint32_t version;
static uint32_t incarnations;
static unsigned calls;
static int failures;
static struct file files[shared_files + own_files];

static uint64_t draw(uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
}

static int one_in(uint64_t times) { return draw(times) == 0; }

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static void cannot(const char* what) {
    fprintf(stderr, "writer: cannot %s: %s\n", what, strerror(errno));
    _exit(3);
}

// Records the call that is about to be made.
static struct record* begin(const struct file* file, enum kind kind, int64_t at, int64_t bytes) {
    const uint64_t number = atomic_load(&ledger->count);
    struct record* const record = &ledger->records[number];
    record->at = at;
    record->bytes = bytes;
    record->kind = kind;
    record->version = version;
    record->file = file->number;
    record->name = file->name + (uint32_t)file->moved;
    atomic_store(&record->begin_ns, now_ns());
    atomic_store(&ledger->count, number + 1);
    return record;
}

// The process that serves the mount is dead; the path is back soon.
static int is_unserved(int error) { return error == ENOTCONN || error == ECONNABORTED; }

// Records the call's result; errno counts where it is negative.
static int64_t end(struct record* record, int64_t result) {
    record->result = result < 0 ? -errno : result;
    atomic_store(&record->end_ns, now_ns());
    failures += result < 0 && !is_unserved(errno);
    return result;
}

static void fill(int64_t at, int64_t bytes) {
    const uint64_t from = ((uint64_t)at + (uint64_t)version * 7919U) % period;
    memcpy(piece, bytes_of_versions + from, (size_t)bytes);
}

static void close_file(struct file* file) {
    if (file->stream == NULL && file->fd < 0) {
        return;
    }
    struct forebay_pool_state info;
    if (file->fd >= 0 && ioctl(file->fd, FOREBAY_POOL_GET, &info) == 0) {
        atomic_fetch_add(&ledger->captured, 1);
    }
    struct record* const record = begin(file, closes, 0, 0);
    end(record, file->stream != NULL ? fclose(file->stream) : close(file->fd));
    file->stream = NULL;
    file->fd = -1;
}

static int is_own(const struct file* file) { return file >= files + shared_files; }

// A file that is there, or is made.
static int open_file(struct file* file) {
    const int empty = is_own(file) && (calls & truncates) != 0 && one_in(6);
    struct record* const record = begin(file, empty ? empties : opens, 0, 0);
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (empty ? O_TRUNC : 0);
    file->fd = open(file->path[file->moved], flags, 0644);
    if (end(record, file->fd) < 0 && is_unserved(errno)) {
        usleep(1000);
    }
    return file->fd >= 0;
}

// From now on the name means another file.
static void make_anew(struct file* file) {
    close_file(file);
    struct record* record = begin(file, removes, 0, 0);
    if (end(record, unlink(file->path[file->moved])) == 0) {
        file->number = writer * 100000 + ++incarnations;
        file->end = 0;
    }
}

static void rename_file(struct file* file) {
    struct record* const record = begin(file, moves, 0, 0);
    if (end(record, rename(file->path[file->moved], file->path[!file->moved])) == 0) {
        file->moved = !file->moved;
    }
}

static void truncate_file(struct file* file) {
    ++version;
    struct record* const record = begin(file, cuts, (int64_t)draw(file_bytes_max), 0);
    end(record, ftruncate(file->fd, record->at));
}

// Nobody else writes to it: what was written is what is there.
static void look_at(const struct file* file, int64_t at, int64_t bytes) {
    const ssize_t got = pread(file->fd, seen, (size_t)bytes, at);
    struct stat found;
    const int looked = fstat(file->fd, &found);
    if (got < 0 || looked != 0) {
        ++failures;
        return;
    }
    if (got != bytes || memcmp(seen, piece, (size_t)bytes) != 0 || found.st_size < at + bytes) {
        struct record* const record = begin(file, misreads, at, bytes);
        record->length = found.st_size;
        end(record, got);
    }
}

static void write_file(struct file* file) {
    ++version;
    const int64_t most = one_in(10) ? piece_bytes_max : 5000;
    const int64_t bytes = 1 + (int64_t)draw((uint64_t)most);
    int64_t at = (int64_t)draw((uint64_t)(file_bytes_max - bytes));
    fill(at, bytes);
    const uint64_t how = draw(3);
    if (how == 0 && lseek(file->fd, at, SEEK_SET) != at) {
        ++failures;
        return;
    }
    struct record* const record = begin(file, writes, at, bytes);
    const struct iovec parts[2] = {{piece, (size_t)bytes / 2},
                                   {piece + bytes / 2, (size_t)(bytes - bytes / 2)}};
    const ssize_t done = how == 0   ? write(file->fd, piece, (size_t)bytes)
                         : how == 1 ? pwrite(file->fd, piece, (size_t)bytes, at)
                                    : pwritev(file->fd, parts, 2, at);
    end(record, done);
    if (done == bytes && is_own(file) && one_in(5)) {
        look_at(file, at, bytes);
    }
}

// A stream goes on where it ended; what it was given counts once it was flushed.
static void write_stream(struct file* file) {
    if (file->stream == NULL) {
        close_file(file);
        struct record* const record = begin(file, empties, 0, 0);
        file->stream = fopen(file->path[file->moved], "w+");
        end(record, file->stream != NULL ? 0 : -1);
        file->end = 0;
        if (file->stream == NULL) {
            return;
        }
    }
    ++version;
    const int64_t bytes = 1 + (int64_t)draw(20000);
    fill(file->end, bytes);
    struct record* const record = begin(file, writes, file->end, bytes);
    const int done =
        fwrite(piece, 1, (size_t)bytes, file->stream) == (size_t)bytes && fflush(file->stream) == 0;
    end(record, done ? bytes : -1);
    file->end += bytes;
    if (!done || file->end > file_bytes_max) {
        close_file(file);
    }
}

static void go_on(struct file* file) {
    const int own = is_own(file);
    if (own && (calls & streams) != 0 && file == files + shared_files) {
        write_stream(file);
        return;
    }
    if (own && (calls & renames) != 0 && one_in(60)) {
        make_anew(file);
    }
    if (file->fd < 0 && !open_file(file)) {
        return;
    }
    if (own && (calls & renames) != 0 && one_in(40)) {
        rename_file(file);
    } else if (own && (calls & truncates) != 0 && one_in(30)) {
        truncate_file(file);
    } else if ((calls & syncs) != 0 && one_in(60)) {
        struct record* const record = begin(file, makes_durable, 0, 0);
        end(record, one_in(2) ? fsync(file->fd) : fdatasync(file->fd));
    } else if (one_in(25)) {
        close_file(file);
    } else {
        write_file(file);
    }
}

static void prepare(const char* folder) {
    for (unsigned i = 0; i < shared_files + own_files; ++i) {
        struct file* const file = &files[i];
        const int own = is_own(file);
        file->fd = -1;
        file->name = own ? writer * 100 + 2 * i : i;
        file->number = own ? writer * 100000 + ++incarnations : i;
        for (int moved = 0; moved < 2; ++moved) {
            snprintf(file->path[moved], sizeof file->path[moved], "%s/%u", folder,
                     file->name + (uint32_t)moved);
        }
    }
    bytes_of_versions = malloc(period + piece_bytes_max);
    piece = malloc(piece_bytes_max);
    seen = malloc(piece_bytes_max);
    if (bytes_of_versions == NULL || piece == NULL || seen == NULL) {
        cannot("have memory");
    }
    for (uint32_t i = 0; i < period + piece_bytes_max; ++i) {
        bytes_of_versions[i] = (unsigned char)(1 + (i % period * 2654435761U >> 13U) % 255U);
    }
}

int main(int argc, char** argv) {
    if (argc != 6) {
        errno = EINVAL;
        cannot("read its arguments");
    }
    writer = (uint32_t)atoi(argv[3]);
    version = writer * 100000;
    state = strtoull(argv[4], NULL, 10) * 2862933555777941757U + writer;
    calls = (unsigned)atoi(argv[5]);
    const int fd = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *ledger) != 0) {
        cannot("make its ledger");
    }
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ledger == MAP_FAILED) {
        cannot("map its ledger");
    }
    close(fd);
    prepare(argv[1]);
    const unsigned first = (calls & shares) != 0 ? 0 : shared_files;
    // A call has a few records at most.
    while (atomic_load(&ledger->told_to_end) == 0 && failures < failures_max &&
           atomic_load(&ledger->count) + 16 < records_max) {
        go_on(&files[first + draw(shared_files + own_files - first)]);
    }
    for (unsigned i = 0; i < shared_files + own_files; ++i) {
        close_file(&files[i]);
    }
    atomic_store(&ledger->done, 1);
    return 0;
}
