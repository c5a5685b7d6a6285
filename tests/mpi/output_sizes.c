/* Small elements and many steps. Usage: output_sizes STEPS PATH OPTIONS. Each rank has one element
 * of each integer type that has no 32 bits: rank, its negative, or 1000 times as much, and the
 * step. */
#include "output_model.h"

#include <forebay_output.h>

static int rank;

static void fine(int status) {
    if (status != FBO_SUCCESS) {
        fprintf(stderr, "rank %d: error %d: %s\n", rank, status, fbo_error_text());
        sleep(1); /* MPICH's launcher loses what is said just before the end */
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    int ranks, file, grid, byte, word, large;
    fine(fbo_init(MPI_COMM_WORLD, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int all_steps = atoi(argv[1]);
    const int64_t shape = ranks, start = rank, count = 1;
    fine(fbo_create(&file, comm, argv[2], argv[3]));
    fine(fbo_grid(&grid, file, 1, &shape, &start, &count, NULL));
    fine(fbo_define(&byte, file, "byte", grid, FBO_INT8, "x", NULL));
    fine(fbo_define(&word, file, "word", grid, FBO_INT16, "x", NULL));
    fine(fbo_define(&large, file, "large", grid, FBO_INT64, "x", NULL));
    for (int step = 0; step < all_steps; step++) {
        const int8_t one = (int8_t)((rank + step) % 100);
        const int16_t two = (int16_t)-one;
        const int64_t eight = INT64_C(1000000000000) * (rank + 1) + step;
        fine(fbo_begin_step(file, step));
        fine(fbo_write_array(byte, FBO_INT8, 1, &one));
        fine(fbo_write_array(word, FBO_INT16, 1, &two));
        fine(fbo_write_array(large, FBO_INT64, 1, &eight));
        fine(fbo_end_step(file));
    }
    fine(fbo_close(file));
    fine(fbo_finalize());
    MPI_Finalize();
    return 0;
}
