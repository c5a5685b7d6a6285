/* The part of recorder.c for HDF5 and PnetCDF: counts the calls that libraries.c makes, in the
 * modules H5F, H5D, PNETCDF_FILE and PNETCDF_VAR, as darshan-runtime does. It is linked with
 * recorder.c, which counts the calls beneath them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

#include "recorder.h"

enum { OBJECTS = 4096, NAMES = 192 };

/* The counters and times of a module for one direction. */
struct direction {
    int calls, bytes, sizes, seconds, longest, longest_size, start, end;
};

#define DIRECTION(module, verb, noun, count)          \
    {.calls = module##_##count,                       \
     .bytes = module##_BYTES_##noun,                  \
     .sizes = module##_SIZE_##verb##_AGG_0_100,       \
     .seconds = module##_F_##verb##_TIME,             \
     .longest = module##_F_MAX_##verb##_TIME,         \
     .longest_size = module##_MAX_##verb##_TIME_SIZE, \
     .start = module##_F_##verb##_START_TIMESTAMP,    \
     .end = module##_F_##verb##_END_TIMESTAMP}

static void moved(struct record* one, struct direction to, int64_t size, double a) {
    double b = now();
    one->counter[to.calls]++;
    one->counter[to.bytes] += size;
    one->counter[to.sizes + bin(size)]++;
    add_common(&one->access, size);
    one->time[to.seconds] += b - a;
    if (b - a > one->time[to.longest]) {
        one->time[to.longest] = b - a;
        one->counter[to.longest_size] = size;
    }
    span(one, to.start, to.end, a, b);
}

/* HDF5: the records of open files and datasets. */
static struct {
    hid_t id;
    struct record* record;
} objects[OBJECTS];

static struct record** object(hid_t id) {
    for (int at = 0; at < OBJECTS; at++)
        if (objects[at].record && objects[at].id == id) return &objects[at].record;
    return NULL;
}

static void keep(hid_t id, struct record* one) {
    for (int at = 0; one && at < OBJECTS; at++)
        if (!objects[at].record) {
            objects[at].id = id;
            objects[at].record = one;
            return;
        }
}

static hid_t file_opened(hid_t id, const char* path, hid_t access, double a) {
    struct record* one = id >= 0 ? find(path, H5F) : NULL;
    if (!one) return id;
    keep(id, one);
    one->counter[H5F_OPENS]++;
    one->counter[H5F_USE_MPIIO] = access != H5P_DEFAULT && H5Pget_driver(access) == H5FD_MPIO;
    one->time[H5F_F_META_TIME] += now() - a;
    span(one, H5F_F_OPEN_START_TIMESTAMP, H5F_F_OPEN_END_TIMESTAMP, a, now());
    return id;
}

hid_t H5Fcreate(const char* path, unsigned flags, hid_t creation, hid_t access) {
    REAL(hid_t, H5Fcreate, const char*, unsigned, hid_t, hid_t);
    double a = now();
    return file_opened(real(path, flags, creation, access), path, access, a);
}

hid_t H5Fopen(const char* path, unsigned flags, hid_t access) {
    REAL(hid_t, H5Fopen, const char*, unsigned, hid_t);
    double a = now();
    return file_opened(real(path, flags, access), path, access, a);
}

herr_t H5Fflush(hid_t id, H5F_scope_t scope) {
    REAL(herr_t, H5Fflush, hid_t, H5F_scope_t);
    double a = now();
    herr_t done = real(id, scope);
    struct record** one = object(id);
    if (one) {
        (*one)->counter[H5F_FLUSHES]++;
        (*one)->time[H5F_F_META_TIME] += now() - a;
    }
    return done;
}

static void closed(struct record** one, int meta, int start, int end, double a) {
    if (!one) return;
    (*one)->time[meta] += now() - a;
    span(*one, start, end, a, now());
    *one = NULL;
}

herr_t H5Fclose(hid_t id) {
    REAL(herr_t, H5Fclose, hid_t);
    double a = now();
    herr_t done = real(id);
    closed(object(id), H5F_F_META_TIME, H5F_F_CLOSE_START_TIMESTAMP, H5F_F_CLOSE_END_TIMESTAMP, a);
    return done;
}

/* A dataset is named as darshan-runtime names it: the file, a colon, and its path in the file. */
static hid_t dataset_opened(hid_t id, hid_t where, const char* name, double a) {
    double b = now();
    char path[NAMES];
    ssize_t length = H5Fget_name(where, path, sizeof path);
    if (id < 0 || length < 0 || length >= (ssize_t)sizeof path) return id;
    snprintf(path + length, sizeof path - length, ":/%s", name);
    struct record* one = find(path, H5D);
    if (!one) return id;
    keep(id, one);
    hid_t type = H5Dget_type(id), space = H5Dget_space(id), made = H5Dget_create_plist(id);
    hsize_t chunk[2] = {0, 0};
    int64_t* c = one->counter;
    c[H5D_OPENS]++;
    c[H5D_DATATYPE_SIZE] = (int64_t)H5Tget_size(type);
    c[H5D_DATASPACE_NDIMS] = H5Sget_simple_extent_ndims(space);
    c[H5D_DATASPACE_NPOINTS] = H5Sget_simple_extent_npoints(space);
    if (H5Pget_layout(made) == H5D_CHUNKED && H5Pget_chunk(made, 2, chunk) == 2) {
        c[H5D_CHUNK_SIZE_D1] = (int64_t)chunk[1];
        c[H5D_CHUNK_SIZE_D2] = (int64_t)chunk[0];
    }
    H5Pclose(made);
    H5Sclose(space);
    H5Tclose(type);
    one->time[H5D_F_META_TIME] += b - a;
    span(one, H5D_F_OPEN_START_TIMESTAMP, H5D_F_OPEN_END_TIMESTAMP, a, b);
    return id;
}

hid_t H5Dcreate2(hid_t where, const char* name, hid_t type, hid_t space, hid_t links, hid_t made,
                 hid_t access) {
    REAL(hid_t, H5Dcreate2, hid_t, const char*, hid_t, hid_t, hid_t, hid_t, hid_t);
    double a = now();
    return dataset_opened(real(where, name, type, space, links, made, access), where, name, a);
}

hid_t H5Dopen2(hid_t where, const char* name, hid_t access) {
    REAL(hid_t, H5Dopen2, hid_t, const char*, hid_t);
    double a = now();
    return dataset_opened(real(where, name, access), where, name, a);
}

herr_t H5Dclose(hid_t id) {
    REAL(herr_t, H5Dclose, hid_t);
    double a = now();
    herr_t done = real(id);
    closed(object(id), H5D_F_META_TIME, H5D_F_CLOSE_START_TIMESTAMP, H5D_F_CLOSE_END_TIMESTAMP, a);
    return done;
}

static void selected(hid_t id, hid_t space, hid_t transfer, struct direction to, double a) {
    struct record** kept = object(id);
    if (!kept) return;
    int64_t* c = (*kept)->counter;
    int64_t points = c[H5D_DATASPACE_NPOINTS];
    if (space != H5S_ALL) {
        points = H5Sget_select_npoints(space);
        if (H5Sget_select_type(space) == H5S_SEL_HYPERSLABS) c[H5D_REGULAR_HYPERSLAB_SELECTS]++;
    }
    H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
    if (transfer != H5P_DEFAULT && H5Pget_dxpl_mpio(transfer, &mode) >= 0 &&
        mode == H5FD_MPIO_COLLECTIVE)
        c[H5D_USE_MPIIO_COLLECTIVE] = 1;
    moved(*kept, to, points * c[H5D_DATATYPE_SIZE], a);
}

static const struct direction dataset_read = DIRECTION(H5D, READ, READ, READS);
static const struct direction dataset_write = DIRECTION(H5D, WRITE, WRITTEN, WRITES);

herr_t H5Dread(hid_t id, hid_t type, hid_t memory, hid_t space, hid_t transfer, void* bytes) {
    REAL(herr_t, H5Dread, hid_t, hid_t, hid_t, hid_t, hid_t, void*);
    double a = now();
    herr_t done = real(id, type, memory, space, transfer, bytes);
    if (done >= 0) selected(id, space, transfer, dataset_read, a);
    return done;
}

herr_t H5Dwrite(hid_t id, hid_t type, hid_t memory, hid_t space, hid_t transfer,
                const void* bytes) {
    REAL(herr_t, H5Dwrite, hid_t, hid_t, hid_t, hid_t, hid_t, const void*);
    double a = now();
    herr_t done = real(id, type, memory, space, transfer, bytes);
    if (done >= 0) selected(id, space, transfer, dataset_write, a);
    return done;
}

/* PnetCDF: the record of each open file, and of its variables. Numbers of files are small. */
enum { OPEN_FILES = 64, VARIABLES = 16 };
static struct record *netcdf_files[OPEN_FILES], *variables[OPEN_FILES][VARIABLES];

static int netcdf_opened(int done, const char* path, int file, int count, double a) {
    struct record* one = done == NC_NOERR && file < OPEN_FILES ? find(path, PNETCDF_FILE) : NULL;
    if (!one) return done;
    netcdf_files[file] = one;
    memset(variables[file], 0, sizeof variables[file]);
    one->counter[count]++;
    one->time[PNETCDF_FILE_F_META_TIME] += now() - a;
    span(one, PNETCDF_FILE_F_OPEN_START_TIMESTAMP, PNETCDF_FILE_F_OPEN_END_TIMESTAMP, a, now());
    return done;
}

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
    REAL(int, ncmpi_create, MPI_Comm, const char*, int, MPI_Info, int*);
    double a = now();
    int done = real(comm, path, mode, info, file);
    return netcdf_opened(done, path, *file, PNETCDF_FILE_CREATES, a);
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* file) {
    REAL(int, ncmpi_open, MPI_Comm, const char*, int, MPI_Info, int*);
    double a = now();
    int done = real(comm, path, mode, info, file);
    return netcdf_opened(done, path, *file, PNETCDF_FILE_OPENS, a);
}

