/* PnetCDF: a CDF-5 file with a fixed and a record variable, blocking and deferred collective calls,
 * and memory described by an MPI type. */
#include "common.h"

#include <pnetcdf.h>

enum { nx = 24, ny = 10, steps = 3 };

static void fine(int status, const char* what) {
    if (status != NC_NOERR) {
        fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double value(int rank, int step, int i) { return 1000.0 * rank + 100.0 * step + i / 16.0; }

static void put_step(int nc, int field, int counts, int step) {
    double data[ny * nx];
    int halo[(ny + 2) * (nx + 2)], sizes[] = {ny + 2, nx + 2}, parts[] = {ny, nx}, inner[] = {1, 1};
    MPI_Offset start[] = {step, 0, nx * job.rank}, count[] = {1, ny, nx};
    MPI_Datatype type;
    for (int i = 0; i < ny * nx; i++) {
        data[i] = value(job.rank, step, i);
    }
    for (int i = 0; i < (ny + 2) * (nx + 2); i++) {
        halo[i] = 7 * job.rank + step + i;
    }
    fine(ncmpi_put_vara_double_all(nc, field, start, count, data), "put_vara_double_all");
    MPI_Type_create_subarray(2, sizes, parts, inner, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    fine(ncmpi_put_vara_all(nc, counts, start, count, halo, 1, type), "put_vara_all");
    MPI_Type_free(&type);
}

static void put_deferred(int nc, int fixed) {
    int requests[2], states[2];
    float rows[2][nx];
    for (int r = 0; r < 2; r++) {
        MPI_Offset start[] = {2 * job.rank + r, 0}, count[] = {1, nx};
        for (int i = 0; i < nx; i++) {
            rows[r][i] = (float)(job.rank * 10 + r + i);
        }
        fine(ncmpi_iput_vara_float(nc, fixed, start, count, rows[r], &requests[r]),
             "iput_vara_float");
    }
    fine(ncmpi_wait_all(nc, 2, requests, states), "wait_all");
}

static void read_back(int nc, int field) {
    double data[ny * nx];
    const int other = (job.rank + 1) % job.ranks;
    for (int step = 0; step < steps; step++) {
        MPI_Offset start[] = {step, 0, nx * other}, count[] = {1, ny, nx};
        fine(ncmpi_get_vara_double_all(nc, field, start, count, data), "get_vara_double_all");
        for (int i = 0; i < ny * nx; i++) {
            check(data[i] == value(other, step, i), "step %d, element %d is %g", step, i, data[i]);
        }
    }
}

int main(int argc, char** argv) {
    int nc, time, y, x, rows, field, counts, fixed;
    start(&argc, &argv);
    begin_case("pnetcdf");
    const char* path = path_of("data.nc");
    fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc),
         "create");
    fine(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &time), "def_dim");
    fine(ncmpi_def_dim(nc, "y", ny, &y), "def_dim");
    fine(ncmpi_def_dim(nc, "x", nx * job.ranks, &x), "def_dim");
    fine(ncmpi_def_dim(nc, "rows", 2 * job.ranks, &rows), "def_dim");
    int three[] = {time, y, x}, two[] = {rows, x};
    fine(ncmpi_def_var(nc, "field", NC_DOUBLE, 3, three, &field), "def_var");
    fine(ncmpi_def_var(nc, "counts", NC_INT, 3, three, &counts), "def_var");
    fine(ncmpi_def_var(nc, "fixed", NC_FLOAT, 2, two, &fixed), "def_var");
    fine(ncmpi_put_att_text(nc, field, "units", 1, "m"), "put_att");
    fine(ncmpi_enddef(nc), "enddef");
    for (int step = 0; step < steps; step++) {
        put_step(nc, field, counts, step);
    }
    put_deferred(nc, fixed);
    fine(ncmpi_close(nc), "close");
    fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &nc), "open");
    read_back(nc, field);
    fine(ncmpi_close(nc), "close");
    expect_some_taken("data.nc");
    end_case();
    finish();
    return 0;
}
