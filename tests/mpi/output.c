/* The output API: several files at a time, halos, a map, a patch of size zero, gaps, a variable
 * without time. Usage: output FOLDER NAME OPTIONS [NAME OPTIONS] … */
#include "output_model.h"

#include <forebay_output.h>
#include <string.h>
#include <unistd.h>

enum { files_max = 4 };

struct output_file {
    int file, area, temp, salt, ice;
};

static int rank, ranks;
static struct patch mine;

static void fine(int status) {
    if (status != FBO_SUCCESS) {
        fprintf(stderr, "rank %d: error %d: %s\n", rank, status, fbo_error_text());
        sleep(1); /* MPICH's launcher loses what is said just before the end */
        MPI_Abort(MPI_COMM_WORLD, 97);
    }
}

static int64_t ice_count(void) {
    const int64_t left = ice_lats - mine.lat;
    return left < 0 ? 0 : left < mine.lat_count ? left : mine.lat_count;
}

/* Blocks of elements in turn, the last one first, with one element between blocks that is nobody's.
 */
static int64_t map_of(int64_t* dof) {
    int64_t count = 0;
    for (int64_t block = elements / map_block; block >= 0; block--) {
        if (block % ranks != rank) {
            continue;
        }
        for (int64_t at = block * map_block; at < (block + 1) * map_block && at < elements; at++) {
            dof[count++] = at;
        }
        dof[count++] = -1;
    }
    return count;
}

static void define(struct output_file* one, MPI_Comm comm, const char* path, const char* options,
                   const int64_t* dof, int64_t dofs) {
    int flat, full, mapped, icy;
    const int64_t shape[] = {depths, lats, lons}, start[] = {0, mine.lat, mine.lon},
                  count[] = {depths, mine.lat_count, mine.lon_count}, halo[] = {0, 1, 2},
                  ice[] = {ice_count(), mine.lon_count};
    fine(fbo_create(&one->file, comm, path, options));
    fine(fbo_grid(&flat, one->file, 2, shape + 1, start + 1, count + 1, NULL));
    fine(fbo_grid(&full, one->file, 3, shape, start, count, halo));
    fine(fbo_grid_map(&mapped, one->file, 3, shape, dofs, dof));
    fine(fbo_grid(&icy, one->file, 2, shape + 1, start + 1, ice, NULL));
    fine(fbo_define_fixed(&one->area, one->file, "area", flat, FBO_REAL64, "lat lon", "m2"));
    fine(fbo_define(&one->temp, one->file, "temp", full, FBO_REAL64, "depth lat lon", "degC"));
    fine(fbo_define(&one->salt, one->file, "salt", mapped, FBO_REAL32, "depth lat lon", NULL));
    fine(fbo_define(&one->ice, one->file, "ice", icy, FBO_INT32, "lat lon", "1"));
    fine(fbo_attribute(one->file, "time", "units", "days since 2000-01-01"));
    fine(fbo_attribute(one->file, NULL, "title", "a test"));
}

/* The patch has its values, the halo -1. */
static void fill_temp(double* temp, int step) {
    const int64_t width = mine.lon_count + 4, height = mine.lat_count + 2;
    for (int64_t i = 0; i < depths * height * width; i++) {
        const int64_t lon = i % width - 2, lat = i / width % height - 1, depth = i / width / height;
        const int inside = lon >= 0 && lon < mine.lon_count && lat >= 0 && lat < mine.lat_count;
        temp[i] = inside
                      ? value_at(step, depth * columns + (mine.lat + lat) * lons + mine.lon + lon)
                      : -1;
    }
}

static void write_step(const struct output_file* one, int step, const int64_t* dof, int64_t dofs) {
    const int64_t temps = depths * (mine.lat_count + 2) * (mine.lon_count + 4);
    double* temp = memory_of(temps * 8);
    float* salt = memory_of(dofs * 4);
    int32_t* ice = memory_of(ice_count() * mine.lon_count * 4);
    if (step == 0) {
        double* area = memory_of(mine.lat_count * mine.lon_count * 8);
        for (int64_t i = 0; i < mine.lat_count * mine.lon_count; i++) {
            area[i] =
                value_at(0, (mine.lat + i / mine.lon_count) * lons + mine.lon + i % mine.lon_count);
        }
        fine(fbo_write(one->area, area));
        free(area);
    }
    fill_temp(temp, step);
    fine(fbo_write_array(one->temp, FBO_REAL64, temps, temp));
    for (int64_t i = 0; i < dofs; i++) {
        salt[i] = dof[i] < 0 ? -1 : (float)value_at(step, dof[i]);
    }
    fine(fbo_write(one->salt, salt));
    for (int64_t i = 0; i < ice_count() * mine.lon_count; i++) {
        ice[i] = (int32_t)value_at(
            step, (mine.lat + i / mine.lon_count) * lons + mine.lon + i % mine.lon_count);
    }
    fine(fbo_write(one->ice, ice_count() > 0 ? ice : NULL));
    /* They may be changed now. */
    memset(temp, 0xff, (size_t)temps * 8);
    memset(salt, 0xff, (size_t)dofs * 4);
    free(temp);
    free(salt);
    free(ice);
}

int main(int argc, char** argv) {
    MPI_Comm comm;
    struct output_file all[files_max];
    const int files = (argc - 2) / 2;
    MPI_Init(&argc, &argv);
    fine(fbo_init(MPI_COMM_WORLD, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    mine = patch_of(rank, ranks);
    int64_t* dof = memory_of((elements / ranks + 2 * map_block) * 8 * 2);
    const int64_t dofs = map_of(dof);
    for (int i = 0; i < files && i < files_max; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", argv[1], argv[2 + 2 * i]);
        define(&all[i], comm, path, argv[3 + 2 * i], dof, dofs);
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < files; i++) {
            fine(fbo_begin_step(all[i].file, 0.25 * step));
        }
        for (int i = 0; i < files; i++) {
            write_step(&all[i], step, dof, dofs);
        }
        for (int i = 0; i < files; i++) {
            fine(fbo_end_step(all[i].file));
        }
    }
    fine(fbo_close(all[0].file));
    fine(fbo_finalize()); /* closes the others */
    free(dof);
    MPI_Finalize();
    return 0;
}