#define FILE_CALL(name, counted)                                   \
    int ncmpi_##name(int file) {                                   \
        REAL(int, ncmpi_##name, int);                              \
        double a = now();                                          \
        int done = real(file);                                     \
        struct record* one = netcdf_files[file];                   \
        if (one && counted) one->counter[counted]++;               \
        if (one) one->time[PNETCDF_FILE_F_META_TIME] += now() - a; \
        return done;                                               \
    }
FILE_CALL(enddef, 0)
FILE_CALL(sync, PNETCDF_FILE_SYNCS)

int ncmpi_close(int file) {
    REAL(int, ncmpi_close, int);
    double a = now();
    int done = real(file);
    struct record* one = netcdf_files[file];
    if (one) {
        one->time[PNETCDF_FILE_F_META_TIME] += now() - a;
        span(one, PNETCDF_FILE_F_CLOSE_START_TIMESTAMP, PNETCDF_FILE_F_CLOSE_END_TIMESTAMP, a,
             now());
    }
    netcdf_files[file] = NULL;
    return done;
}

static int variable_opened(int done, int file, const char* name, int variable, double a) {
    if (done != NC_NOERR || !netcdf_files[file] || variable >= VARIABLES) return done;
    double b = now();
    char path[NAMES + 64];
    snprintf(path, sizeof path, "%s:%s", netcdf_files[file]->name, name);
    struct record* one = find(path, PNETCDF_VAR);
    if (!one) return done;
    variables[file][variable] = one;
    int dimensions[2];
    MPI_Offset length = 1, all = 1;
    ncmpi_inq_vardimid(file, variable, dimensions);
    for (int at = 0; at < 2; at++)
        if (ncmpi_inq_dimlen(file, dimensions[at], &length) == NC_NOERR) all *= length;
    one->counter[PNETCDF_VAR_OPENS]++;
    one->counter[PNETCDF_VAR_NDIMS] = 2;
    one->counter[PNETCDF_VAR_NPOINTS] = all;
    one->counter[PNETCDF_VAR_DATATYPE_SIZE] = 1;
    one->time[PNETCDF_VAR_F_META_TIME] += b - a;
    span(one, PNETCDF_VAR_F_OPEN_START_TIMESTAMP, PNETCDF_VAR_F_OPEN_END_TIMESTAMP, a, b);
    return done;
}

