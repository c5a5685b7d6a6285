/* Parallel HDF5: a contiguous and a chunked dataset, hyperslabs with strides, collective metadata.
 */
#include "common.h"

#include <hdf5.h>

enum { nx = 20, ny = 12 };

static hid_t good(hid_t id, const char* what) {
    if (id < 0) {
        give_up(what);
    }
    return id;
}

static int value(int rank, int i) { return 1000 * rank + i; }

/* Every rank takes every ranks-th column of the dataset. */
static hid_t columns(hid_t dataset) {
    hsize_t from[] = {0, (hsize_t)job.rank}, stride[] = {1, (hsize_t)job.ranks}, count[] = {ny, nx};
    hid_t space = good(H5Dget_space(dataset), "get_space");
    good(H5Sselect_hyperslab(space, H5S_SELECT_SET, from, stride, count, NULL), "hyperslab");
    return space;
}

/* The inner part of an array with a margin. */
static hid_t inner(void) {
    hsize_t sizes[] = {ny + 2, nx + 2}, from[] = {1, 1}, count[] = {ny, nx};
    hid_t space = good(H5Screate_simple(2, sizes, NULL), "create_simple");
    good(H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count, NULL), "hyperslab");
    return space;
}

static void transfer(hid_t dataset, hid_t transfers, int writing, const char* what) {
    int data[(ny + 2) * (nx + 2)];
    hid_t memory = inner(), space = columns(dataset);
    for (int i = 0; i < (ny + 2) * (nx + 2); i++) {
        data[i] = writing ? value(job.rank, i) : -1;
    }
    if (writing) {
        good(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfers, data), what);
    } else {
        good(H5Dread(dataset, H5T_NATIVE_INT, memory, space, transfers, data), what);
        for (int y = 1; y <= ny; y++) {
            for (int x = 1; x <= nx; x++) {
                const int i = y * (nx + 2) + x;
                check(data[i] == value(job.rank, i), "%s: element %d is %d", what, i, data[i]);
            }
        }
        check(data[0] == -1, "%s: the margin was touched", what);
    }
    H5Sclose(memory);
    H5Sclose(space);
}

static hid_t new_dataset(hid_t file, const char* name, int chunked) {
    hsize_t sizes[] = {ny, (hsize_t)(nx * job.ranks)}, chunk[] = {5, 16};
    hid_t space = good(H5Screate_simple(2, sizes, NULL), "create_simple");
    hid_t list = good(H5Pcreate(H5P_DATASET_CREATE), "pcreate");
    good(H5Pset_obj_track_times(list, 0), "track_times");
    if (chunked) {
        good(H5Pset_chunk(list, 2, chunk), "chunk");
    }
    hid_t dataset =
        good(H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), name);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("hdf5");
    hid_t access = good(H5Pcreate(H5P_FILE_ACCESS), "pcreate");
    good(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "fapl_mpio");
    good(H5Pset_coll_metadata_write(access, 1), "coll_metadata_write");
    good(H5Pset_all_coll_metadata_ops(access, 1), "coll_metadata_ops");
    hid_t transfers = good(H5Pcreate(H5P_DATASET_XFER), "pcreate");
    good(H5Pset_dxpl_mpio(transfers, H5FD_MPIO_COLLECTIVE), "dxpl_mpio");
    const char* names[] = {"contiguous", "chunked"};
    hid_t file = good(H5Fcreate(path_of("data.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, access), "fcreate");
    for (int i = 0; i < 2; i++) {
        hid_t dataset = new_dataset(file, names[i], i);
        transfer(dataset, transfers, 1, names[i]);
        H5Dclose(dataset);
    }
    good(H5Fclose(file), "fclose");
    file = good(H5Fopen(path_of("data.h5"), H5F_ACC_RDONLY, access), "fopen");
    for (int i = 0; i < 2; i++) {
        hid_t dataset = good(H5Dopen2(file, names[i], H5P_DEFAULT), "dopen");
        transfer(dataset, transfers, 0, names[i]);
        H5Dclose(dataset);
    }
    good(H5Fclose(file), "fclose");
    H5Pclose(access);
    H5Pclose(transfers);
    expect_some_taken("data.h5");
    end_case();
    finish();
    return 0;
}
