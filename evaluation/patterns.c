/* Measures one collective access pattern: a plain MPI-IO program that does not know Forebay. All
 * claims in docs/performance.md rest on it, so it is small, uses nothing but MPI and POSIX, can be
 * built alone with any mpicc, and prints its measurements as JSON Lines.
 *
 * The file is a sequence of regions that are distributed round-robin over the ranks:
 *
 *     |r0 |gap|r1 |gap|r2 |gap|r3 |gap|r0 |gap|r1 | ...        a "card" is a region and its gap
 *
 * In memory, a rank's regions are adjacent (contiguous), one region apart (pieces), or in two
 * blocks (split: the first region, 16 unused bytes, the rest). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8, SPLIT_GAP = 16, HINTS_MAX = 16, ROWS_MAX = 256, EXIT_FAULT = 3 };
static const unsigned char MEMORY_GAP = 0xEE; /* the content of gaps in memory */
static const uint64_t FILE_GAP_SEED = 77777;  /* the content of gaps in the file before a write */

typedef enum { OP_WRITE, OP_READ, OP_CREATE, OP_OPEN } op_t;
typedef enum { MEMORY_CONTIGUOUS, MEMORY_PIECES, MEMORY_SPLIT } memory_t;
typedef enum { VIEW_VECTOR, VIEW_SUBARRAYS, VIEW_NONE } view_t;

typedef struct {
    op_t op;
    memory_t memory;
    view_t view;
    int64_t region, gap, total; /* bytes; total is the job's payload */
    int64_t calls;
    int repetitions, warm_up, verify, nonblocking, keep;
    unsigned seconds_max;
    const char *path, *output;
    const char* hints[HINTS_MAX];
    int hint_count;
} options_t;

typedef struct {
    int rank, ranks;
    int64_t regions; /* of this rank */
    int64_t stride;  /* bytes in the file between two of its regions */
} shape_t;

typedef struct {
    double open, view, call, sync, close;
} times_t;
typedef struct {
    int64_t moved, wrong_words, wrong_gap_words;
} outcome_t;

