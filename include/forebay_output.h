/* Forebay's output API: a program's arrays to files, without a gather to one rank.
 *
 *     fbo_init(MPI_COMM_WORLD, &comm);
 *     fbo_create(&file, comm, "ocean.nc", "");
 *     fbo_grid(&grid, file, 2, shape, start, count, halo);
 *     fbo_define(&temp_id, file, "temp", grid, FBO_REAL64, "lat lon", "degC");
 *     for (step …) {
 *         fbo_begin_step(file, time);
 *         fbo_write(temp_id, temp);
 *         fbo_end_step(file);
 *     }
 *     fbo_close(file);
 *     fbo_finalize();
 *
 * Each rank hands over its own patch. The library puts patches of all ranks together and writes
 * them by a few of the ranks. In Fortran: forebay_output.f90, which your build compiles; in Python:
 * forebay_output. Link -lforebay_output of your MPI (lib/forebay/<family> of the installation), in
 * front of the MPI.
 *
 * All functions return FBO_SUCCESS or an error, and never end the program because of a file; only a
 * rank that has no memory left in a collective call does. All but fbo_write, fbo_write_array and
 * fbo_error_text are collective: all ranks of the file's communicator call them in the same order,
 * and all get the same result. Files, grids and variables are numbers, which are no longer valid
 * when their file is closed.
 *
 * Dimensions are in C's order: the last one is that whose elements are neighbours in memory.
 * Indices are from 0. */
#ifndef FOREBAY_OUTPUT_H
#define FOREBAY_OUTPUT_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fbo_error {
    FBO_SUCCESS = 0,
    FBO_ERROR_INPUT_OUTPUT = 1, /* anything without an error of its own */
    FBO_ERROR_NO_SPACE = 2,
    FBO_ERROR_QUOTA = 3,
    FBO_ERROR_READ_ONLY = 4, /* the file system is */
    FBO_ERROR_NO_SUCH_FILE = 5,
    FBO_ERROR_ACCESS = 6,
    FBO_ERROR_ARGUMENT = 7,    /* arguments that make no sense, or a call at the wrong time */
    FBO_ERROR_UNSUPPORTED = 8, /* arguments that make sense, but cannot be had here */
    FBO_ERROR_MEMORY = 9
};

enum fbo_type {
    FBO_INT8 = 1,
    FBO_INT16 = 2,
    FBO_INT32 = 3,
    FBO_INT64 = 4,
    FBO_REAL32 = 5,
    FBO_REAL64 = 6
};

/* The message of the last call that failed in this process: problem (why). What to do next. Valid
 * until the next call. */
const char* fbo_error_text(void);

/* Begins; MPI is initialised. `compute` is the communicator that the program uses in the place of
 * `world` from then on: with dedicated I/O ranks these are not in it, and do not return before
 * fbo_finalize. Without them it is a duplicate of `world`. fbo_finalize frees it. */
int fbo_init(MPI_Comm world, MPI_Comm* compute);
/* Closes the files that are still open, and ends; before MPI_Finalize. */
int fbo_finalize(void);

/* clang-format off */
/* Makes a file, or empties it. `options`: NULL, or words key=value with blanks between them:
 *   format=netcdf    netCDF (CDF-5) by PnetCDF; the default
 *   format=netcdf4   netCDF-4 by HDF5
 *   format=fortran   Fortran's unformatted sequential records: one for each variable that was
 *                    written in a step, in the order of their definition
 *   compress=1..9    of netCDF-4: shuffle and deflate, by one writer, whatever `writers` is
 *   complete=rename  the file is PATH.part until fbo_close; after an error it keeps that name
 *   marker=4 or 8    bytes of a record's markers in Fortran's records (4; longer records than 2 GiB
 *                    have sub-records)
 *   endian=native, little or big   of Fortran's records
 *   writers=N        ranks that write (4 for each node)
 *   window=SIZE      bytes that a writer collects before it writes them (16MiB) */
/* clang-format on */
int fbo_create(int* file, MPI_Comm comm, const char* path, const char* options);
/* Opens a netCDF file for reading, by any number of ranks. Then fbo_grid, fbo_define (which finds
 * the variable), fbo_steps and fbo_read. */
int fbo_open(int* file, MPI_Comm comm, const char* path, const char* options);
int fbo_close(int file);

/* A grid and this rank's patch of it: `count` elements from `start` on, in an array that has
 * halo[i] more elements on both sides of dimension i (NULL: none). A patch may be empty. Where no
 * rank has a patch, the file has the fill value. Fails if patches overlap (not in a file opened for
 * reading). */
int fbo_grid(int* grid, int file, int dimensions, const int64_t* shape, const int64_t* start,
             const int64_t* count, const int64_t* halo);
/* The same for unstructured grids and any other decomposition: this rank's array has `elements`
 * elements; number i is element dof[i] of the grid, counted from 0 in the order of the file. A
 * negative dof: it is not written. */
int fbo_grid_map(int* grid, int file, int dimensions, const int64_t* shape, int64_t elements,
                 const int64_t* dof);

/* A variable that has one more dimension, `time`, in front. `dims`: the names of the grid's
 * dimensions with blanks between them, or NULL. `units`: or NULL. */
int fbo_define(int* variable, int file, const char* name, int grid, enum fbo_type type,
               const char* dims, const char* units);
/* A variable without time, such as a coordinate: written in one of the steps. */
int fbo_define_fixed(int* variable, int file, const char* name, int grid, enum fbo_type type,
                     const char* dims, const char* units);
/* Sets a text attribute of a variable, of "time", or (variable NULL) of the file. Not in Fortran's
 * records. */
int fbo_attribute(int file, const char* variable, const char* name, const char* text);

/* All grids, variables and attributes are defined before the first step. */
int fbo_begin_step(int file, double time);
/* Not collective. `array`: all of this rank's array, halo and all; it may be changed on return. */
int fbo_write(int variable, const void* array);
/* Fails, too, if an earlier step could not be written. After an error of the file system nothing
 * more is written to the file, and each call says so; the steps before stay in the file. */
int fbo_end_step(int file);

/* The number of steps. */
int fbo_steps(int file, int64_t* steps);
/* Reads this rank's patch; the halo is left as it is. `step`: from 0; does not count for variables
 * without time. */
int fbo_read(int variable, int64_t step, void* array);
/* The same, where the array's type and its elements (halo and all) are known: they are checked. */
int fbo_write_array(int variable, enum fbo_type type, int64_t elements, const void* array);
int fbo_read_array(int variable, int64_t step, enum fbo_type type, int64_t elements, void* array);

/* The same with Fortran's communicators. */
int fbo_init_fortran(MPI_Fint world, MPI_Fint* compute);
int fbo_create_fortran(int* file, MPI_Fint comm, const char* path, const char* options);
int fbo_open_fortran(int* file, MPI_Fint comm, const char* path, const char* options);

#ifdef __cplusplus
}
#endif

#endif