int ncmpi_def_var(int file, const char* name, nc_type type, int many, const int* dimensions,
                  int* variable) {
    REAL(int, ncmpi_def_var, int, const char*, nc_type, int, const int*, int*);
    double a = now();
    int done = real(file, name, type, many, dimensions, variable);
    return variable_opened(done, file, name, *variable, a);
}

int ncmpi_inq_varid(int file, const char* name, int* variable) {
    REAL(int, ncmpi_inq_varid, int, const char*, int*);
    double a = now();
    int done = real(file, name, variable);
    return variable_opened(done, file, name, *variable, a);
}

#define VARA(name, kind, verb, noun, count, as)                                                    \
    int ncmpi_##name(int file, int variable, const MPI_Offset* start, const MPI_Offset* length,    \
                     kind* bytes, MPI_Offset many, MPI_Datatype type) {                            \
        REAL(int, ncmpi_##name, int, int, const MPI_Offset*, const MPI_Offset*, kind*, MPI_Offset, \
             MPI_Datatype);                                                                        \
        static const struct direction to = DIRECTION(PNETCDF_VAR, verb, noun, count);              \
        double a = now();                                                                          \
        int done = real(file, variable, start, length, bytes, many, type);                         \
        return passed(done, file, variable, to, as, many, a);                                      \
    }
