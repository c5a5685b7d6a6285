/* Calls in random order on one file: collective ones in one piece a rank, whose bytes may be moved
 * before all ranks have come, between others of whose every kind some may be under way then:
 * independent ones through a view with holes (an MPI reads and writes back what lies between),
 * ordered, atomic and non-blocking ones. No two ranks ever touch the same byte; every byte is known
 * beforehand. Ranks come late at random. */
#include "common.h"

enum { block = 512, blocks = 64, steps = 60, seeds = 8 };

typedef enum {
    write_one,
    write_some_ranks,
    write_alone,
    view_write_many,
    view_write_alone,
    view_write_one,
    ordered,
    atomic,
    non_blocking,
    read_one,
    kinds
} Kind;

static uint64_t state;          /* the same on every rank */
static unsigned char* expected; /* of the file */
static unsigned char bytes[block * blocks];

static int pick(int below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(mixed(state) % (uint64_t)below);
}

static size_t row(void) { return (size_t)block * (size_t)job.ranks; }

/* Rank `rank` writes `count` of its blocks from its block `first` on: what will be there. */
static void expect_blocks(int rank, int step, int first, int count) {
    for (int i = 0; i < count; i++) {
        unsigned char* to = expected + (size_t)(first + i) * row() + (size_t)rank * block;
        for (size_t at = 0; at < block; at++) {
            to[at] = data_byte(rank, step, (size_t)i * block + at);
        }
    }
}

static void expect_of_all(int step, int first, int count) {
    for (int rank = 0; rank < job.ranks; rank++) {
        expect_blocks(rank, step, first, count);
    }
}

/* By less than a call takes: what races, races closely. */
static void come_late(int step) {
    const double end =
        MPI_Wtime() + 1e-6 * (double)(mixed((uint64_t)step * 31u + (uint64_t)job.rank) % 80);
    while (MPI_Wtime() < end) {
    }
}

static void check_mine(int first, int step) {
    const unsigned char* there = expected + (size_t)first * row() + (size_t)job.rank * block;
    check(memcmp(bytes, there, block) == 0, "step %d read what is not there", step);
}

/* Through the default view; `first`: of the row. */
static void without_holes(MPI_File fh, Kind kind, int step, int first) {
    const MPI_Offset mine = (MPI_Offset)((size_t)first * row() + (size_t)job.rank * block);
    const int who = pick(job.ranks);
    const int full = kind == write_some_ranks ? job.rank != who : job.rank == who;
    MPI_Request request;
    fill(bytes, block, job.rank, step);
    switch (kind) {
        case write_some_ranks:
            must(MPI_File_write_at_all(fh, mine, bytes, full ? block : 0, MPI_BYTE,
                                       MPI_STATUS_IGNORE),
                 "write_at_all of some");
            break;
        case write_alone:
            if (full) {
                must(MPI_File_write_at(fh, mine, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE),
                     "write_at");
            }
            break;
        case ordered:
            must(MPI_File_seek_shared(fh, (MPI_Offset)((size_t)first * row()), MPI_SEEK_SET),
                 "seek_shared");
            must(MPI_File_write_ordered(fh, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE), "ordered");
            break;
        case non_blocking:
            must(MPI_File_iwrite_at(fh, mine, bytes, block, MPI_BYTE, &request), "iwrite_at");
            must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
            break;
        case read_one:
            must(MPI_File_read_at_all(fh, mine, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE),
                 "read_at_all");
            check_mine(first, step);
            return;
        default:
            must(MPI_File_write_at_all(fh, mine, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE),
                 "write_at_all");
            break;
    }
    for (int rank = 0; rank < job.ranks; rank++) {
        if (kind != write_some_ranks && kind != write_alone) {
            expect_blocks(rank, step, first, 1);
        } else if ((kind == write_alone) == (rank == who)) {
            expect_blocks(rank, step, first, 1);
        }
    }
}

/* Through a view of this rank's blocks only. */
static void with_holes(MPI_File fh, Kind kind, int step, int first) {
    const int count = kind == view_write_one ? 1 : 1 + pick(blocks - first);
    const int who = pick(job.ranks);
    const MPI_Offset at = (MPI_Offset)first * block;
    fill(bytes, (size_t)count * block, job.rank, step);
    if (kind != view_write_alone) {
        must(MPI_File_write_at_all(fh, at, bytes, count * block, MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at_all through holes");
        expect_of_all(step, first, count);
        return;
    }
    if (job.rank == who) {
        must(MPI_File_write_at(fh, at, bytes, count * block, MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at through holes");
    }
    expect_blocks(who, step, first, count);
}

static void look(MPI_File fh, int holes, MPI_Datatype mine) {
    must(MPI_File_set_view(fh, holes ? (MPI_Offset)job.rank * block : 0, MPI_BYTE,
                           holes ? mine : MPI_BYTE, "native", MPI_INFO_NULL),
         "view");
}

static void run(MPI_File fh, MPI_Datatype mine) {
    int holes = 0;
    for (int step = 1; step <= steps; step++) {
        const Kind kind = pick(2) == 0 ? (holes ? view_write_one : write_one) : (Kind)pick(kinds);
        const int first = pick(blocks);
        const int wants =
            kind == view_write_many || kind == view_write_alone || kind == view_write_one;
        if (wants != holes) {
            holes = wants;
            look(fh, holes, mine);
        }
        come_late(step);
        if (kind == write_alone || kind == view_write_alone || kind == non_blocking) {
            MPI_Barrier(job.comm); /* Open MPI may still be busy with an ordered write */
        }
        if (kind == atomic) {
            must(MPI_File_set_atomicity(fh, 1), "set_atomicity");
        }
        (holes ? with_holes : without_holes)(fh, kind, step, first);
        if (kind == atomic) {
            must(MPI_File_set_atomicity(fh, 0), "set_atomicity");
        }
    }
}

static void compare(const char* path) {
    size_t length = 0;
    unsigned char* all = file_bytes(path, &length);
    const size_t size = row() * blocks;
    check(all && length == size, "the file has %zu bytes", length);
    for (size_t i = 0; all && i < size && i < length; i++) {
        if (all[i] != expected[i]) {
            check(0, "byte %zu, of rank %d, is wrong", i, (int)(i / block) % job.ranks);
            break;
        }
    }
    free(all);
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    MPI_Datatype one, mine;
    MPI_Type_contiguous(block, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)row(), &mine);
    MPI_Type_commit(&mine);
    expected = malloc(row() * blocks);
    for (int seed = 0; seed < seeds; seed++) {
        char name[32];
        snprintf(name, sizeof name, "in_turn.%d", seed);
        begin_case(name);
        state = (uint64_t)seed;
        memset(expected, filler_file, row() * blocks);
        make_filled(path_of(name), row() * blocks);
        MPI_File fh = open_file(name, MPI_MODE_RDWR, MPI_INFO_NULL);
        run(fh, mine);
        must(MPI_File_close(&fh), "close");
        MPI_Barrier(job.comm);
        if (job.rank == 0) {
            compare(path_of(name));
        }
        end_case();
    }
    free(expected);
    MPI_Type_free(&one);
    MPI_Type_free(&mine);
    finish();
    return 0;
}
