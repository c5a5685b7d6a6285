/* Helpers that the test programs share: a job with an output file, lines that every rank
 * contributes to, and checks. A program is plain MPI and knows nothing of Forebay; it runs twice,
 * and the suite compares.
 *
 *   = <case> <rank>: <text>        must be the same with and without Forebay
 *   check <case>: ok | WRONG …     compared with an oracle: must be "ok" with Forebay (an MPI may
 * err) expect taken <file> <w> <r>    with Forebay and more than one rank: so many calls were taken
 * over expect some <file>              or some calls were, where a library decides how many expect
 * left <file> <call> <reason>     or were left to the MPI, and why info <file> <key>=<value> of
 * MPI_File_get_info, where the key is Forebay's
 */
#pragma once

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { path_max = 512, notes_max = 1 << 16 };

static struct {
    MPI_Comm comm;
    int rank, ranks;
    const char* folder;
    FILE* out;        /* rank 0 */
    const char* name; /* of the case */
    char notes[notes_max];
    int noted;
    char wrong[200]; /* the first check of this rank that failed */
    double begin;
} job;

__attribute__((unused)) static void give_up(const char* what) {
    fprintf(stderr, "%s, rank %d: %s\n", job.name ? job.name : "start", job.rank, what);
    MPI_Abort(MPI_COMM_WORLD, 97);
}

__attribute__((unused)) static void must(int code, const char* what) {
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "", all[MPI_MAX_ERROR_STRING + 200];
        int length;
        MPI_Error_string(code, text, &length);
        snprintf(all, sizeof all, "%s: %s", what, text);
        give_up(all);
    }
}

