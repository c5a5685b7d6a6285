/* A model's data, for programs that write them by the output API or otherwise: each element has a
 * value that says where it belongs. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More than one writer has elements to write (128 Ki each at least). */
enum { depths = 40, lats = 100, lons = 131, steps = 3, ice_lats = 40, map_block = 7 };
static const int64_t columns = (int64_t)lats * lons, elements = (int64_t)depths * lats * lons;

/* Exact as float, too. */
__attribute__((unused)) static double value_at(int step, int64_t index) {
    return 600000.0 * step + (double)index + 0.5;
}

/* Patches of latitudes and longitudes. */
struct patch {
    int64_t lat, lon, lat_count, lon_count;
};

__attribute__((unused)) static struct patch patch_of(int rank, int ranks) {
    const int rows = ranks % 2 == 0 ? 2 : 1, cols = ranks / rows;
    const int row = rank / cols, col = rank % cols;
    const struct patch made = {.lat = lats * row / rows,
                               .lon = lons * col / cols,
                               .lat_count = lats * (row + 1) / rows - lats * row / rows,
                               .lon_count = lons * (col + 1) / cols - lons * col / cols};
    return made;
}

__attribute__((unused)) static void* memory_of(int64_t bytes) {
    void* made = malloc((size_t)(bytes > 0 ? bytes : 1));
    if (!made) {
        fprintf(stderr, "no memory\n");
        sleep(1); /* MPICH's launcher loses what is said just before the end */
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    return made;
}
