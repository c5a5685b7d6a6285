/* Steps of the output API that come to a bad end. Usage: output_ends WAY PATH OPTIONS; more than
 * one rank. In step 2 of 6, when all have written and nobody has ended the step, rank 1 is killed
 * (kill), leaves (exit) or aborts (abort); or nothing happens, and the disk is full some time
 * (full): then each rank says which call told it first, and goes on to the end. */
#include "output_model.h"

#include <forebay_output.h>
#include <signal.h>
#include <string.h>

/* 8 MiB a step, and more than one writer. */
enum { rows = 128, row = 8192, all_steps = 6, bad_step = 2 };

static int rank, told;

static int call(const char* name, int status) {
    if (status != FBO_SUCCESS && !told) {
        told = 1;
        printf("rank %d: told by %s: %s\n", rank, name, fbo_error_text());
        fflush(stdout);
    }
    return status;
}

static void end_badly(const char* way) {
    if (rank != 1) {
        return;
    }
    if (!strcmp(way, "kill")) {
        raise(SIGKILL);
    } else if (!strcmp(way, "exit")) {
        exit(3);
    } else if (!strcmp(way, "abort")) {
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

int main(int argc, char** argv) {
    const char* seconds = getenv("TEST_SECONDS_MAX");
    alarm(seconds ? (unsigned)atoi(seconds) : 60);
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    int ranks, file, grid, temp;
    call("fbo_init", fbo_init(MPI_COMM_WORLD, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int64_t shape[] = {rows, row}, start[] = {rows * rank / ranks, 0},
                  count[] = {rows * (rank + 1) / ranks - start[0], row};
    double* array = memory_of(count[0] * row * 8);
    if (call("fbo_create", fbo_create(&file, comm, argv[2], argv[3])) == FBO_SUCCESS &&
        call("fbo_grid", fbo_grid(&grid, file, 2, shape, start, count, NULL)) == FBO_SUCCESS &&
        call("fbo_define", fbo_define(&temp, file, "temp", grid, FBO_REAL64, "y x", "degC")) ==
            FBO_SUCCESS) {
        for (int step = 0; step < all_steps && !told; step++) {
            for (int64_t i = 0; i < count[0] * row; i++) {
                array[i] = value_at(step, start[0] * row + i);
            }
            if (call("fbo_begin_step", fbo_begin_step(file, step)) == FBO_SUCCESS) {
                call("fbo_write", fbo_write(temp, array));
                if (step == bad_step) {
                    end_badly(argv[1]);
                }
                call("fbo_end_step", fbo_end_step(file));
            }
        }
        if (call("fbo_close", fbo_close(file)) != FBO_SUCCESS) {
            printf("rank %d: closed: %s\n", rank, fbo_error_text());
            fflush(stdout);
        }
    }
    call("fbo_finalize", fbo_finalize());
    free(array);
    MPI_Finalize();
    return told ? 3 : 0;
}
