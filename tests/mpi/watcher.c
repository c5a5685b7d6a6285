/* A profiler in Darshan's manner: it wraps MPI_File_* (and PMPI_File_*, as Darshan does), finds the
 * next one by dlsym(RTLD_NEXT, "PMPI_…"), and counts. WATCHER_COUNTS names the file for rank 0's
 * counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int opens, writes, reads, closes, views;

static void* next(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "watcher: no next %s\n", name);
        abort();
    }
    return found;
}

int PMPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* fh) {
    int (*real)(MPI_Comm, const char*, int, MPI_Info, MPI_File*) = next("PMPI_File_open");
    opens++;
    return real(comm, name, amode, info, fh);
}

int PMPI_File_close(MPI_File* fh) {
    int (*real)(MPI_File*) = next("PMPI_File_close");
    closes++;
    return real(fh);
}

int PMPI_File_set_view(MPI_File fh, MPI_Offset at, MPI_Datatype etype, MPI_Datatype type,
                       const char* rep, MPI_Info info) {
    int (*real)(MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char*, MPI_Info) =
        next("PMPI_File_set_view");
    views++;
    return real(fh, at, etype, type, rep, info);
}

int PMPI_File_write_all(MPI_File fh, const void* b, int n, MPI_Datatype t, MPI_Status* s) {
    int (*real)(MPI_File, const void*, int, MPI_Datatype, MPI_Status*) =
        next("PMPI_File_write_all");
    writes++;
    return real(fh, b, n, t, s);
}

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset at, const void* b, int n, MPI_Datatype t,
                           MPI_Status* s) {
    int (*real)(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*) =
        next("PMPI_File_write_at_all");
    writes++;
    return real(fh, at, b, n, t, s);
}

int PMPI_File_read_all(MPI_File fh, void* b, int n, MPI_Datatype t, MPI_Status* s) {
    int (*real)(MPI_File, void*, int, MPI_Datatype, MPI_Status*) = next("PMPI_File_read_all");
    reads++;
    return real(fh, b, n, t, s);
}

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset at, void* b, int n, MPI_Datatype t,
                          MPI_Status* s) {
    int (*real)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*) =
        next("PMPI_File_read_at_all");
    reads++;
    return real(fh, at, b, n, t, s);
}

int PMPI_Finalize(void) {
    int (*real)(void) = next("PMPI_Finalize");
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE* out = rank == 0 && getenv("WATCHER_COUNTS") ? fopen(getenv("WATCHER_COUNTS"), "w") : NULL;
    if (out) {
        fprintf(out, "%d %d %d %d %d\n", opens, views, writes, reads, closes);
        fclose(out);
    }
    return real();
}

#define SAME_AS(name) __attribute__((alias(#name)))
int MPI_File_open(MPI_Comm, const char*, int, MPI_Info, MPI_File*) SAME_AS(PMPI_File_open);
int MPI_File_close(MPI_File*) SAME_AS(PMPI_File_close);
int MPI_File_set_view(MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char*, MPI_Info)
    SAME_AS(PMPI_File_set_view);
int MPI_File_write_all(MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
    SAME_AS(PMPI_File_write_all);
int MPI_File_write_at_all(MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*)
    SAME_AS(PMPI_File_write_at_all);
int MPI_File_read_all(MPI_File, void*, int, MPI_Datatype, MPI_Status*) SAME_AS(PMPI_File_read_all);
int MPI_File_read_at_all(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*)
    SAME_AS(PMPI_File_read_at_all);
int MPI_Finalize(void) SAME_AS(PMPI_Finalize);