#define VARS(name, kind, verb, noun, count, as)                                                    \
    int ncmpi_##name(int file, int variable, const MPI_Offset* start, const MPI_Offset* length,    \
                     const MPI_Offset* stride, kind* bytes, MPI_Offset many, MPI_Datatype type) {  \
        REAL(int, ncmpi_##name, int, int, const MPI_Offset*, const MPI_Offset*, const MPI_Offset*, \
             kind*, MPI_Offset, MPI_Datatype);                                                     \
        static const struct direction to = DIRECTION(PNETCDF_VAR, verb, noun, count);              \
        double a = now();                                                                          \
        int done = real(file, variable, start, length, stride, bytes, many, type);                 \
        return passed(done, file, variable, to, as, many, a);                                      \
    }

static int passed(int done, int file, int variable, struct direction to, int as, MPI_Offset many,
                  double a) {
    struct record* one = variables[file][variable];
    if (done != NC_NOERR || !one) return done;
    one->counter[as]++;
    moved(one, to, many, a);
    return done;
}

VARA(put_vara, const void, WRITE, WRITTEN, INDEP_WRITES, PNETCDF_VAR_PUT_VARA)
VARA(put_vara_all, const void, WRITE, WRITTEN, COLL_WRITES, PNETCDF_VAR_PUT_VARA)
VARA(get_vara, void, READ, READ, INDEP_READS, PNETCDF_VAR_GET_VARA)
VARA(get_vara_all, void, READ, READ, COLL_READS, PNETCDF_VAR_GET_VARA)
VARS(put_vars, const void, WRITE, WRITTEN, INDEP_WRITES, PNETCDF_VAR_PUT_VARS)
VARS(put_vars_all, const void, WRITE, WRITTEN, COLL_WRITES, PNETCDF_VAR_PUT_VARS)
VARS(get_vars, void, READ, READ, INDEP_READS, PNETCDF_VAR_GET_VARS)
