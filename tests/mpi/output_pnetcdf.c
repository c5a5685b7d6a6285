/* Writes by PnetCDF's own calls what output.c writes. Usage: output_pnetcdf FILE */
#include "output_model.h"

#include <pnetcdf.h>
#include <string.h>

static void fine(int status, const char* what) {
    if (status != NC_NOERR) {
        fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

struct ids {
    int nc, time, area, temp, salt, ice;
};

static void put_text(int nc, int variable, const char* name, const char* text) {
    fine(ncmpi_put_att_text(nc, variable, name, (MPI_Offset)strlen(text), text), name);
}

static struct ids defined(const char* path) {
    struct ids id;
    int time, lat, lon, depth;
    const int none = NC_FILL_INT;
    fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id.nc),
         "create");
    put_text(id.nc, NC_GLOBAL, "Conventions", "CF-1.8");
    fine(ncmpi_def_dim(id.nc, "time", NC_UNLIMITED, &time), "time");
    fine(ncmpi_def_var(id.nc, "time", NC_DOUBLE, 1, &time, &id.time), "time");
    fine(ncmpi_def_dim(id.nc, "lat", lats, &lat), "lat");
    fine(ncmpi_def_dim(id.nc, "lon", lons, &lon), "lon");
    const int flat[] = {time, lat, lon};
    fine(ncmpi_def_var(id.nc, "area", NC_DOUBLE, 2, flat + 1, &id.area), "area");
    put_text(id.nc, id.area, "units", "m2");
    fine(ncmpi_def_dim(id.nc, "depth", depths, &depth), "depth");
    const int full[] = {time, depth, lat, lon};
    fine(ncmpi_def_var(id.nc, "temp", NC_DOUBLE, 4, full, &id.temp), "temp");
    put_text(id.nc, id.temp, "units", "degC");
    fine(ncmpi_def_var(id.nc, "salt", NC_FLOAT, 4, full, &id.salt), "salt");
    fine(ncmpi_def_var(id.nc, "ice", NC_INT, 3, flat, &id.ice), "ice");
    fine(ncmpi_put_att(id.nc, id.ice, "_FillValue", NC_INT, 1, &none), "_FillValue");
    put_text(id.nc, id.ice, "units", "1");
    put_text(id.nc, id.time, "units", "days since 2000-01-01");
    put_text(id.nc, NC_GLOBAL, "title", "a test");
    fine(ncmpi_enddef(id.nc), "enddef");
    return id;
}

/* Rows of latitudes of one depth, as rank 0 gives them. */
static void put_flat(struct ids id, int step, int rank) {
    double* area = memory_of(columns * 8);
    int* ice = memory_of(columns * 4);
    const MPI_Offset start[] = {step, 0, 0}, count[] = {rank == 0, lats, lons},
                     some[] = {rank == 0 ? lats : 0, lons};
    for (int64_t i = 0; i < columns; i++) {
        area[i] = value_at(0, i);
        ice[i] = i < (int64_t)ice_lats * lons ? (int)value_at(step, i) : NC_FILL_INT;
    }
    if (step == 0) {
        fine(ncmpi_put_vara_double_all(id.nc, id.area, start + 1, some, area), "area");
    }
    fine(ncmpi_put_vara_int_all(id.nc, id.ice, start, count, ice), "ice");
    free(area);
    free(ice);
}

static void put_full(struct ids id, int step, struct patch mine) {
    const int64_t all = depths * mine.lat_count * mine.lon_count;
    double* temp = memory_of(all * 8);
    float* salt = memory_of(all * 4);
    const MPI_Offset start[] = {step, 0, mine.lat, mine.lon},
                     count[] = {1, depths, mine.lat_count, mine.lon_count};
    for (int64_t i = 0; i < all; i++) {
        const int64_t lon = i % mine.lon_count, lat = i / mine.lon_count % mine.lat_count;
        const int64_t depth = i / mine.lon_count / mine.lat_count;
        temp[i] = value_at(step, depth * columns + (mine.lat + lat) * lons + mine.lon + lon);
        salt[i] = (float)temp[i];
    }
    fine(ncmpi_put_vara_double_all(id.nc, id.temp, start, count, temp), "temp");
    fine(ncmpi_put_vara_float_all(id.nc, id.salt, start, count, salt), "salt");
    free(temp);
    free(salt);
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct ids id = defined(argv[1]);
    for (int step = 0; step < steps; step++) {
        const double time = 0.25 * step;
        const MPI_Offset start = step, count = rank == 0;
        fine(ncmpi_put_vara_double_all(id.nc, id.time, &start, &count, &time), "time");
        put_flat(id, step, rank);
        put_full(id, step, patch_of(rank, ranks));
    }
    fine(ncmpi_close(id.nc), "close");
    MPI_Finalize();
    return 0;
}
