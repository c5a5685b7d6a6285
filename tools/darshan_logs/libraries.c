/* Programs with known I/O problems that use PnetCDF (nc…) or HDF5 (h5…).
 * Usage: mpiexec libraries KIND FOLDER [NUMBER [SIZE]]
 *
 * The file has one variable of ranks × NUMBER rows of SIZE bytes; row n × ranks + r is rank r's
 * piece of call n. Files to be read are made at another place and renamed, so that their making
 * is not recorded. */
#define _GNU_SOURCE
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, number, size;
static const char* folder;
static char *bytes, shared[512], made[512];
static int variable;        /* PnetCDF's number of the variable */
static long long rows_made; /* in a file that is there before it is read */

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "libraries: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

#define NC(call) check((call) == NC_NOERR, #call)
#define H5(call) check((call) >= 0, #call)

static void compute(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static MPI_Info gathering(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
    return info;
}

/* Runs `make` on rank 0 with the file at a place that is not recorded, then moves the file. */
static void prepared(void (*make)(const char* path)) {
    if (rank == 0) {
        int parent = (int)(strrchr(folder, '/') - folder);
        snprintf(made, sizeof made, "%.*s/made", parent, folder);
        make(made);
        check(rename(made, shared) == 0, "rename");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* PnetCDF. */
static int nc_created(MPI_Comm comm, const char* path, MPI_Offset rows, MPI_Info info) {
    int file, dimensions[2];
    NC(ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
    NC(ncmpi_def_dim(file, "row", rows, &dimensions[0]));
    NC(ncmpi_def_dim(file, "byte", size, &dimensions[1]));
    NC(ncmpi_def_var(file, "pieces", NC_BYTE, 2, dimensions, &variable));
    NC(ncmpi_enddef(file));
    return file;
}

static void nc_put(int file, int together, MPI_Offset row, MPI_Offset rows) {
    MPI_Offset start[] = {row, 0}, count[] = {rows, size};
    NC((together ? ncmpi_put_vara_all : ncmpi_put_vara)(file, variable, start, count, bytes,
                                                        rows * size, MPI_SIGNED_CHAR));
}

static void nc_get(int file, int together, MPI_Offset row, MPI_Offset rows) {
    MPI_Offset start[] = {row, 0}, count[] = {rows, size};
    NC((together ? ncmpi_get_vara_all : ncmpi_get_vara)(file, variable, start, count, bytes,
                                                        rows * size, MPI_SIGNED_CHAR));
}

static void nc_make(const char* path) {
    int file = nc_created(MPI_COMM_SELF, path, rows_made, MPI_INFO_NULL);
    long long most = size < 1 << 20 ? (1 << 20) / size : 1, count;
    if (most > number) most = number;
    for (long long row = 0; row < rows_made; row += count) {
        count = rows_made - row < most ? rows_made - row : most;
        nc_put(file, 1, row, count);
    }
    NC(ncmpi_close(file));
}

static int nc_opened(int mode) {
    int file;
    NC(ncmpi_open(MPI_COMM_WORLD, shared, mode, MPI_INFO_NULL, &file));
    NC(ncmpi_inq_varid(file, "pieces", &variable));
    return file;
}

static void nc_puts(int together, int syncing) {
    MPI_Info info = together ? gathering() : MPI_INFO_NULL;
    int file = nc_created(MPI_COMM_WORLD, shared, (MPI_Offset)ranks * number, info);
    if (!together) NC(ncmpi_begin_indep_data(file));
    for (int n = 0; n < number; n++) {
        nc_put(file, together, (MPI_Offset)n * ranks + rank, 1);
        if (syncing) NC(ncmpi_sync(file));
    }
    if (!together) NC(ncmpi_end_indep_data(file));
    NC(ncmpi_close(file));
}

/* One call of `number` pieces. The ranks' pieces lie in turn; behind each round is a hole of `gap`
 * pieces. */
static void nc_strided(int writing, int together, int gap) {
    MPI_Offset start[] = {rank, 0}, count[] = {number, size}, stride[] = {ranks + gap, 1};
    MPI_Offset all = (MPI_Offset)number * size;
    rows_made = (long long)(ranks + gap) * number;
    if (!writing) prepared(nc_make);
    int file = writing ? nc_created(MPI_COMM_WORLD, shared, rows_made,
                                    together ? gathering() : MPI_INFO_NULL)
                       : nc_opened(NC_NOWRITE);
    if (!together) NC(ncmpi_begin_indep_data(file));
    if (writing)
        NC((together ? ncmpi_put_vars_all : ncmpi_put_vars)(file, variable, start, count, stride,
                                                            bytes, all, MPI_SIGNED_CHAR));
    else
        NC(ncmpi_get_vars(file, variable, start, count, stride, bytes, all, MPI_SIGNED_CHAR));
    if (!together) NC(ncmpi_end_indep_data(file));
    NC(ncmpi_close(file));
}

static void nc_root(void) {
    int file = nc_created(MPI_COMM_WORLD, shared, number, MPI_INFO_NULL);
    NC(ncmpi_begin_indep_data(file));
    for (int n = 0; rank == 0 && n < number; n++) nc_put(file, 0, n, 1);
    NC(ncmpi_end_indep_data(file));
    NC(ncmpi_close(file));
}

static void nc_same(void) {
    rows_made = number;
    prepared(nc_make);
    int file = nc_opened(NC_NOWRITE);
    NC(ncmpi_begin_indep_data(file));
    for (int n = 0; n < number; n++) nc_get(file, 0, n, 1);
    NC(ncmpi_end_indep_data(file));
    NC(ncmpi_close(file));
}

static void nc_reopened(void) {
    rows_made = (long long)ranks * number;
    prepared(nc_make);
    for (int n = 0; n < number; n++) {
        int file = nc_opened(NC_WRITE);
        nc_put(file, 1, (MPI_Offset)n * ranks + rank, 1);
        NC(ncmpi_close(file));
    }
}

static void nc_healthy(void) {
    double a = MPI_Wtime();
    int file = nc_created(MPI_COMM_WORLD, shared, (MPI_Offset)ranks * number, MPI_INFO_NULL);
    for (int n = 0; n < number; n++) nc_put(file, 1, (MPI_Offset)n * ranks + rank, 1);
    NC(ncmpi_close(file));
    compute((MPI_Wtime() - a) * 49);
}

/* HDF5. */
static hid_t h5_access(MPI_Info info) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (ranks > 1) H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info));
    return access;
}

static hid_t h5_created(MPI_Info info) {
    hid_t access = h5_access(info);
    hid_t file = H5Fcreate(shared, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5(file);
    H5Pclose(access);
    return file;
}

static hid_t h5_dataset(hid_t file, const char* name, hid_t type, hsize_t rows, hid_t with) {
    hsize_t lengths[] = {rows, (hsize_t)size};
    hid_t space = H5Screate_simple(2, lengths, NULL);
    hid_t made_one = H5Dcreate2(file, name, type, space, H5P_DEFAULT, with, H5P_DEFAULT);
    H5(made_one);
    H5Sclose(space);
    return made_one;
}

static hid_t h5_transfer(int together) {
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (ranks > 1)
        H5(H5Pset_dxpl_mpio(transfer, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    return transfer;
}

/* Writes `count` rows from `first` on, each `stride` rows behind the one before. */
static void h5_put(hid_t dataset, hid_t type, hsize_t first, hsize_t stride, hsize_t count,
                   hid_t transfer) {
    hsize_t start[] = {first, 0}, steps[] = {stride, 1}, counts[] = {count, (hsize_t)size};
    hid_t space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(2, counts, NULL);
    H5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, steps, counts, NULL));
    H5(H5Dwrite(dataset, type, memory, space, transfer, bytes));
    H5Sclose(memory);
    H5Sclose(space);
}

static void h5_puts(int together, int flushing) {
    MPI_Info info = together ? gathering() : MPI_INFO_NULL;
    hid_t file = h5_created(info), transfer = h5_transfer(together);
    hid_t dataset =
        h5_dataset(file, "pieces", H5T_NATIVE_SCHAR, (hsize_t)ranks * number, H5P_DEFAULT);
    for (int n = 0; n < number; n++) {
        h5_put(dataset, H5T_NATIVE_SCHAR, (hsize_t)n * ranks + rank, 1, 1, transfer);
        if (flushing) H5(H5Fflush(file, H5F_SCOPE_LOCAL));
    }
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void h5_strided(int together, int gap) {
    hid_t file = h5_created(together ? gathering() : MPI_INFO_NULL);
    hid_t transfer = h5_transfer(together);
    hsize_t rows = (hsize_t)(ranks + gap) * number;
    hid_t dataset = h5_dataset(file, "pieces", H5T_NATIVE_SCHAR, rows, H5P_DEFAULT);
    h5_put(dataset, H5T_NATIVE_SCHAR, rank, ranks + gap, number, transfer);
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Doubles in memory become floats of the other byte order in the file. */
static void h5_converted(void) {
    hid_t file = h5_created(MPI_INFO_NULL), transfer = h5_transfer(0);
    hid_t dataset =
        h5_dataset(file, "pieces", H5T_IEEE_F32BE, (hsize_t)ranks * number, H5P_DEFAULT);
    for (int n = 0; n < number; n++)
        h5_put(dataset, H5T_NATIVE_DOUBLE, (hsize_t)n * ranks + rank, 1, 1, transfer);
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Each row is a chunk that gzip compresses. */
static void h5_deflated(void) {
    hid_t file = h5_created(MPI_INFO_NULL), transfer = h5_transfer(1);
    hid_t with = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[] = {1, (hsize_t)size};
    H5(H5Pset_chunk(with, 2, chunk));
    H5(H5Pset_deflate(with, 9));
    hid_t dataset = h5_dataset(file, "pieces", H5T_NATIVE_SCHAR, (hsize_t)ranks * number, with);
    srand(7 + rank);
    for (int at = 0; at < size; at++) bytes[at] = (char)(rand() % 12);
    for (int n = 0; n < number; n++)
        h5_put(dataset, H5T_NATIVE_SCHAR, (hsize_t)n * ranks + rank, 1, 1, transfer);
    H5Pclose(with);
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void h5_root(void) {
    hid_t file = h5_created(MPI_INFO_NULL), transfer = h5_transfer(0);
    hid_t dataset = h5_dataset(file, "pieces", H5T_NATIVE_SCHAR, number, H5P_DEFAULT);
    for (int n = 0; rank == 0 && n < number; n++)
        h5_put(dataset, H5T_NATIVE_SCHAR, n, 1, 1, transfer);
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void h5_healthy(void) {
    double a = MPI_Wtime();
    h5_puts(0, 0);
    compute((MPI_Wtime() - a) * 49);
}

static void run(const char* what) {
    if (!strcmp(what, "nctiny"))
        nc_puts(1, 0);
    else if (!strcmp(what, "ncindependent"))
        nc_puts(0, 0);
    else if (!strcmp(what, "ncsynced"))
        nc_puts(1, 1);
    else if (!strcmp(what, "ncsieve"))
        nc_strided(1, 0, ranks > 1 ? 0 : 3);
    else if (!strcmp(what, "ncsieveread"))
        nc_strided(0, 0, ranks > 1 ? 0 : 3);
    else if (!strcmp(what, "ncholes"))
        nc_strided(1, 1, 3 * ranks);
    else if (!strcmp(what, "ncroot"))
        nc_root();
    else if (!strcmp(what, "ncsame"))
        nc_same();
    else if (!strcmp(what, "ncreopened"))
        nc_reopened();
    else if (!strcmp(what, "nchealthy"))
        nc_healthy();
    else if (!strcmp(what, "h5tiny"))
        h5_puts(1, 0);
    else if (!strcmp(what, "h5independent"))
        h5_puts(0, 0);
    else if (!strcmp(what, "h5flushed"))
        h5_puts(0, 1);
    else if (!strcmp(what, "h5strided"))
        h5_strided(0, 0);
    else if (!strcmp(what, "h5holes"))
        h5_strided(1, 3 * ranks);
    else if (!strcmp(what, "h5converted"))
        h5_converted();
    else if (!strcmp(what, "h5deflated"))
        h5_deflated();
    else if (!strcmp(what, "h5root"))
        h5_root();
    else if (!strcmp(what, "h5healthy"))
        h5_healthy();
    else
        check(0, what);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) return 2;
    folder = argv[2];
    number = argc > 3 ? atoi(argv[3]) : 100;
    size = argc > 4 ? atoi(argv[4]) : 65536;
    bytes = calloc(number, (size_t)size * 8);
    snprintf(shared, sizeof shared, "%s/shared", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    run(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
