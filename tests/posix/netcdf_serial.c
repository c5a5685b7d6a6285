// NetCDF without ranks: each format's file is defined, filled (NetCDF classic reads back each block
// that it fills), written in pieces and records, opened again and changed, and read.
#define _GNU_SOURCE
#include "common.h"

#include <netcdf.h>

enum { rows = 37, columns = 211, records = 12 };

static void done(int status, const char* what) {
    if (status != NC_NOERR) {
        fprintf(stderr, "%s: %s\n", what, nc_strerror(status));
        exit(1);
    }
}

static int values[rows][columns];

static void define(const char* name, int mode) {
    int file, dims[3], grid, series, sparse;
    done(nc_create(name, NC_CLOBBER | mode, &file), name);
    done(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "time");
    done(nc_def_dim(file, "y", rows, &dims[1]), "y");
    done(nc_def_dim(file, "x", columns, &dims[2]), "x");
    done(nc_def_var(file, "grid", NC_INT, 2, &dims[1], &grid), "grid");
    done(nc_def_var(file, "series", NC_DOUBLE, 3, dims, &series), "series");
    done(nc_def_var(file, "sparse", NC_FLOAT, 2, &dims[1], &sparse), "sparse");
    done(nc_put_att_text(file, NC_GLOBAL, "title", 5, "ocean"), "title");
    done(nc_enddef(file), "enddef");
    for (size_t y = 0; y < rows; ++y) {
        const size_t at[] = {y, 0}, count[] = {1, columns};
        done(nc_put_vara_int(file, grid, at, count, values[y]), "grid");
    }
    const size_t corner[] = {5, 7}, few[] = {3, 11};
    float some[3 * 11];
    for (int i = 0; i < 33; ++i) {
        some[i] = (float)i / 3;
    }
    done(nc_put_vara_float(file, sparse, corner, few, some), "sparse");
    done(nc_close(file), "close");
}

static void append(const char* name) {
    int file, series;
    static double frame[rows][columns];
    for (size_t time = 0; time < records; ++time) {  // as a model does: opened for each output
        done(nc_open(name, NC_WRITE, &file), "open");
        done(nc_inq_varid(file, "series", &series), "series");
        for (int y = 0; y < rows; ++y) {
            for (int x = 0; x < columns; ++x) {
                frame[y][x] = (double)time * 1000 + y + x / 1000.0;
            }
        }
        const size_t at[] = {time, 0, 0}, count[] = {1, rows, columns};
        done(nc_put_vara_double(file, series, at, count, &frame[0][0]), "series");
        done(nc_sync(file), "sync");
        done(nc_close(file), "close");
    }
}

static void look(const char* name) {
    int file, grid, series, sparse;
    static int got[rows][columns];
    double one = 0;
    float hole = 0;
    const size_t last[] = {records - 1, rows - 1, columns - 1}, empty[] = {0, 0};
    done(nc_open(name, NC_NOWRITE, &file), "open");
    done(nc_inq_varid(file, "grid", &grid), "grid");
    done(nc_inq_varid(file, "series", &series), "series");
    done(nc_inq_varid(file, "sparse", &sparse), "sparse");
    done(nc_get_var_int(file, grid, &got[0][0]), "grid");
    done(nc_get_var1_double(file, series, last, &one), "series");
    done(nc_get_var1_float(file, sparse, empty, &hole), "sparse");
    done(nc_close(file), "close");
    printf("%s: %s, %.3f, %s\n", name, memcmp(got, values, sizeof got) == 0 ? "same" : "other", one,
           hole == NC_FILL_FLOAT ? "filled" : "not filled");
}

int main(void) {
    for (int i = 0; i < rows * columns; ++i) {
        values[i / columns][i % columns] = i * 7919;
    }
    const struct {
        const char* name;
        int mode;
    } files[] = {{"classic.nc", 0}, {"offset.nc", NC_64BIT_OFFSET}, {"hdf5.nc", NC_NETCDF4}};
    for (int i = 0; i < 3; ++i) {
        define(files[i].name, files[i].mode);
        append(files[i].name);
        look(files[i].name);
    }
    return 0;
}
