/* A model's output, timed: a global array of doubles, rows (or columns) of it on each rank.
 * Usage: model WAY FILE STEPS ROWS COLUMNS COMPUTE_MS [rows|columns]
 *   gather    every field is gathered to rank 0, which writes Fortran records
 *   records   the output API, Fortran records: the same file as gather's
 *   pnetcdf   collective calls of PnetCDF
 *   netcdf    the output API, netCDF: the same data as pnetcdf's
 * Prints JSON on rank 0: seconds in output (the slowest rank's, summed over steps and the close),
 * and seconds of one memcpy of the same patches. */
#include <forebay_output.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static MPI_Comm comm;
static int64_t shape[2], start[2], count[2];
static double* patch;
static const char* path;

static void fine(int good, const char* what, const char* why) {
    if (!good) {
        fprintf(stderr, "rank %d: cannot %s (%s)\n", rank, what, why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

struct output {
    int id, variable;
    FILE* file;
    double* whole;
    int *counts, *places;
};

static int is(const char* way, const char* name) { return strcmp(way, name) == 0; }

static void begin_gather(struct output* out) {
    out->counts = calloc((size_t)ranks, sizeof *out->counts);
    out->places = calloc((size_t)ranks, sizeof *out->places);
    for (int i = 0; i < ranks; ++i) {
        const int64_t first = shape[0] * i / ranks, end = shape[0] * (i + 1) / ranks;
        out->counts[i] = (int)((end - first) * shape[1]);
        out->places[i] = (int)(first * shape[1]);
    }
    if (rank == 0) {
        out->whole = malloc((size_t)(shape[0] * shape[1]) * sizeof(double));
        out->file = fopen(path, "wb");
        fine(out->file != NULL && out->whole != NULL, "create", path);
    }
}

static void begin_api(struct output* out, const char* options) {
    int grid;
    fine(fbo_create(&out->id, comm, path, options) == 0 &&
             fbo_grid(&grid, out->id, 2, shape, start, count, NULL) == 0 &&
             fbo_define(&out->variable, out->id, "field", grid, FBO_REAL64, "y x", NULL) == 0,
         "define", fbo_error_text());
}

static void begin_pnetcdf(struct output* out) {
    int dims[3];
    const int status =
        ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &out->id) |
        ncmpi_def_dim(out->id, "time", NC_UNLIMITED, &dims[0]) |
        ncmpi_def_dim(out->id, "y", shape[0], &dims[1]) |
        ncmpi_def_dim(out->id, "x", shape[1], &dims[2]) |
        ncmpi_def_var(out->id, "field", NC_DOUBLE, 3, dims, &out->variable) | ncmpi_enddef(out->id);
    fine(status == NC_NOERR, "define", ncmpi_strerror(status));
}

static void step_gather(struct output* out) {
    MPI_Gatherv(patch, (int)(count[0] * count[1]), MPI_DOUBLE, out->whole, out->counts, out->places,
                MPI_DOUBLE, 0, comm);
    if (rank == 0) {
        const int32_t marker = (int32_t)(shape[0] * shape[1] * 8);
        const size_t elements = (size_t)(shape[0] * shape[1]);
        fine(fwrite(&marker, 4, 1, out->file) == 1 &&
                 fwrite(out->whole, 8, elements, out->file) == elements &&
                 fwrite(&marker, 4, 1, out->file) == 1,
             "write", path);
    }
}

static void step(const char* way, struct output* out, int number) {
    if (is(way, "gather")) {
        step_gather(out);
    } else if (is(way, "pnetcdf")) {
        const MPI_Offset at[] = {number, start[0], start[1]}, size[] = {1, count[0], count[1]};
        const int status = ncmpi_put_vara_double_all(out->id, out->variable, at, size, patch);
        fine(status == NC_NOERR, "write", ncmpi_strerror(status));
    } else {
        fine(fbo_begin_step(out->id, number) == 0 && fbo_write(out->variable, patch) == 0 &&
                 fbo_end_step(out->id) == 0,
             "write", fbo_error_text());
    }
}

static void end(const char* way, struct output* out) {
    if (is(way, "gather")) {
        fine(rank != 0 || fclose(out->file) == 0, "close", path);
    } else if (is(way, "pnetcdf")) {
        fine(ncmpi_close(out->id) == NC_NOERR, "close", path);
    } else {
        fine(fbo_close(out->id) == 0, "close", fbo_error_text());
    }
}

/* Seconds of the slowest rank since `begin`. */
static double slowest(double begin) {
    double mine = MPI_Wtime() - begin, most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    return most;
}

static double copy_seconds(size_t bytes) {
    char* target = malloc(bytes + 1);
    memset(target, 1, bytes);
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    memcpy(target, patch, bytes);
    __asm__ volatile("" : : "r"(target) : "memory"); /* the copy is needed */
    const double took = slowest(begin);
    free(target);
    return took;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    fine(argc >= 7 && fbo_init(MPI_COMM_WORLD, &comm) == 0, "begin", "wrong arguments");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const char* way = argv[1];
    path = argv[2];
    const int steps = atoi(argv[3]), compute_ms = atoi(argv[6]);
    const int divided = argc > 7 && is(argv[7], "columns") ? 1 : 0;
    for (int i = 0; i < 2; ++i) {
        count[i] = shape[i] = atoll(argv[4 + i]);
    }
    start[divided] = shape[divided] * rank / ranks;
    count[divided] = shape[divided] * (rank + 1) / ranks - start[divided];
    const size_t elements = (size_t)(count[0] * count[1]);
    patch = malloc(elements * sizeof *patch);
    struct output out = {0};
    if (is(way, "gather")) {
        fine(divided == 0, "gather", "columns");
        begin_gather(&out);
    } else if (is(way, "pnetcdf")) {
        begin_pnetcdf(&out);
    } else {
        begin_api(&out, is(way, "records") ? "format=fortran" : "");
    }
    double seconds = 0;
    for (int number = 0; number < steps; ++number) {
        for (size_t i = 0; i < elements; ++i) {
            patch[i] = number + (double)rank + (double)i * 1e-3;
        }
        usleep((useconds_t)compute_ms * 1000);
        MPI_Barrier(comm);
        const double begin = MPI_Wtime();
        step(way, &out, number);
        seconds += slowest(begin);
    }
    const double begin = MPI_Wtime();
    end(way, &out);
    seconds += slowest(begin);
    const double copied = copy_seconds(elements * sizeof *patch) * steps;
    if (rank == 0) {
        printf("{\"output\": %.6f, \"copy\": %.6f}\n", seconds, copied);
    }
    fbo_finalize();
    MPI_Finalize();
    return 0;
}
