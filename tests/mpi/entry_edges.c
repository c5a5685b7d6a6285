/* Edge cases: settings read back, statuses at the end of a file, wrong arguments, errors of the
 * file system, many opens, shared file pointers, communicators freed before files.
 *
 *   entry_edges FOLDER CASE      CASE: info, eof, wrong, reopen, shared, freed, held, replaced,
 *                                atomic, absent, unclosed
 * Prints "ok". */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

static void must(int held, const char* what) {
    if (!held) {
        fprintf(stderr, "entry_edges: rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int class_of(int code) {
    int found = MPI_SUCCESS;
    MPI_Error_class(code, &found);
    return found;
}

static MPI_File open_in(MPI_Comm comm, const char* folder, const char* name, int amode,
                        MPI_Info info) {
    char path[4096];
    MPI_File fh;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(MPI_File_open(comm, path, amode, info, &fh) == MPI_SUCCESS, "open");
    return fh;
}

static MPI_File fresh(const char* folder, const char* name) {
    return open_in(MPI_COMM_WORLD, folder, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
}

/* Every second integer of so many that, under Forebay, the MPI is not told of the view. */
static void look_at_every_second(MPI_File fh) {
    MPI_Datatype type;
    MPI_Type_vector(100000, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(fh, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
}

static void info_case(const char* folder) {
    char value[MPI_MAX_INFO_VAL];
    int there;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    MPI_Info_set(info, "forebay_requests_in_flight", "3");
    MPI_Info_set(info, "forebay_no_such_setting", "3");
    MPI_Info_set(info, "striping_unit", "nonsense");
    MPI_File fh = open_in(MPI_COMM_WORLD, folder, "info", MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    MPI_File_get_info(fh, &info);
    MPI_Info_get(info, "forebay_active", MPI_MAX_INFO_VAL, value, &there);
    if (there) { /* else: plain MPI */
        must(strcmp(value, ranks > 1 ? "true" : "false") == 0, "forebay_active");
        MPI_Info_get(info, "forebay_cb_buffer_size", MPI_MAX_INFO_VAL, value, &there);
        must(there && strcmp(value, "1048576") == 0, "forebay_cb_buffer_size");
        MPI_Info_get(info, "forebay_requests_in_flight", MPI_MAX_INFO_VAL, value, &there);
        must(there && strcmp(value, "3") == 0, "forebay_requests_in_flight");
        MPI_Info_get(info, "forebay_striping_unit", MPI_MAX_INFO_VAL, value, &there);
        must(there && strcmp(value, "0") == 0, "an invalid hint is ignored");
    }
    MPI_Info_free(&info);
    MPI_File_close(&fh);
}

static void eof_case(const char* folder) {
    enum { held = 1000, asked = 700 };
    double values[asked];
    MPI_Status status;
    int count;
    MPI_File fh = fresh(folder, "eof");
    MPI_File_set_size(fh, 0);
    memset(values, 7, sizeof values);
    MPI_File_write_at_all(fh, 0, values, rank == 0 ? asked : 0, MPI_DOUBLE, &status);
    MPI_File_set_size(fh, held * 8);
    MPI_Offset at = (MPI_Offset)rank * asked;
    int left = held - rank * asked;
    left = left < 0 ? 0 : left > asked ? asked : left;
    MPI_File_set_view(fh, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    must(MPI_File_read_at_all(fh, at, values, asked, MPI_DOUBLE, &status) == MPI_SUCCESS, "read");
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    must(count == left, "a read at the end of the file returns what there is");
    MPI_File_close(&fh);
}

static void wrong_case(const char* folder) {
    int value = 1;
    MPI_Status status;
    MPI_File fh = fresh(folder, "wrong");
    must(MPI_File_write_at_all(fh, 0, &value, -1, MPI_INT, &status) != MPI_SUCCESS,
         "negative count");
    must(MPI_File_write_at_all(fh, 0, &value, 1, MPI_DATATYPE_NULL, &status) != MPI_SUCCESS,
         "null type");
    MPI_File_close(&fh);
    fh = open_in(MPI_COMM_WORLD, folder, "wrong", MPI_MODE_RDONLY, MPI_INFO_NULL);
#ifndef OPEN_MPI /* which takes it, and negative offsets and displacements too */
    must(MPI_File_write_at_all(fh, 0, &value, 1, MPI_INT, &status) != MPI_SUCCESS,
         "write to a read-only file");
#endif
    must(MPI_File_read_at_all(fh, 0, &value, 0, MPI_INT, &status) == MPI_SUCCESS, "read nothing");
    MPI_File_close(&fh);
}

static void reopen_case(const char* folder) {
    int value = rank;
    for (int i = 0; i < 2200; i++) { /* more than MPICH has communicators; with 2 ranks */
        MPI_File fh = fresh(folder, "reopen");
        if (i % 100 == 0) {
            MPI_File_write_at_all(fh, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
        }
        MPI_File_close(&fh);
    }
}

/* More communicators than are kept, several files open on each, files outliving communicators. */
static void freed_case(const char* folder) {
    enum { comms = 12 };
    MPI_File fh[comms][2];
    for (int i = 0; i < comms; i++) {
        MPI_Comm comm;
        char name[64];
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? rank % 2 : 0, i % 3 ? rank : -rank, &comm);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "freed-%d-%d-%d", i, i % 2 ? rank % 2 : 0, k);
            fh[i][k] = open_in(comm, folder, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
        }
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < comms; i++) {
        for (int k = 0; k < 2; k++) {
            int value = rank + i * 100 + k, back = -1;
            must(MPI_File_write_at_all(fh[i][k], rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE) ==
                     MPI_SUCCESS,
                 "write");
            must(MPI_File_read_at_all(fh[i][k], rank * 4, &back, 1, MPI_INT, MPI_STATUS_IGNORE) ==
                     MPI_SUCCESS,
                 "read");
            must(back == value, "read what was written");
            MPI_File_close(&fh[i][k]);
        }
    }
}

static void shared_case(const char* folder) {
    int value = rank, seen = 0, back;
    MPI_Offset at;
    MPI_File fh = fresh(folder, "shared");
    MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    must(MPI_File_write_shared(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "write_shared");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(fh, &at);
    must(at == ranks, "shared position");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_write_ordered(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "write_ordered");
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(fh);
    MPI_File_read_at_all(fh, ranks + rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    must(back == rank, "ordered");
    for (int i = 0; i < ranks; i++) {
        MPI_File_read_at_all(fh, i, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
        seen += back;
    }
    must(seen == ranks * (ranks - 1) / 2, "every rank's value is there once");
    MPI_File_close(&fh);
}

/* A view that the MPI does not know; under Forebay the shared pointer is refused then. */
static void held_case(const char* folder) {
    int value = rank, back = -1;
    MPI_File fh = fresh(folder, "held");
    look_at_every_second(fh);
    int code = MPI_File_write_shared(fh, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (ranks > 1) {
        must(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, "write_shared is refused");
    }
    must(MPI_File_write_at_all(fh, rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "and the file goes on");
    must(MPI_File_read_at(fh, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS, "read");
    must(back == value, "read what was written");
    must(MPI_File_close(&fh) == MPI_SUCCESS, "close");
}

/* Somebody puts another file in the place of ours: nothing of ours may get into that one. */
static void replaced_case(const char* folder) {
    int value = 1234567;
    char path[4096], moved[4096], byte = 0;
    MPI_File fh = fresh(folder, "replaced");
    look_at_every_second(fh);
    snprintf(path, sizeof path, "%s/replaced", folder);
    snprintf(moved, sizeof moved, "%s/replaced.away", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        must(rename(path, moved) == 0, "rename");
        FILE* other = fopen(path, "w");
        must(other && fclose(other) == 0, "another file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_File_write_at(fh, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    must(ranks == 1 || class_of(code) == MPI_ERR_FILE, "write_at says so");
    MPI_Barrier(MPI_COMM_WORLD);
    FILE* other = fopen(path, "r");
    must(other && fread(&byte, 1, 1, other) == 0, "the other file is untouched");
    fclose(other);
    MPI_File_close(&fh);
}

static void atomic_case(const char* folder) {
    int value = rank, back = -1, flag = 0;
    MPI_File fh = fresh(folder, "atomic");
    MPI_File_set_atomicity(fh, 1);
    MPI_File_get_atomicity(fh, &flag);
    must(flag == 1, "atomicity");
    MPI_File_write_at_all(fh, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_atomicity(fh, 0);
    MPI_File_read_at_all(fh, rank * 4, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    must(back == rank, "read what was written");
    MPI_File_close(&fh);
}

static void absent_case(const char* folder) {
    char path[4096];
    MPI_File fh;
    snprintf(path, sizeof path, "%s/no/such/file", folder);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    must(class_of(code) == MPI_ERR_NO_SUCH_FILE, "a file that does not exist");
    code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    must(code != MPI_SUCCESS, "once more");
}

static void unclosed_case(const char* folder) {
    int value = rank;
    MPI_File fh = fresh(folder, "unclosed");
    MPI_File_write_at_all(fh, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

struct named {
    const char* name;
    void (*run)(const char* folder);
};

int main(int argc, char** argv) {
    const struct named cases[] = {
        {"info", info_case},     {"eof", eof_case},           {"wrong", wrong_case},
        {"reopen", reopen_case}, {"shared", shared_case},     {"freed", freed_case},
        {"held", held_case},     {"replaced", replaced_case}, {"atomic", atomic_case},
        {"absent", absent_case}, {"unclosed", unclosed_case},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 3, "usage: entry_edges FOLDER CASE");
    int found = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[2]) == 0) {
            found = 1;
            cases[i].run(argv[1]);
        }
    }
    must(found, "no such case");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ok %s\n", argv[2]);
    }
    MPI_Finalize();
    return 0;
}