__attribute__((unused)) static int class_of(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

/* The classes that matter here by name: their numbers differ between the MPIs. */
__attribute__((unused)) static const char* class_name(int code) {
    const struct {
        int class;
        const char* name;
    } names[] = {{MPI_SUCCESS, "MPI_SUCCESS"},
                 {MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE"},
                 {MPI_ERR_IO, "MPI_ERR_IO"},
                 {MPI_ERR_QUOTA, "MPI_ERR_QUOTA"},
                 {MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY"},
                 {MPI_ERR_ACCESS, "MPI_ERR_ACCESS"},
                 {MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE"},
                 {MPI_ERR_AMODE, "MPI_ERR_AMODE"},
                 {MPI_ERR_ARG, "MPI_ERR_ARG"},
                 {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
                 {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
                 {MPI_ERR_FILE, "MPI_ERR_FILE"},
                 {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
                 {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION"},
                 {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
                 {MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS"},
                 {MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE"},
                 {MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP"},
                 {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
                 {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},
                 {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"}};
    const int class = class_of(code);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].class == class) {
            return names[i].name;
        }
    }
    return "another class";
}

static void start_with(int* argc, char*** argv) {
    job.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(job.comm, &job.rank);
    MPI_Comm_size(job.comm, &job.ranks);
    if (*argc < 2) {
        give_up("usage: PROGRAM FOLDER [CASE]");
    }
    job.folder = (*argv)[1];
    if (job.rank == 0) {
        char path[path_max];
        snprintf(path, sizeof path, "%s/out.txt", job.folder);
        job.out = fopen(path, "w");
        if (!job.out) {
            give_up("cannot create out.txt");
        }
    }
    if (getenv("TEST_SECONDS_MAX")) {
        alarm((unsigned)atoi(getenv("TEST_SECONDS_MAX"))); /* nobody outlives a broken launcher */
    }
}

__attribute__((unused)) static void start(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    start_with(argc, argv);
}

__attribute__((unused)) static void finish(void) {
    if (job.out) {
        fprintf(job.out, "end\n");
        fclose(job.out);
    }
    MPI_Finalize();
}

__attribute__((unused)) static const char* path_of(const char* file) {
    static char paths[4][path_max];
    static int next;
    char* path = paths[next++ % 4];
    snprintf(path, path_max, "%s/%s", job.folder, file);
    return path;
}

static void begin_case(const char* name) {
    job.name = name;
    job.noted = 0;
    job.notes[0] = job.wrong[0] = '\0';
    if (getenv("TEST_TRACE") && job.rank == 0) {
        fprintf(stderr, "[%.3f] %s\n", MPI_Wtime() - job.begin, name);
    }
    if (job.begin == 0) {
        job.begin = MPI_Wtime();
    }
}

/* Adds to this rank's line of the case. */
__attribute__((format(printf, 1, 2), unused)) static void note(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int room = notes_max - job.noted;
    const int length = vsnprintf(job.notes + job.noted, (size_t)room, format, arguments);
    job.noted += length < room ? length : room - 1;
    va_end(arguments);
}

/* Not collective: what was wrong is told by end_case. */
__attribute__((format(printf, 2, 3), unused)) static void check(int right, const char* format,
                                                                ...) {
    if (right || job.wrong[0]) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job.wrong, sizeof job.wrong, format, arguments);
    va_end(arguments);
}

/* Collective: rank 0 prints what all ranks noted and checked. */
static void end_case(void) {
    int *lengths = calloc((size_t)job.ranks, sizeof(int)),
        *starts = calloc((size_t)job.ranks, sizeof(int));
    MPI_Gather(&job.noted, 1, MPI_INT, lengths, 1, MPI_INT, 0, job.comm);
    int total = 0;
    for (int r = 0; r < job.ranks; r++) {
        starts[r] = total;
        total += lengths[r];
    }
    char* notes = malloc((size_t)total + 1);
    char* wrongs = malloc((size_t)job.ranks * sizeof job.wrong);
    MPI_Gatherv(job.notes, job.noted, MPI_CHAR, notes, lengths, starts, MPI_CHAR, 0, job.comm);
    MPI_Gather(job.wrong, sizeof job.wrong, MPI_CHAR, wrongs, sizeof job.wrong, MPI_CHAR, 0,
               job.comm);
    if (job.rank == 0) {
        const char* wrong = NULL;
        for (int r = 0; r < job.ranks; r++) {
            fprintf(job.out, "= %s %d:%.*s\n", job.name, r, lengths[r], notes + starts[r]);
            const char* mine = wrongs + (size_t)r * sizeof job.wrong;
            if (*mine) {
                wrong = wrong ? wrong : mine;
            }
        }
        fprintf(job.out, "check %s: %s%s\n", job.name, wrong ? "WRONG " : "ok", wrong ? wrong : "");
        fflush(job.out);
    }
    free(lengths);
    free(starts);
    free(notes);
    free(wrongs);
}

/* Collective: rank 0 prints the class of what a call returned, which all ranks must have. */
__attribute__((unused)) static void tell_class(const char* what, int code) {
    int class = class_of(code), least, most;
    MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, job.comm);
    MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, job.comm);
    check(least == most, "%s: the ranks have different classes; mine is %s", what,
          class_name(code));
    if (job.rank == 0) {
        fprintf(job.out, "info %s class=%s\n", what, class_name(code));
        fflush(job.out);
    }
}

__attribute__((unused)) static void expect_taken(const char* file, int writes, int reads) {
    if (job.rank == 0) {
        fprintf(job.out, "expect taken %s %d %d\n", file, writes, reads);
    }
}

/* All collective calls, where a library decides how many there are. */
__attribute__((unused)) static void expect_some_taken(const char* file) {
    if (job.rank == 0) {
        fprintf(job.out, "expect some %s\n", file);
    }
}

__attribute__((unused)) static void expect_left(const char* file, const char* call,
                                                const char* reason) {
    if (job.rank == 0) {
        fprintf(job.out, "expect left %s %s %s\n", file, call, reason);
    }
}

__attribute__((unused)) static uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return x ^ (x >> 33);
}

/* The byte that a rank writes at a place of a step's data: never one of the fillers. */
__attribute__((unused)) static unsigned char data_byte(int rank, int step, size_t at) {
    return (unsigned char)(mixed((uint64_t)rank * 1000003u + (uint64_t)step * 7919u + at) % 160);
}

enum { filler_file = 0xC3, filler_memory = 0xA5 };

__attribute__((unused)) static void fill(void* bytes, size_t length, int rank, int step) {
    for (size_t i = 0; i < length; i++) {
        ((unsigned char*)bytes)[i] = data_byte(rank, step, i);
    }
}

__attribute__((unused)) static unsigned long sum_of(const void* bytes, size_t length) {
    unsigned long sum = 5381;
    for (size_t i = 0; i < length; i++) {
        sum = sum * 33 + ((const unsigned char*)bytes)[i];
    }
    return sum % 1000000007UL;
}

/* Collective: a file of fillers, made without MPI-IO. */
__attribute__((unused)) static void make_filled(const char* path, size_t length) {
    if (job.rank == 0) {
        unsigned char* bytes = malloc(length + 1);
        memset(bytes, filler_file, length);
        FILE* file = fopen(path, "w");
        if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
            give_up("cannot make a file");
        }
        free(bytes);
    }
    MPI_Barrier(job.comm);
}

/* The file's bytes as the kernel has them; NULL where it cannot be read. */
__attribute__((unused)) static unsigned char* file_bytes(const char* path, size_t* length) {
    FILE* file = fopen(path, "r");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    unsigned char* bytes = malloc(*length + 1);
    if (fread(bytes, 1, *length, file) != *length) {
        give_up("cannot read a file");
    }
    fclose(file);
    return bytes;
}

__attribute__((unused)) static MPI_File open_file(const char* file, int amode, MPI_Info info) {
    MPI_File fh;
    must(MPI_File_open(job.comm, path_of(file), amode, info, &fh), "MPI_File_open");
    return fh;
}

/* Collective: a view in which the ranks' pieces alternate. Each tile of the file type holds `bytes`
 * of every rank. */
__attribute__((unused)) static void view_pieces(MPI_File fh, int bytes, int piece) {
    MPI_Datatype row, type;
    MPI_Type_vector(bytes / piece, piece, piece * job.ranks, MPI_BYTE, &row);
    MPI_Type_create_resized(row, 0, (MPI_Aint)bytes * job.ranks, &type);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(fh, (MPI_Offset)piece * job.rank, MPI_BYTE, type, "native",
                           MPI_INFO_NULL),
         "view");
    MPI_Type_free(&row);
    MPI_Type_free(&type);
}

/* One rank's writes must be in the file before another reads them. MPI-4.1, 14.6.1. */
__attribute__((unused)) static void hand_over(MPI_File fh) {
    MPI_File_sync(fh);
    MPI_Barrier(job.comm);
    MPI_File_sync(fh);
}

__attribute__((unused)) static void note_status(const MPI_Status* status, MPI_Datatype type) {
    int count = -7, bytes = -7, elements = -7;
    MPI_Get_count(status, type, &count);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Get_elements(status, type, &elements);
    note(" %d/%d/%d", count == MPI_UNDEFINED ? -1 : count, bytes == MPI_UNDEFINED ? -1 : bytes,
         elements == MPI_UNDEFINED ? -1 : elements);
}

__attribute__((unused)) static void note_position(MPI_File fh) {
    MPI_Offset position = -7;
    MPI_File_get_position(fh, &position);
    note(" @%lld", (long long)position);
}

struct test_case {
    const char* name;
    void (*run)(void);
};

/* Those of this name, or all where it is null. */
__attribute__((unused)) static void run_cases(const struct test_case* cases, size_t count,
                                              const char* name) {
    for (size_t i = 0; i < count; i++) {
        if (name == NULL || strcmp(name, cases[i].name) == 0) {
            begin_case(cases[i].name);
            cases[i].run();
            end_case();
        }
    }
}
