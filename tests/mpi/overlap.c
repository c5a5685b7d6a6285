/* Ranks that write the same bytes: MPI leaves open who wins, but not that something else may
 * happen. (Open MPI 4.1.4 alone corrupts its heap here.) */
#include "common.h"

enum { block = 64 };

static void overlap(void) {
    unsigned char bytes[4 * block];
    MPI_File fh = open_file("calls.overlap.any", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    fill(bytes, sizeof bytes, 0, 0);
    must(MPI_File_write_at_all(fh, 0, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
    memset(bytes, 'A' + job.rank, sizeof bytes);
    must(MPI_File_write_at_all(fh, block * job.rank, bytes, 2 * block, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
    must(MPI_File_set_view(fh, 4096, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
    must(MPI_File_write_all(fh, bytes, 4 + job.rank, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    must(MPI_File_close(&fh), "close");
    if (job.rank == 0) {
        size_t length = 0;
        unsigned char* got = file_bytes(path_of("calls.overlap.any"), &length);
        check(length >= (size_t)(block * (job.ranks + 1)), "only %zu bytes were written", length);
        for (int i = 0; got && i < block * (job.ranks + 1); i++) {
            const int last = 'A' + i / block, first = last - 1;
            const int upper = last < 'A' + job.ranks ? last : first,
                      lower = first < 'A' ? 'A' : first;
            check(got[i] == upper || got[i] == lower, "byte %d is of no rank that wrote it", i);
        }
        free(got);
    }
    expect_taken("calls.overlap.any", 3, 0);
}

/* A view whose tiles overlap each other is one that Forebay leaves to the MPI; legal for reading.
 */
static void overlapping_tiles(void) {
    unsigned char bytes[32] = {0};
    MPI_Datatype type;
    make_filled(path_of("overlap.tiles"), 4096);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 4, &type);
    MPI_Type_commit(&type);
    MPI_File fh = open_file("overlap.tiles", MPI_MODE_RDONLY, MPI_INFO_NULL);
    must(MPI_File_set_view(fh, 8 * job.rank, MPI_DOUBLE, type, "native", MPI_INFO_NULL), "view");
    must(MPI_File_read_all(fh, bytes, 4, MPI_DOUBLE, MPI_STATUS_IGNORE), "read_all");
    check(bytes[0] == filler_file && bytes[31] == filler_file, "something else was read");
    must(MPI_File_close(&fh), "close");
    MPI_Type_free(&type);
    expect_left("overlap.tiles", "MPI_File_read_all",
                "file view overlaps itself or does not ascend");
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("overlap");
    overlap();
    end_case();
    begin_case("tiles");
    overlapping_tiles();
    end_case();
    finish();
    return 0;
}
