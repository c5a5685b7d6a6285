/* Ranks of several nodes that write one file by collective calls, and what is done to it in
 * between: by independent calls, by other handles, by plain POSIX calls, to its size. Every read
 * has to see what was written before it; every byte is known beforehand. */
#include "common.h"

#include <sys/syscall.h>

enum { stripe = 4096, stripes = 16, bytes = stripe * stripes, rounds_usual = 100 };

static unsigned char expected[bytes];
static unsigned char got[bytes];
static int rounds = rounds_usual;

static uint64_t state; /* the same on every rank */

static int pick(int below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(mixed(state) % (uint64_t)below);
}

static MPI_File open_for_all(const char* file, int amode) {
    MPI_File handle;
    must(MPI_File_open(job.comm, path_of(file), amode, MPI_INFO_NULL, &handle), "open");
    return handle;
}

static MPI_File made(const char* file) {
    memset(expected, 0, sizeof expected);
    return open_for_all(file, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static void close_all(MPI_File* handle) { must(MPI_File_close(handle), "close"); }

/* All ranks write the range, each its part of it. */
static void write_together(MPI_File handle, int begin, int length, int step) {
    const int first = (int)((int64_t)length * job.rank / job.ranks);
    const int end = (int)((int64_t)length * (job.rank + 1) / job.ranks);
    fill(expected + begin, (size_t)length, 0, step);
    must(MPI_File_write_at_all(handle, begin + first, expected + begin + first, end - first,
                               MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
}

/* One rank writes it; the others know. */
static void write_alone(MPI_File handle, int rank, int begin, int length, int step) {
    fill(expected + begin, (size_t)length, rank + 1, step);
    if (job.rank == rank) {
        must(
            MPI_File_write_at(handle, begin, expected + begin, length, MPI_BYTE, MPI_STATUS_IGNORE),
            "write_at");
    }
    MPI_Barrier(job.comm);
}

static void check_range(int begin, int length, const char* how, int step) {
    for (int i = 0; i < length; i++) {
        if (got[i] != expected[begin + i]) {
            check(0, "%s, step %d: byte %d is %d, not %d", how, step, begin + i, got[i],
                  expected[begin + i]);
            return;
        }
    }
}

static void read_alone(MPI_File handle, int rank, int begin, int length, int step) {
    if (job.rank == rank) {
        must(MPI_File_read_at(handle, begin, got, length, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
        check_range(begin, length, "read_at", step);
    }
    MPI_Barrier(job.comm);
}

static void read_together(MPI_File handle, int begin, int length, int step) {
    must(MPI_File_read_at_all(handle, begin, got, length, MPI_BYTE, MPI_STATUS_IGNORE),
         "read_at_all");
    check_range(begin, length, "read_at_all", step);
    MPI_Barrier(job.comm);
}

/* By libc, of the file as it is known by its name. */
static void read_plainly(const char* file, int rank, int begin, int length, int step) {
    if (job.rank == rank) {
        const int fd = open(path_of(file), O_RDONLY);
        const ssize_t moved = pread(fd, got, (size_t)length, begin);
        check(moved == length, "pread, step %d: %zd bytes of %d", step, moved, length);
        close(fd);
        check_range(begin, length, "pread", step);
    }
    MPI_Barrier(job.comm);
}

/* The first rank is on the first node, the last one on the last. */
static int some_rank(void) { return pick(2) == 0 ? 0 : job.ranks - 1; }

/* One stripe, written by all and by ranks of different nodes in turn: the later one wins. */
static void later_wins(void) {
    begin_case("later_wins");
    MPI_File handle = made("later_wins");
    write_together(handle, 0, bytes, 0);
    for (int step = 1; step <= rounds; step++) {
        const int begin = pick(stripe / 2);
        const int length = 1 + pick(stripe / 2);
        switch (pick(3)) {
            case 0: write_together(handle, begin, length, step); break;
            case 1: write_alone(handle, 0, begin, length, step); break;
            default: write_alone(handle, job.ranks - 1, begin, length, step); break;
        }
        if (pick(2) == 0) {
            read_alone(handle, some_rank(), 0, stripe, step);
        }
    }
    read_together(handle, 0, bytes, rounds);
    close_all(&handle);
    end_case();
}

/* Every kind of access in random order, by two handles, one after the other. */
static void in_any_order(void) {
    begin_case("in_any_order");
    MPI_File handle = made("in_any_order");
    write_together(handle, 0, bytes, 1000);
    for (int step = 1001; step <= 1000 + rounds; step++) {
        const int begin = pick(bytes - 1);
        const int length = 1 + pick(bytes - begin);
        switch (pick(7)) {
            case 0:
            case 1: write_together(handle, begin, length, step); break;
            case 2: write_alone(handle, some_rank(), begin, length, step); break;
            case 3: read_alone(handle, some_rank(), begin, length, step); break;
            case 4: read_together(handle, begin, length, step); break;
            case 5:
                must(MPI_File_sync(handle), "sync");
                MPI_Barrier(job.comm);
                break;
            default:
                close_all(&handle);
                handle = open_for_all("in_any_order", MPI_MODE_RDWR);
                break;
        }
    }
    close_all(&handle);
    end_case();
}

/* As libraries do: a header by one rank, records by all, their number by one rank after each. */
static void records(void) {
    begin_case("records");
    MPI_File handle = made("records");
    write_alone(handle, 0, 0, 512, 2000);
    const int record = (bytes - 512) / 8;
    for (int step = 0; step < 8; step++) {
        write_together(handle, 512 + step * record, record, 2001 + step);
        write_alone(handle, 0, 4, 4, 2100 + step);
    }
    read_alone(handle, job.ranks - 1, 0, bytes, 2001);
    close_all(&handle);
    end_case();
}

static void sizes(void) {
    begin_case("sizes");
    MPI_File handle = made("sizes");
    MPI_Offset size = 0;
    write_together(handle, 0, bytes, 3000);
    must(MPI_File_get_size(handle, &size), "get_size");
    check(size == bytes, "size %lld after writing", (long long)size);
    MPI_Barrier(job.comm);
    must(MPI_File_set_size(handle, stripe), "set_size");
    must(MPI_File_get_size(handle, &size), "get_size");
    check(size == stripe, "size %lld after it was set", (long long)size);
    MPI_Status status;
    int count = 0;
    must(MPI_File_read_at_all(handle, 0, got, bytes, MPI_BYTE, &status), "read_at_all");
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == stripe, "%d bytes read of a file that was cut", count);
    check_range(0, stripe, "read of a file that was cut", 3000);
    memset(expected + stripe, 0, bytes - stripe);
    MPI_Barrier(job.comm);
    /* Bytes that were cut off do not come back. */
    write_together(handle, bytes - stripe, stripe, 3001);
    read_together(handle, 0, bytes, 3001);
#ifdef OPEN_MPI
    /* Rank 0 of OMPIO makes the file longer than asked, and then shorter. A rank that looks at the
     * size in between leaves the call at once, and goes on with a size that is too large. */
    must(MPI_File_set_size(handle, 2 * bytes), "set_size");
#else
    must(MPI_File_preallocate(handle, 2 * bytes), "preallocate");
#endif
    must(MPI_File_seek(handle, 0, MPI_SEEK_END), "seek");
    must(MPI_File_get_position(handle, &size), "get_position");
    check(size == 2 * bytes, "the end is at %lld", (long long)size);
    close_all(&handle);
    end_case();
}

/* Somebody opens the file by its name, on another node: while it is open, and behind. */
static void by_name(void) {
    begin_case("by_name");
    MPI_File handle = made("by_name");
    for (int step = 4000; step < 4004; step++) {
        write_together(handle, 0, bytes, step);
        read_plainly("by_name", step % 2 == 0 ? 0 : job.ranks - 1, 0, bytes, step);
        write_alone(handle, job.ranks - 1, 100, 50, 4100 + step);
        read_alone(handle, 0, 0, bytes, step);
    }
    close_all(&handle);
    MPI_Barrier(job.comm);
    handle = made("closed_by_name");
    write_together(handle, 0, bytes, 4200);
    close_all(&handle);
    MPI_Barrier(job.comm);
    read_plainly("closed_by_name", job.ranks - 1, 0, bytes, 4200);
    end_case();
}

/* Any node may cache the file anew: none need have seen it before. */
static void opened_again(void) {
    begin_case("opened_again");
    MPI_File handle = made("opened_again");
    for (int step = 5000; step < 5010; step++) {
        write_together(handle, 0, bytes, step);
        close_all(&handle);
        handle = open_for_all("opened_again", MPI_MODE_RDWR);
        if (step % 2 == 0) {
            read_alone(handle, some_rank(), 0, bytes, step);
        }
    }
    MPI_File other = open_for_all("opened_again", MPI_MODE_RDONLY);
    read_together(other, 0, bytes, 5009);
    close_all(&other);
    write_together(handle, 0, bytes, 5010);
    read_together(handle, 0, bytes, 5010);
    close_all(&handle);
    end_case();
}

/* Writes until that fails, which somebody outside sees to once the file `begun` is there. */
static void until_it_fails(void) {
    begin_case("until_it_fails");
    MPI_File handle = made("until_it_fails");
    must(MPI_File_set_errhandler(handle, MPI_ERRORS_RETURN), "set_errhandler");
    const int part = bytes / job.ranks;
    int code = MPI_SUCCESS;
    for (int step = 0; code == MPI_SUCCESS; step++) {
        code =
            MPI_File_write_at_all(handle, job.rank * part, got, part, MPI_BYTE, MPI_STATUS_IGNORE);
        if (step == 0 && job.rank == 0) {
            close(open(path_of("begun"), O_CREAT | O_WRONLY, 0600));
        }
    }
    check(class_of(code) == MPI_ERR_IO, "it fails with %s", class_name(code));
    MPI_File_close(&handle); /* may fail as well */
    end_case();
}

/* The kernel's word, past all libraries: what has been drained. */
static long long drained_size(const char* file) {
    struct stat found = {0};
#if defined(__x86_64__)
    register long none __asm__("r10") = 0;
    long number = SYS_newfstatat;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((long)AT_FDCWD), "S"(path_of(file)), "d"(&found), "r"(none)
                     : "rcx", "r11", "memory");
#else
    syscall(SYS_newfstatat, AT_FDCWD, path_of(file), &found, 0);
#endif
    return (long long)found.st_size;
}

/* A header beside the data has nothing drained; a read of the data does. */
static void header_waits_for_nothing(void) {
    begin_case("header");
    MPI_File handle = made("header");
    write_together(handle, 512, bytes - 512, 6000);
    write_alone(handle, 0, 4, 4, 6001);
    read_alone(handle, job.ranks - 1, 4, 4, 6001);
    check(drained_size("header") == 8, "%lld bytes are in the file", drained_size("header"));
    MPI_Barrier(job.comm);
    read_alone(handle, 0, 512, 1, 6001);
    check(drained_size("header") == bytes, "%lld bytes, drained", drained_size("header"));
    close_all(&handle);
    end_case();
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc > 2 && strcmp(argv[2], "until_it_fails") == 0) {
        until_it_fails();
        finish();
        return 0;
    }
    if (argc > 2 && strcmp(argv[2], "header") == 0) {
        header_waits_for_nothing();
        finish();
        return 0;
    }
    if (argc > 2) {
        rounds = atoi(argv[2]);
    }
    later_wins();
    in_any_order();
    records();
    sizes();
    by_name();
    opened_again();
    finish();
    return 0;
}
