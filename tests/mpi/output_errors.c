/* Wrong uses of the output API: an error on every rank, and the program goes on.
 * Usage: output_errors FOLDER; four ranks */
#include "output_model.h"

#include <forebay_output.h>
#include <string.h>

enum { per_rank = 2 };

static int rank, ranks;
static MPI_Comm comm;
static const char* folder;

static void fine(int status, const char* what) {
    if (status != FBO_SUCCESS) {
        fprintf(stderr, "rank %d: %s: error %d: %s\n", rank, what, status, fbo_error_text());
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
}

static void refused(int status, int want, const char* text) {
    if (status != want || !strstr(fbo_error_text(), text)) {
        fprintf(stderr, "rank %d: error %d instead of %d, \"%s\" does not say \"%s\"\n", rank,
                status, want, fbo_error_text(), text);
        MPI_Abort(MPI_COMM_WORLD, 98);
    }
}

static int created(const char* name) {
    int file;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fine(fbo_create(&file, comm, path, "format=fortran"), "create");
    return file;
}

static int row_grid(int file) {
    int grid;
    const int64_t shape = ranks * per_rank, start = rank * per_rank, count = per_rank;
    fine(fbo_grid(&grid, file, 1, &shape, &start, &count, NULL), "grid");
    return grid;
}

static void files(void) {
    int file;
    char path[512];
    refused(fbo_create(&file, MPI_COMM_WORLD, "x", NULL), FBO_ERROR_ARGUMENT, "not initialised");
    fine(fbo_init(MPI_COMM_WORLD, &comm), "init");
    refused(fbo_init(MPI_COMM_WORLD, &comm), FBO_ERROR_ARGUMENT, "called before");
    snprintf(path, sizeof path, "%s/nowhere/x.dat", folder);
    if (fbo_create(&file, comm, path, "format=fortran") == FBO_SUCCESS) {
        refused(FBO_SUCCESS, FBO_ERROR_NO_SUCH_FILE, "nowhere");
    }
    refused(fbo_create(&file, comm, path, "format=grib"), FBO_ERROR_ARGUMENT, "grib");
    refused(fbo_create(&file, comm, rank == 2 ? "one" : "other", NULL), FBO_ERROR_ARGUMENT,
            "rank 2: the file has other arguments");
    refused(fbo_create(&file, comm, rank == 2 ? NULL : path, NULL), FBO_ERROR_ARGUMENT,
            "rank 2: a file needs a path");
    refused(fbo_open(&file, comm, path, "format=fortran"), FBO_ERROR_UNSUPPORTED, "reading");
    refused(fbo_close(12345), FBO_ERROR_ARGUMENT, "12345 is no open file");
}

static void grids(int file) {
    int grid, other, variable;
    const int64_t shape[] = {4, 5}, start[] = {rank == 3 ? 1 : rank, 0}, count[] = {1, 5},
                  far[] = {rank, 1}, one = 1, dof = rank == 3 ? 0 : rank;
    refused(fbo_grid(&grid, file, 2, shape, start, count, NULL), FBO_ERROR_ARGUMENT,
            "the patches of rank 1 and rank 3 overlap");
    refused(fbo_grid_map(&grid, file, 2, shape, one, &dof), FBO_ERROR_ARGUMENT,
            "the patches of rank 0 and rank 3 overlap (both have element 0");
    refused(fbo_grid(&grid, file, 2, shape, far, count, NULL), FBO_ERROR_ARGUMENT,
            "does not lie in the grid");
    refused(fbo_grid(&grid, file, rank == 1 ? 1 : 2, shape, start, count, NULL), FBO_ERROR_ARGUMENT,
            "rank 1: the grid has other arguments");
    refused(fbo_grid(&grid, file, 2, shape, rank == 1 ? NULL : start, count, NULL),
            FBO_ERROR_ARGUMENT, "rank 1: fbo_grid needs a shape");
    refused(fbo_grid_map(&grid, file, rank == 3 ? -1 : 2, shape, one, &dof), FBO_ERROR_ARGUMENT,
            "rank 3: fbo_grid_map needs a shape");
    grid = row_grid(file);
    refused(fbo_define(&variable, file, rank == 1 ? NULL : "x", grid, FBO_INT32, NULL, NULL),
            FBO_ERROR_ARGUMENT, "rank 1: fbo_define needs a name");
    refused(fbo_define(&variable, file, "time", grid, FBO_INT32, NULL, NULL), FBO_ERROR_ARGUMENT,
            "time");
    refused(fbo_define(&variable, file, "x", grid, FBO_INT32, "a b", NULL), FBO_ERROR_ARGUMENT,
            "2 names of dimensions");
    refused(fbo_define(&variable, file, "x", grid + 1000, FBO_INT32, NULL, NULL),
            FBO_ERROR_ARGUMENT, "grid of no or another file");
    refused(fbo_define(&variable, file, rank == 0 ? "x" : "y", grid, FBO_INT32, NULL, NULL),
            FBO_ERROR_ARGUMENT, "other arguments");
    other = created("other.dat");
    refused(fbo_define(&variable, other, "x", grid, FBO_INT32, NULL, NULL), FBO_ERROR_ARGUMENT,
            "grid of no or another file");
    fine(fbo_close(other), "close the other");
}

/* Rank 1 does not write its patch in the second step. */
static void a_step_that_lacks_a_rank(int variable, int file) {
    const int32_t array[] = {10 * rank, 10 * rank + 1};
    fine(fbo_begin_step(file, 1), "begin");
    if (rank != 1) {
        fine(fbo_write(variable, array), "write");
    }
    refused(fbo_end_step(file), FBO_ERROR_ARGUMENT, "rank 1 did not write x in step 1");
}

static void a_file_of_steps(void) {
    const int32_t array[] = {rank, rank};
    const int file = created("steps.dat");
    int variable, late;
    grids(file);
    const int grid = row_grid(file);
    fine(fbo_define(&variable, file, "x", grid, FBO_INT32, NULL, NULL), "define");
    refused(fbo_write(variable, array), FBO_ERROR_ARGUMENT, "no step under way");
    refused(fbo_end_step(file), FBO_ERROR_ARGUMENT, "no step under way");
    fine(fbo_begin_step(file, 0), "begin");
    refused(fbo_begin_step(file, 0), FBO_ERROR_ARGUMENT, "not ended");
    refused(fbo_write(variable, NULL), FBO_ERROR_ARGUMENT, "null pointer");
    refused(fbo_write_array(variable, FBO_REAL32, per_rank, array), FBO_ERROR_ARGUMENT,
            "another type");
    refused(fbo_write_array(variable, FBO_INT32, per_rank + 1, array), FBO_ERROR_ARGUMENT,
            "has 3 elements");
    fine(fbo_write(variable, array), "write");
    refused(fbo_write(variable, array), FBO_ERROR_ARGUMENT, "twice");
    refused(fbo_define(&late, file, "late", grid, FBO_INT32, NULL, NULL), FBO_ERROR_ARGUMENT,
            "after the first step");
    fine(fbo_end_step(file), "end");
    a_step_that_lacks_a_rank(variable, file);
    fine(fbo_begin_step(file, 2), "begin");
    fine(fbo_write(variable, array), "write");
    fine(fbo_close(file), "close, which ends the step");
    refused(fbo_write(variable, array), FBO_ERROR_ARGUMENT, "no variable of an open file");
}

static void expect_bytes(const char* name, const int32_t* want, size_t count) {
    char path[512];
    int32_t found[64] = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    const size_t read = file ? fread(found, 4, 64, file) : 0;
    if (read != count || memcmp(found, want, count * 4) != 0) {
        fprintf(stderr, "%s has other bytes (%zu words)\n", path, read);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    fclose(file);
}

int main(int argc, char** argv) {
    const int32_t none = -2147483647;
    const int32_t want[] = {32, 0,  0,  1,  1,  2,  2, 3, 3, 32, 32, 0, 1, none, none,
                            20, 21, 30, 31, 32, 32, 0, 0, 1, 1,  2,  2, 3, 3,    32};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    folder = argv[1];
    files();
    a_file_of_steps();
    fine(fbo_finalize(), "finalize");
    refused(fbo_finalize(), FBO_ERROR_ARGUMENT, "not initialised");
    if (rank == 0) {
        expect_bytes("steps.dat", want, sizeof want / sizeof *want);
        expect_bytes("other.dat", want, 0);
        printf("all refused\n");
    }
    MPI_Finalize();
    return 0;
}
