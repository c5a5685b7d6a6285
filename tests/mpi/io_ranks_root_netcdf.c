/* Writes as models do that use netCDF without MPI: rank 0 gathers each step and appends it to the
 * file, which is synced, closed, and opened again for the second half. A classic file, and one that
 * is HDF5. The first argument is their folder. */
#include <mpi.h>
#include <netcdf.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { cells = 900, steps = 6 };

static void good(int code, const char* what) {
    if (code != NC_NOERR) {
        fprintf(stderr, "%s: %s\n", what, nc_strerror(code));
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
}

static int make(const char* path, int mode, int ranks) {
    int file, dims[2], variable;
    good(nc_create(path, NC_CLOBBER | mode, &file), "create");
    good(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    good(nc_def_dim(file, "x", (size_t)(cells * ranks), &dims[1]), "def_dim");
    good(nc_def_var(file, "temp", NC_DOUBLE, 2, dims, &variable), "def_var");
    good(nc_def_var(file, "time", NC_INT, 1, dims, &variable), "def_var");
    good(nc_put_att_text(file, 0, "units", 4, "degC"), "put_att");
    good(nc_enddef(file), "enddef");
    return file;
}

static void append(int file, size_t step, int ranks, const double* whole) {
    size_t from[2] = {step, 0}, count[2] = {1, (size_t)(cells * ranks)};
    int time = (int)step;
    good(nc_put_vara_double(file, 0, from, count, whole), "put_vara");
    good(nc_put_var1_int(file, 1, from, &time), "put_var1");
    good(nc_sync(file), "sync");
}

static void check(int file, size_t step, int ranks, double* whole) {
    size_t from[2] = {step, 0}, count[2] = {1, (size_t)(cells * ranks)};
    good(nc_get_vara_double(file, 0, from, count, whole), "get_vara");
    if (whole[cells * ranks - 1] != 1e6 * (ranks - 1) + 1e3 * (double)step + cells - 1) {
        good(NC_EINVAL, "other values than were written");
    }
}

static void write_all(const char* path, int mode, int rank, int ranks) {
    double own[cells], *whole = malloc(sizeof own * (size_t)ranks);
    int file = rank == 0 ? make(path, mode, ranks) : -1;
    for (size_t step = 0; step < steps; ++step) {
        for (int at = 0; at < cells; ++at) {
            own[at] = 1e6 * rank + 1e3 * (double)step + at;
        }
        MPI_Gather(own, cells, MPI_DOUBLE, whole, cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank != 0) {
            continue;
        }
        append(file, step, ranks, whole);
        if (step == steps / 2) {
            good(nc_close(file), "close");
            good(nc_open(path, NC_WRITE, &file), "open");
            check(file, 1, ranks, whole);
        }
    }
    if (rank == 0) {
        good(nc_close(file), "close");
    }
    free(whole);
}

int main(int count, char** words) {
    const char* seconds = getenv("TEST_SECONDS_MAX");
    alarm(seconds ? (unsigned)atoi(seconds) : 60);
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[1024];
    snprintf(path, sizeof path, "%s/classic.nc", words[1]);
    write_all(path, NC_64BIT_OFFSET, rank, ranks);
    snprintf(path, sizeof path, "%s/four.nc", words[1]);
    write_all(path, NC_NETCDF4, rank, ranks);
    if (rank == 0) {
        printf("saw %d\n", ranks);
    }
    MPI_Finalize();
    return 0;
}
