/* Each rank writes its rows of a matrix into one file, in collective calls. */
#include <mpi.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 4096, STEPS = 5 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_File file;
    double* rows = malloc(sizeof(double) * ROWS * COLUMNS);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File_open(MPI_COMM_WORLD, "matrix.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    for (int step = 0; step < STEPS; ++step) {
        for (int i = 0; i < ROWS * COLUMNS; ++i) {
            rows[i] = rank + 0.001 * step + 1e-6 * i;
        }
        MPI_Offset start = (MPI_Offset)sizeof(double) * ROWS * COLUMNS * (step * ranks + rank);
        MPI_File_write_at_all(file, start, rows, ROWS * COLUMNS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    free(rows);
    return 0;
}
