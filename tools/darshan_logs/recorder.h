/* Shared by recorder.c and library_recorder.c: the records of one rank. None of it is visible to
 * the program that is recorded. */
#pragma once

#include <stdint.h>

#include "counters.h"

enum { POSIX, STDIO, MPIIO, H5F, H5D, PNETCDF_FILE, PNETCDF_VAR, FILES = 2048, SIZES = 64 };

/* How often each size of a call was seen. */
struct common {
    int64_t value[SIZES], count[SIZES];
};
struct record {
    char name[192];
    int module;
    int64_t counter[COUNTERS_MOST];
    double time[TIMES_MOST];
    int64_t last_read, last_written, offset;
    int last_was_write;
    struct common access, stride;
};

#define REAL(type, name, ...)         \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#pragma GCC visibility push(hidden)
/* Seconds since MPI_Init. */
double now(void);
/* The record of a file in a module; NULL where the file is not one that is recorded. */
struct record* find(const char* path, int module);
void add_common(struct common* all, int64_t value);
/* Which bin of a histogram of sizes a call of `size` bytes falls into. */
int bin(int64_t size);
/* Extends the span from the first call's start to the last call's end, two time stamps. */
void span(struct record* one, int start, int end, double a, double b);
#pragma GCC visibility pop
