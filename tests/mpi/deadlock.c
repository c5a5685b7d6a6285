/* A collective call that waits must let the MPI's messages through: rank 0 has a receive posted and
 * waits in write_all, rank 1 comes there only when its large blocking send is done. */
#include "common.h"

enum { large = 64 << 20, block = 4096 };

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("deadlock");
    unsigned char* bytes = malloc(large);
    MPI_File fh = open_file("deadlock.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int sender = 0; sender < 3; sender++) {
        const int from = (sender + 1) % 2, to = sender % 2;
        MPI_Request request = MPI_REQUEST_NULL;
        if (job.rank == to) {
            MPI_Irecv(bytes, large, MPI_BYTE, from, sender, MPI_COMM_WORLD, &request);
        } else {
            fill(bytes, block, job.rank, sender);
            MPI_Send(bytes, large, MPI_BYTE, to, sender, MPI_COMM_WORLD);
        }
        unsigned char mine[block];
        fill(mine, block, job.rank, sender);
        must(MPI_File_write_at_all(fh, block * (2 * sender + job.rank), mine, block, MPI_BYTE,
                                   MPI_STATUS_IGNORE),
             "write_at_all");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    must(MPI_File_close(&fh), "close");
    end_case();
    free(bytes);
    finish();
    return 0;
}
