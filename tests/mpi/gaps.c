/* A strided collective write over existing data: every byte in the gaps stays as it was. Blocks of
 * 512 bytes every 4096 over 128 MiB: Open MPI 5.0.11 alone destroys half of the gaps and reports
 * success. */
#include "common.h"

enum { block = 512, stride = 4096, blocks = 32768 };

static long gap_bytes_wrong(const unsigned char* bytes) {
    long wrong = 0;
    for (size_t i = 0; i < (size_t)stride * blocks; i++) {
        if (i % stride >= block && bytes[i] != filler_file) {
            wrong++;
        }
    }
    return wrong;
}

static long blocks_wrong(const unsigned char* bytes) {
    long wrong = 0;
    for (size_t i = 0; i < blocks; i++) {
        const int rank = (int)i % job.ranks;
        const size_t at = i / (size_t)job.ranks * block;
        wrong += bytes[i * stride] != data_byte(rank, 0, at) ||
                 bytes[i * stride + block - 1] != data_byte(rank, 0, at + block - 1);
    }
    return wrong;
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("gaps");
    make_filled(path_of("gaps.dat"), (size_t)stride * blocks);
    const int mine = blocks / job.ranks;
    unsigned char* bytes = malloc((size_t)mine * block);
    fill(bytes, (size_t)mine * block, job.rank, 0);
    MPI_Datatype type;
    MPI_Type_create_hvector(mine, block, (MPI_Aint)stride * job.ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File fh = open_file("gaps.dat", MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_set_view(fh, (MPI_Offset)stride * job.rank, MPI_BYTE, type, "native",
                           MPI_INFO_NULL),
         "view");
    must(MPI_File_write_all(fh, bytes, mine * block, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    must(MPI_File_close(&fh), "close");
    if (job.rank == 0) {
        size_t length = 0;
        unsigned char* all = file_bytes(path_of("gaps.dat"), &length);
        check(length == (size_t)stride * blocks, "the file has %zu bytes", length);
        check(gap_bytes_wrong(all) == 0, "%ld bytes of the gaps were destroyed",
              gap_bytes_wrong(all));
        check(blocks_wrong(all) == 0, "%ld blocks are wrong", blocks_wrong(all));
        free(all);
        unlink(path_of("gaps.dat"));
    }
    end_case();
    MPI_Type_free(&type);
    free(bytes);
    finish();
    return 0;
}