static void fail(const char* what, const char* why) {
    fprintf(stderr, "patterns: %s (%s).\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAULT);
}

static void check(int code, const char* what) {
    char why[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, why, &length);
    fail(what, why);
}

static void check_system(int ok, const char* what) {
    if (!ok) fail(what, strerror(errno));
}

/* ---- contents ------------------------------------------------------------------------------ */

static uint64_t word_at(int64_t word_index, uint64_t seed) {
    uint64_t x = ((uint64_t)word_index + seed * 1000003U) * 0x9E3779B97F4A7C15U;
    return x ^ (x >> 29);
}

static int64_t file_offset(const options_t* o, const shape_t* s, int64_t region) {
    return region * s->stride + s->rank * (o->region + o->gap);
}

static int64_t memory_offset(const options_t* o, int64_t region) {
    if (o->memory == MEMORY_PIECES) return region * 2 * o->region;
    if (o->memory == MEMORY_SPLIT && region > 0) return region * o->region + SPLIT_GAP;
    return region * o->region;
}

static size_t buffer_bytes(const options_t* o, const shape_t* s) {
    return (size_t)memory_offset(o, s->regions) + SPLIT_GAP;
}

static void fill_words(unsigned char* to, int64_t offset, int64_t bytes, uint64_t seed) {
    for (int64_t at = 0; at < bytes; at += WORD) {
        const uint64_t word = word_at((offset + at) / WORD, seed);
        memcpy(to + at, &word, WORD);
    }
}

static int64_t wrong_words(const unsigned char* in, int64_t offset, int64_t bytes, uint64_t seed) {
    int64_t wrong = 0;
    for (int64_t at = 0; at < bytes; at += WORD) {
        const uint64_t word = word_at((offset + at) / WORD, seed);
        wrong += memcmp(in + at, &word, WORD) != 0;
    }
    return wrong;
}

static void fill_buffer(const options_t* o, const shape_t* s, unsigned char* buffer,
                        uint64_t seed) {
    memset(buffer, MEMORY_GAP, buffer_bytes(o, s));
    if (o->op != OP_WRITE) return;
    for (int64_t i = 0; i < s->regions; ++i)
        fill_words(buffer + memory_offset(o, i), file_offset(o, s, i), o->region, seed);
}

/* Counts words of the buffer that differ from the file's, and gaps that were overwritten. */
static void verify_buffer(const options_t* o, const shape_t* s, const unsigned char* buffer,
                          uint64_t seed, outcome_t* out) {
    unsigned char gap[WORD];
    memset(gap, MEMORY_GAP, sizeof gap);
    for (int64_t i = 0; i < s->regions; ++i) {
        const unsigned char* piece = buffer + memory_offset(o, i);
        out->wrong_words += wrong_words(piece, file_offset(o, s, i), o->region, seed);
        if (o->memory == MEMORY_PIECES)
            out->wrong_gap_words += memcmp(piece + o->region, gap, WORD) != 0;
    }
}

/* Calls `visit` for each card (region and gap) in this rank's contiguous share of the file. */
typedef void visit_t(int fd, int64_t offset, int64_t bytes, uint64_t seed, unsigned char* room,
                     outcome_t* out, int is_gap);

static void each_card(const options_t* o, const shape_t* s, int fd, uint64_t seed, visit_t* visit,
                      outcome_t* out) {
    const int64_t card = o->region + o->gap;
    const int64_t cards = s->regions * s->ranks;
    const int64_t batch = o->gap > 0 || card >= (1 << 20) ? 1 : (1 << 20) / card;
    unsigned char* room = malloc((size_t)(card * batch));
    check_system(room != NULL, "Cannot take a buffer");
    const int64_t end = cards * (s->rank + 1) / s->ranks;
    for (int64_t i = cards * s->rank / s->ranks; i < end; i += batch) {
        const int64_t many = end - i < batch ? end - i : batch;
        visit(fd, i * card, o->region + (many - 1) * card, seed, room, out, 0);
        if (o->gap > 0) visit(fd, i * card + o->region, o->gap, FILE_GAP_SEED, room, out, 1);
    }
    free(room);
}

static void write_card(int fd, int64_t offset, int64_t bytes, uint64_t seed, unsigned char* room,
                       outcome_t* out, int is_gap) {
    (void)out;
    (void)is_gap;
    fill_words(room, offset, bytes, seed);
    check_system(pwrite(fd, room, (size_t)bytes, offset) == bytes, "Cannot prepare the file");
}

static void verify_card(int fd, int64_t offset, int64_t bytes, uint64_t seed, unsigned char* room,
                        outcome_t* out, int is_gap) {
    memset(room, 0, (size_t)bytes);
    check_system(pread(fd, room, (size_t)bytes, offset) >= 0, "Cannot read the file back");
    *(is_gap ? &out->wrong_gap_words : &out->wrong_words) += wrong_words(room, offset, bytes, seed);
}

static void with_posix_file(const options_t* o, const shape_t* s, int flags, uint64_t seed,
                            visit_t* visit, outcome_t* out) {
    const int fd = open(o->path, flags | O_CLOEXEC, 0644);
    check_system(fd >= 0, "Cannot open the file by POSIX");
    each_card(o, s, fd, seed, visit, out);
    if (flags != O_RDONLY) check_system(fsync(fd) == 0, "Cannot flush the file");
    close(fd);
}

/* ---- types -------------------------------------------------------------------------------- */

static int as_int(int64_t value, const char* what) {
    if (value < 0 || value > INT_MAX) fail(what, "the number does not fit an int");
    return (int)value;
}

static MPI_Datatype memory_type(const options_t* o, int64_t regions) {
    MPI_Datatype type;
    const int count = as_int(regions, "Too many regions in a call");
    const int region = as_int(o->region, "Region too large");
    if (o->memory == MEMORY_PIECES && regions > 1) {
        MPI_Type_create_hvector(count, region, (MPI_Aint)(2 * o->region), MPI_BYTE, &type);
    } else if (o->memory == MEMORY_SPLIT && regions > 1) {
        int lengths[2] = {region, as_int((regions - 1) * o->region, "Call too large")};
        MPI_Aint places[2] = {0, (MPI_Aint)(o->region + SPLIT_GAP)};
        MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &type);
    } else {
        MPI_Type_contiguous(as_int(regions * o->region, "Call too large"), MPI_BYTE, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

/* The view as libraries such as PnetCDF make it: many two-dimensional subarrays, end to end. */
static MPI_Datatype subarrays_type(const options_t* o, const shape_t* s) {
    const int rows = s->regions < ROWS_MAX ? (int)s->regions : ROWS_MAX;
    const int count = as_int(s->regions / rows, "Too many subarrays");
    int sizes[2] = {rows, as_int(s->stride, "Stride too large")};
    int parts[2] = {rows, as_int(o->region, "Region too large")};
    int starts[2] = {0, as_int(s->rank * (o->region + o->gap), "Offset too large")};
    int* lengths = malloc((size_t)count * sizeof *lengths);
    MPI_Aint* places = malloc((size_t)count * sizeof *places);
    MPI_Datatype* parts_types = malloc((size_t)count * sizeof(MPI_Datatype));
    MPI_Datatype type;
    check_system(lengths != NULL && places != NULL && parts_types != NULL, "Cannot take memory");
    if (s->regions % rows != 0) fail("Cannot build subarrays", "regions are no multiple of rows");
    for (int i = 0; i < count; ++i) {
        lengths[i] = 1;
        places[i] = (MPI_Aint)(i * (int64_t)rows * s->stride);
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &parts_types[i]);
    }
    MPI_Type_create_struct(count, lengths, places, parts_types, &type);
    for (int i = 0; i < count; ++i) MPI_Type_free(&parts_types[i]);
    free(lengths);
    free(places);
    free(parts_types);
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype file_type(const options_t* o, const shape_t* s) {
    MPI_Datatype type;
    if (o->view == VIEW_SUBARRAYS) return subarrays_type(o, s);
    MPI_Type_create_hvector(as_int(s->regions, "Too many regions"),
                            as_int(o->region, "Region too large"), (MPI_Aint)s->stride, MPI_BYTE,
                            &type);
    MPI_Type_commit(&type);
    return type;
}

/* ---- one repetition ----------------------------------------------------------------------- */

static MPI_File open_file(const options_t* o, times_t* t) {
    MPI_File file;
    MPI_Info info;
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    if (o->op == OP_READ) mode = MPI_MODE_RDONLY;
    if (o->op == OP_OPEN) mode = MPI_MODE_RDWR;
    MPI_Info_create(&info);
    for (int i = 0; i < o->hint_count; ++i) {
        char key[MPI_MAX_INFO_KEY];
        const char* equals = strchr(o->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - o->hints[i]), o->hints[i]);
        MPI_Info_set(info, key, equals + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    check(MPI_File_open(MPI_COMM_WORLD, o->path, mode, info, &file), "Cannot open the file");
    t->open = MPI_Wtime() - start;
    MPI_Info_free(&info);
    return file;
}

/* The nonblocking twin of the calls in `transfer`: starts a request and waits for it at once. */
static int nonblocking(const options_t* o, MPI_File file, unsigned char* from, MPI_Datatype type,
                       MPI_Status* status) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = o->op == OP_WRITE ? MPI_File_iwrite_all(file, from, 1, type, &request)
                                       : MPI_File_iread_all(file, from, 1, type, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
}

static int64_t transfer(const options_t* o, const shape_t* s, MPI_File file,
                        unsigned char* buffer) {
    const int64_t per_call = s->regions / o->calls;
    MPI_Datatype type = memory_type(o, per_call);
    MPI_Count moved = 0, sum = 0;
    MPI_Status status;
    for (int64_t i = 0; i < o->calls; ++i) {
        unsigned char* from = buffer + memory_offset(o, i * per_call);
        const MPI_Offset at = file_offset(o, s, i);
        int code;
        if (o->nonblocking)
            code = nonblocking(o, file, from, type, &status);
        else if (o->view == VIEW_NONE)
            code = o->op == OP_WRITE ? MPI_File_write_at_all(file, at, from, 1, type, &status)
                                     : MPI_File_read_at_all(file, at, from, 1, type, &status);
        else
            code = o->op == OP_WRITE ? MPI_File_write_all(file, from, 1, type, &status)
                                     : MPI_File_read_all(file, from, 1, type, &status);
        check(code, "The collective call failed");
        MPI_Get_elements_x(&status, MPI_BYTE, &moved);
        sum += moved;
    }
    MPI_Type_free(&type);
    return (int64_t)sum;
}

static void access_file(const options_t* o, const shape_t* s, unsigned char* buffer, times_t* t,
                        outcome_t* out) {
    MPI_File file = open_file(o, t);
    if (o->view != VIEW_NONE && o->op <= OP_READ) {
        MPI_Datatype type = file_type(o, s);
        const MPI_Offset first = o->view == VIEW_VECTOR ? file_offset(o, s, 0) : 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        check(MPI_File_set_view(file, first, MPI_BYTE, type, "native", MPI_INFO_NULL),
              "Cannot set the view");
        t->view = MPI_Wtime() - start;
        MPI_Type_free(&type);
    }
    if (o->op <= OP_READ) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        out->moved = transfer(o, s, file, buffer);
        t->call = MPI_Wtime() - start;
    }
    if (o->op == OP_WRITE) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        check(MPI_File_sync(file), "Cannot sync the file");
        t->sync = MPI_Wtime() - start;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    check(MPI_File_close(&file), "Cannot close the file");
    t->close = MPI_Wtime() - start;
}

/* Makes a fresh file for a write, or a full one for a read, by POSIX, so that all MPIs find the
 * same. */
static void prepare_file(const options_t* o, const shape_t* s, uint64_t seed) {
    outcome_t none = {0, 0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (s->rank == 0 && o->op != OP_OPEN) unlink(o->path);
    if (s->rank == 0 && (o->op == OP_OPEN || o->op == OP_READ || o->gap > 0)) {
        const int fd = open(o->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        check_system(fd >= 0, "Cannot create the file");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (o->op == OP_READ || (o->op == OP_WRITE && o->gap > 0 && o->verify))
        with_posix_file(o, s, O_WRONLY, o->op == OP_READ ? seed : seed + 1, write_card, &none);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- memory ------------------------------------------------------------------------------- */

static long status_kib(const char* key) {
    char line[256];
    long kib = 0;
    FILE* status = fopen("/proc/self/status", "re");
    if (status == NULL) return 0;
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) kib = strtol(line + strlen(key), NULL, 10);
    fclose(status);
    return kib;
}

/* Resets VmHWM (peak resident memory) to the present resident memory. */
static void reset_peak(void) {
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "5", 1) != 1) fprintf(stderr, "patterns: VmHWM was not reset.\n");
    close(fd);
}

/* ---- report ------------------------------------------------------------------------------- */

static void print_list(FILE* to, const char* key, const long* values, int count) {
    fprintf(to, "\"%s\": [", key);
    for (int i = 0; i < count; ++i) fprintf(to, "%s%ld", i == 0 ? "" : ", ", values[i]);
    fprintf(to, "], ");
}

static void report(const options_t* o, const shape_t* s, int repetition, const times_t* mine,
                   const outcome_t* out, const long memory[2], FILE* to) {
    times_t most = {0, 0, 0, 0, 0};
    outcome_t sum = {0, 0, 0};
    long* base = calloc((size_t)s->ranks, sizeof *base);
    long* peak = calloc((size_t)s->ranks, sizeof *peak);
    check_system(base != NULL && peak != NULL, "Cannot take memory");
    MPI_Reduce(mine, &most, 5, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(out, &sum, 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&memory[0], 1, MPI_LONG, base, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Gather(&memory[1], 1, MPI_LONG, peak, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (s->rank == 0) {
        fprintf(to, "{\"kind\": \"repetition\", \"repetition\": %d, \"warm_up\": %s, ", repetition,
                repetition < o->warm_up ? "true" : "false");
        fprintf(to, "\"open_seconds\": %.9f, \"view_seconds\": %.9f, \"call_seconds\": %.9f, ",
                most.open, most.view, most.call);
        fprintf(to, "\"sync_seconds\": %.9f, \"close_seconds\": %.9f, ", most.sync, most.close);
        print_list(to, "base_kib", base, s->ranks);
        print_list(to, "peak_kib", peak, s->ranks);
        fprintf(to, "\"moved_bytes\": %lld, \"verified\": %s, ", (long long)sum.moved,
                o->verify ? "true" : "false");
        fprintf(to, "\"wrong_words\": %lld, \"wrong_gap_words\": %lld}\n",
                (long long)sum.wrong_words, (long long)sum.wrong_gap_words);
        fflush(to);
    }
    free(base);
    free(peak);
}

static void repeat(const options_t* o, const shape_t* s, int repetition, unsigned char* buffer,
                   FILE* to) {
    const uint64_t seed = o->keep ? 1 : (uint64_t)repetition * 2 + 1;
    times_t times = {0, 0, 0, 0, 0};
    outcome_t out = {0, 0, 0};
    long memory[2];
    if (!o->keep || o->op != OP_READ) prepare_file(o, s, seed);
    if (o->op <= OP_READ) fill_buffer(o, s, buffer, seed);
    reset_peak();
    memory[0] = status_kib("VmRSS:");
    access_file(o, s, buffer, &times, &out);
    memory[1] = status_kib("VmHWM:");
    MPI_Barrier(MPI_COMM_WORLD);
    if (o->verify && o->op == OP_READ) verify_buffer(o, s, buffer, seed, &out);
    if (o->verify && o->op == OP_WRITE) with_posix_file(o, s, O_RDONLY, seed, verify_card, &out);
    report(o, s, repetition, &times, &out, memory, to);
}

static int has_forebay(const options_t* o) {
    times_t unused;
    MPI_File file = open_file(o, &unused);
    MPI_Info info;
    int keys = 0, found = 0;
    check(MPI_File_get_info(file, &info), "Cannot get the file's info");
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; ++i) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        MPI_Info_get_nthkey(info, i, key);
        found |= strncmp(key, "forebay_", 8) == 0;
    }
    MPI_Info_free(&info);
    MPI_File_close(&file);
    return found;
}

/* Checks for Forebay with a file of its own, after all measurements, so as not to disturb them. */
static void report_job(const options_t* o, const shape_t* s, FILE* to) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    options_t probe = *o;
    probe.op = OP_CREATE;
    const int forebay = has_forebay(&probe);
    MPI_Get_library_version(library, &length);
    for (char* c = library; *c != '\0'; ++c)
        if (*c == '"' || *c == '\\' || *c < ' ') *c = ' ';
    if (s->rank != 0) return;
    library[72] = '\0';
    fprintf(to, "{\"kind\": \"job\", \"ranks\": %d, \"forebay\": %s, \"library\": \"%s\"}\n",
            s->ranks, forebay ? "true" : "false", library);
}

/* ---- options ------------------------------------------------------------------------------ */

static void usage(void) {
    puts(
        "patterns: measures one collective access pattern; JSON lines, one per repetition.\n\n"
        "  mpiexec -n 4 ./patterns --op write --region 1k --total 128m --memory pieces --path f\n\n"
        "  --op write|read|create|open     create and open: MPI_File_open and close only\n"
        "  --region SIZE   bytes of a region (multiple of 8)     --gap SIZE  hole after each\n"
        "  --total SIZE    payload of all ranks together\n"
        "  --memory contiguous|pieces|split    the regions in memory\n"
        "  --view vector|subarrays|none    none: explicit offsets, one region a call\n"
        "  --calls N       collective calls that the payload is dealt out to\n"
        "  --repetitions N --warm-up N    each on a fresh file; the first N are marked warm_up\n"
        "  --nonblocking   through a view, by MPI_File_iwrite_all or iread_all and MPI_Wait\n"
        "  --keep          the file stays, and a read finds what such a write has left\n"
        "  --hint KEY=VALUE   for MPI_File_open, repeatable\n"
        "  --verify        read back and compare every word, gaps too\n"
        "  --seconds-max N    the ranks end themselves after N seconds\n"
        "  --path FILE     measured file      --output FILE   JSON lines (default: stdout)\n\n"
        "Seconds are the largest over the ranks, from a barrier. base_kib is a rank's resident\n"
        "memory before open, peak_kib its VmHWM after close.");
    exit(0);
}

static int64_t size_of(const char* text) {
    char* end;
    int64_t value = strtoll(text, &end, 10);
    const char* units = "kmgt";
    const char* unit = *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    for (; unit != NULL && unit >= units; --unit) value *= 1024;
    if (value < 0 || end == text) fail("Not a size", text);
    return value;
}

static int choice_of(const char* text, const char* const* choices) {
    for (int i = 0; choices[i] != NULL; ++i)
        if (strcmp(text, choices[i]) == 0) return i;
    fail("Unknown choice; see --help", text);
    return 0;
}

static void set_option(options_t* o, int letter, const char* value) {
    static const char* const ops[] = {"write", "read", "create", "open", NULL};
    static const char* const memories[] = {"contiguous", "pieces", "split", NULL};
    static const char* const views[] = {"vector", "subarrays", "none", NULL};
    switch (letter) {
        case 'o': o->op = (op_t)choice_of(value, ops); break;
        case 'm': o->memory = (memory_t)choice_of(value, memories); break;
        case 'v': o->view = (view_t)choice_of(value, views); break;
        case 'r': o->region = size_of(value); break;
        case 'g': o->gap = size_of(value); break;
        case 't': o->total = size_of(value); break;
        case 'c': o->calls = size_of(value); break;
        case 'n': o->repetitions = atoi(value); break;
        case 'w': o->warm_up = atoi(value); break;
        case 's': o->seconds_max = (unsigned)atoi(value); break;
        case 'y': o->verify = 1; break;
        case 'b': o->nonblocking = 1; break;
        case 'k': o->keep = 1; break;
        case 'p': o->path = value; break;
        case 'f': o->output = value; break;
        case 'i':
            if (o->hint_count == HINTS_MAX || strchr(value, '=') == NULL) fail("Bad hint", value);
            o->hints[o->hint_count++] = value;
            break;
        default: usage();
    }
}

static options_t parse(int argc, char** argv) {
    static const struct option names[] = {
        {"op", 1, NULL, 'o'},          {"memory", 1, NULL, 'm'}, {"view", 1, NULL, 'v'},
        {"region", 1, NULL, 'r'},      {"gap", 1, NULL, 'g'},    {"total", 1, NULL, 't'},
        {"calls", 1, NULL, 'c'},       {"hint", 1, NULL, 'i'},   {"repetitions", 1, NULL, 'n'},
        {"warm-up", 1, NULL, 'w'},     {"verify", 0, NULL, 'y'}, {"seconds-max", 1, NULL, 's'},
        {"path", 1, NULL, 'p'},        {"output", 1, NULL, 'f'}, {"help", 0, NULL, 'h'},
        {"nonblocking", 0, NULL, 'b'}, {"keep", 0, NULL, 'k'},   {NULL, 0, NULL, 0}};
    options_t o = {.region = 1024, .total = 1 << 20, .calls = 1, .repetitions = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "h", names, NULL)) != -1)
        set_option(&o, letter, optarg);
    if (o.path == NULL) fail("No file named", "--path is missing");
    if (o.nonblocking && o.view == VIEW_NONE) fail("No view", "--nonblocking needs one");
    if (o.region <= 0 || o.region % WORD != 0 || o.gap % WORD != 0)
        fail("Unusable region or gap", "not a multiple of 8");
    return o;
}

static shape_t shape_of(options_t* o) {
    shape_t s;
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    s.stride = (o->region + o->gap) * s.ranks;
    s.regions = o->total / s.ranks / o->region;
    if (s.regions < 1) s.regions = 1;
    if (o->view == VIEW_NONE) o->calls = s.regions;
    if (o->calls < 1 || s.regions % o->calls != 0)
        fail("Unusable number of calls", "the regions of a rank are no multiple of it");
    if (o->memory == MEMORY_SPLIT && o->calls > 1 && o->view != VIEW_NONE)
        fail("Unusable number of calls", "split memory is for one call");
    return s;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    options_t o = parse(argc, argv);
    shape_t s = shape_of(&o);
    FILE* to = stdout;
    if (o.seconds_max > 0) alarm(o.seconds_max);
    if (s.rank == 0 && o.output != NULL) to = fopen(o.output, "we");
    check_system(to != NULL, "Cannot write the output");
    unsigned char* buffer = o.op <= OP_READ ? malloc(buffer_bytes(&o, &s)) : NULL;
    check_system(o.op > OP_READ || buffer != NULL, "Cannot take the buffer");
    for (int i = 0; i < o.warm_up + o.repetitions; ++i) repeat(&o, &s, i, buffer, to);
    report_job(&o, &s, to);
    MPI_Barrier(MPI_COMM_WORLD);
    if (s.rank == 0 && !o.keep) unlink(o.path);
    if (to != stdout) fclose(to);
    free(buffer);
    MPI_Finalize();
    return 0;
}
