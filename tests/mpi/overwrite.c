/* One file that is written over and over, collectively: many requests to one target. */
#include "common.h"

enum { calls = 60, bytes_of_rank = 2 << 20 };

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("overwrite");
    unsigned char* bytes = malloc(bytes_of_rank);
    fill(bytes, bytes_of_rank, job.rank, 0);
    MPI_File fh = open_file("overwrite.dat", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    for (int i = 0; i < calls; i++) {
        must(MPI_File_write_at_all(fh, (MPI_Offset)job.rank * bytes_of_rank, bytes, bytes_of_rank,
                                   MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at_all");
    }
    must(MPI_File_close(&fh), "close");
    if (job.rank == 0) {
        size_t length = 0;
        unsigned char* all = file_bytes(path_of("overwrite.dat"), &length);
        check(length == (size_t)bytes_of_rank * (size_t)job.ranks, "%zu bytes", length);
        for (size_t i = 0; i < length; i++) {
            const int rank = (int)(i / bytes_of_rank);
            check(all[i] == data_byte(rank, 0, i % bytes_of_rank), "byte %zu", i);
        }
        free(all);
    }
    end_case();
    free(bytes);
    finish();
    return 0;
}
