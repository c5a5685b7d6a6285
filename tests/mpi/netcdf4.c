/* NetCDF-4 in parallel, as models use it: an unlimited time, two variables, one record a step, the
 * inner columns of each rank, collective access; then all of it read back. */
#include "common.h"

#include <netcdf.h>
#include <netcdf_par.h>

enum { rows = 24, columns = 10, steps = 3 };

static void good(int status, const char* what) {
    if (status != NC_NOERR) {
        fprintf(stderr, "netcdf4: %s: %s\n", what, nc_strerror(status));
        give_up(what);
    }
}

static double value(int variable, int step, int i) {
    return 10000.0 * variable + 1000.0 * job.rank + 100.0 * step + i;
}

static void access_all(int file, const int* variables, int writing) {
    double data[rows * columns];
    for (int step = 0; step < steps; step++) {
        for (int v = 0; v < 2; v++) {
            const size_t start[] = {(size_t)step, 0, (size_t)(columns * job.rank)};
            const size_t count[] = {1, rows, columns};
            for (int i = 0; i < rows * columns; i++) {
                data[i] = writing ? value(v, step, i) : -1;
            }
            if (writing) {
                good(nc_put_vara_double(file, variables[v], start, count, data), "put");
                continue;
            }
            good(nc_get_vara_double(file, variables[v], start, count, data), "get");
            for (int i = 0; i < rows * columns; i++) {
                check(data[i] == value(v, step, i), "step %d element %d is %g", step, i, data[i]);
            }
        }
    }
}

static void collective(int file, const int* variables) {
    for (int v = 0; v < 2; v++) {
        good(nc_var_par_access(file, variables[v], NC_COLLECTIVE), "par_access");
    }
}

static void write_file(const char* path) {
    int file, sizes[3], variables[2];
    good(nc_create_par(path, NC_NETCDF4 | NC_CLOBBER, job.comm, MPI_INFO_NULL, &file), "create");
    good(nc_def_dim(file, "time", NC_UNLIMITED, &sizes[0]), "def_dim");
    good(nc_def_dim(file, "y", rows, &sizes[1]), "def_dim");
    good(nc_def_dim(file, "x", (size_t)(columns * job.ranks), &sizes[2]), "def_dim");
    good(nc_def_var(file, "u", NC_DOUBLE, 3, sizes, &variables[0]), "def_var");
    good(nc_def_var(file, "v", NC_FLOAT, 3, sizes, &variables[1]), "def_var");
    good(nc_put_att_text(file, variables[0], "units", 5, "m s-1"), "put_att");
    good(nc_enddef(file), "enddef");
    collective(file, variables);
    access_all(file, variables, 1);
    good(nc_close(file), "close");
}

static void read_file(const char* path) {
    int file, variables[2];
    good(nc_open_par(path, NC_NOWRITE, job.comm, MPI_INFO_NULL, &file), "open");
    good(nc_inq_varid(file, "u", &variables[0]), "inq_varid");
    good(nc_inq_varid(file, "v", &variables[1]), "inq_varid");
    collective(file, variables);
    access_all(file, variables, 0);
    good(nc_close(file), "close");
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("netcdf4");
    write_file(path_of("netcdf4.nc"));
    read_file(path_of("netcdf4.nc"));
    expect_some_taken("netcdf4.nc");
    end_case();
    finish();
    return 0;
}
