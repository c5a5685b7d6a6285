/* Ranks write a file together and each for itself, and make it durable: synced FILE WAY, which is
 * together or alone. Then rank 0 makes MARK, and they go on when it is gone: synced FILE WAY MARK.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { part = 100000 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 4) {
        return 2;
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static char bytes[part];
    memset(bytes, 'a' + rank, sizeof bytes);
    MPI_File file;
    int wrong = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file);
    const MPI_Offset at = (MPI_Offset)rank * part;
    wrong |= strcmp(argv[2], "together") == 0
                 ? MPI_File_write_at_all(file, at, bytes, part, MPI_CHAR, MPI_STATUS_IGNORE)
                 : MPI_File_write_at(file, at, bytes, part, MPI_CHAR, MPI_STATUS_IGNORE);
    wrong |= MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        FILE* mark = fopen(argv[3], "w");
        fclose(mark);
        while (access(argv[3], F_OK) == 0) {
            usleep(1000);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    wrong |= MPI_File_close(&file);
    MPI_Finalize();
    return wrong == MPI_SUCCESS ? 0 : 1;
}
