/* Reads what output.c has written, with any number of ranks. Usage: output_restart FILE OPTIONS */
#include "output_model.h"

#include <forebay_output.h>
#include <string.h>

static int rank, ranks;

static void fine(int status) {
    if (status != FBO_SUCCESS) {
        fprintf(stderr, "rank %d: error %d: %s\n", rank, status, fbo_error_text());
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
}

static void need(int holds, const char* what) {
    if (!holds) {
        fprintf(stderr, "rank %d: not so: %s (last error: %s)\n", rank, what, fbo_error_text());
        MPI_Abort(MPI_COMM_WORLD, 98);
    }
}

/* Latitudes of this rank, and one more on both sides where there is one: ranks read the same. */
static void read_temp(int file) {
    int grid, temp;
    const int64_t first = lats * rank / ranks, last = lats * (rank + 1) / ranks;
    const int64_t from = first > 0 ? first - 1 : 0, to = last < lats ? last + 1 : lats;
    const int64_t shape[] = {depths, lats, lons}, start[] = {0, from, 0},
                  count[] = {depths, to - from, lons}, halo[] = {1, 0, 0};
    double* array = memory_of((depths + 2) * (to - from) * lons * 8);
    fine(fbo_grid(&grid, file, 3, shape, start, count, halo));
    fine(fbo_define(&temp, file, "temp", grid, FBO_REAL64, NULL, NULL));
    const int64_t rows = (to - from) * lons;
    for (int64_t i = 0; i < (depths + 2) * rows; i++) {
        array[i] = -7;
    }
    fine(fbo_read(temp, steps - 1, array));
    for (int64_t i = 0; i < (depths + 2) * rows; i++) {
        const int64_t depth = i / rows - 1;
        const double want = depth < 0 || depth >= depths
                                ? -7
                                : value_at(steps - 1, depth * columns + from * lons + i % rows);
        need(array[i] == want, "temp is what was written, and the halo as it was");
    }
    need(fbo_read(temp, steps, array) != FBO_SUCCESS, "there is no step behind the last one");
    need(fbo_read_array(temp, 0, FBO_REAL64, rows, array) == FBO_ERROR_ARGUMENT,
         "an array without its halo is refused");
    free(array);
}

static void read_salt(int file) {
    int grid, salt;
    const int64_t shape[] = {depths, lats, lons};
    const int64_t mine = elements / ranks;
    int64_t* dof = memory_of(mine * 8);
    float* array = memory_of(mine * 4);
    for (int64_t i = 0; i < mine; i++) {
        dof[i] = (mine - 1 - i) * ranks + rank;
    }
    fine(fbo_grid_map(&grid, file, 3, shape, mine, dof));
    fine(fbo_define(&salt, file, "salt", grid, FBO_REAL32, NULL, NULL));
    fine(fbo_read(salt, 1, array));
    for (int64_t i = 0; i < mine; i++) {
        need(array[i] == (float)value_at(1, dof[i]), "salt is what was written");
    }
    free(array);
    free(dof);
}

int main(int argc, char** argv) {
    MPI_Comm comm;
    int file, grid, other;
    int64_t found = 0;
    const int64_t shape[] = {lats + 1, lons}, start[] = {0, 0};
    MPI_Init(&argc, &argv);
    fine(fbo_init(MPI_COMM_WORLD, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    fine(fbo_open(&file, comm, argv[1], argc > 2 ? argv[2] : NULL));
    fine(fbo_steps(file, &found));
    need(found == steps, "all steps are there");
    read_temp(file);
    read_salt(file);
    fine(fbo_grid(&grid, file, 2, shape, start, shape, NULL));
    need(fbo_define(&other, file, "ice", grid, FBO_INT32, NULL, NULL) == FBO_ERROR_ARGUMENT &&
             strstr(fbo_error_text(), "another shape") != NULL,
         "another shape than the file's is refused");
    need(fbo_begin_step(file, 0) == FBO_ERROR_ARGUMENT, "it is not written to");
    fine(fbo_close(file));
    fine(fbo_finalize());
    MPI_Finalize();
    return 0;
}
