/* The calls and modes around the collective ones: pointers, independent, non-blocking and shared
 * access in between, ends of files, modes of opening, hints, views that change all the time. */
#include "common.h"

enum { block = 64 };

static void put(MPI_File fh, MPI_Offset at, int step) {
    unsigned char bytes[block];
    fill(bytes, block, job.rank, step);
    must(MPI_File_write_at_all(fh, at, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
}

/* Collective: what the file holds now, told by rank 0. */
static void note_file(const char* path) {
    MPI_Barrier(job.comm);
    if (job.rank == 0) {
        size_t length = 0;
        unsigned char* bytes = file_bytes(path, &length);
        note(bytes ? " %zu bytes %lu" : " no file", length, bytes ? sum_of(bytes, length) : 0);
        free(bytes);
    }
}

static void strided_view(MPI_File fh, MPI_Offset displacement) {
    MPI_Datatype block_row, type;
    MPI_Type_vector(4, 4, 4 * job.ranks, MPI_INT, &block_row);
    MPI_Type_create_resized(block_row, 0, 4 * 16 * job.ranks, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&block_row);
    must(
        MPI_File_set_view(fh, displacement + 16 * job.rank, MPI_INT, type, "native", MPI_INFO_NULL),
        "view");
    MPI_Type_free(&type);
}

static void note_read(MPI_File fh, MPI_Offset at) {
    unsigned char bytes[block];
    MPI_Status status;
    memset(bytes, 0, block);
    must(MPI_File_read_at(fh, at, bytes, block / 4, MPI_INT, &status), "read_at");
    note_status(&status, MPI_INT);
    note(" %lu", sum_of(bytes, block));
}

static void pointers(void) {
    unsigned char bytes[block];
    MPI_Offset where = -1;
    MPI_Status status;
    MPI_File fh = open_file("calls.pointers", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    strided_view(fh, 32);
    fill(bytes, block, job.rank, 1);
    must(MPI_File_write_all(fh, bytes, 16, MPI_INT, &status), "write_all");
    note_position(fh);
    must(MPI_File_write(fh, bytes, 4, MPI_INT, &status), "write");
    note_status(&status, MPI_INT);
    note_position(fh);
    must(MPI_File_write_all(fh, bytes, 12, MPI_INT, &status), "write_all");
    note_position(fh);
    hand_over(fh);
    must(MPI_File_seek(fh, -6, MPI_SEEK_CUR), "seek");
    note_position(fh);
    must(MPI_File_read_all(fh, bytes, 4, MPI_INT, &status), "read_all");
    note(" %lu", sum_of(bytes, 16));
    note_position(fh);
    must(MPI_File_read(fh, bytes, 1, MPI_INT, &status), "read");
    note_position(fh);
    must(MPI_File_get_byte_offset(fh, 5, &where), "get_byte_offset");
    note(" byte %lld", (long long)where);
    MPI_Barrier(job.comm);
    must(MPI_File_seek(fh, 3, MPI_SEEK_SET), "seek");
    must(MPI_File_write_at_all(fh, 40, bytes, 4, MPI_INT, &status), "write_at_all");
    note_position(fh);
    hand_over(fh);
    note_read(fh, 0);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.pointers", 3, 1);
    expect_left("calls.pointers", "MPI_File_write", "independent call");
    expect_left("calls.pointers", "MPI_File_read", "independent call");
    expect_left("calls.pointers", "MPI_File_read_at", "independent call");
}

/* MPI_SEEK_END is in units of the view's etype, so the view is plain here. */
static void ends(void) {
    unsigned char bytes[4 * block];
    MPI_Status status;
    make_filled(path_of("calls.ends"), 100);
    MPI_File fh = open_file("calls.ends", MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_seek(fh, -30, MPI_SEEK_END), "seek");
    note_position(fh);
    memset(bytes, 0, sizeof bytes);
    must(MPI_File_read_all(fh, bytes, block, MPI_BYTE, &status), "read_all");
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 30, "%d bytes were read before the end instead of 30", count);
    check(bytes[29] == filler_file && bytes[30] == 0, "the read did not stop at the end");
    must(MPI_File_read_at_all(fh, 70 + 10 * job.rank, bytes, block, MPI_BYTE, &status),
         "read_at_all");
    MPI_Get_count(&status, MPI_BYTE, &count);
    const int wanted = job.rank < 3 ? 30 - 10 * job.rank : 0;
    check(count == wanted, "%d bytes were read instead of %d", count, wanted);
    must(MPI_File_read_at_all(fh, 1 << 20, bytes, block, MPI_BYTE, &status), "read_at_all");
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 0, "%d bytes were read behind the end", count);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.ends", 0, 3);
}

/* A strided read that meets the end in the middle of every rank's view: counts are in whole etypes.
 */
static void strided_end(void) {
    int values[16];
    MPI_Status status;
    make_filled(path_of("calls.strided_end"), (size_t)(32 + 16 * job.ranks * 2));
    MPI_File fh = open_file("calls.strided_end", MPI_MODE_RDONLY, MPI_INFO_NULL);
    strided_view(fh, 32);
    memset(values, 0, sizeof values);
    must(MPI_File_read_all(fh, values, 16, MPI_INT, &status), "read_all");
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 8, "%d of the 8 integers before the end were read", count);
    check(values[7] != 0 && values[8] == 0, "the read did not stop at the end");
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.strided_end", 0, 1);
}

static void mixed_calls(void) {
    unsigned char bytes[6][block];
    MPI_Request request;
    MPI_File fh = open_file("calls.mixed", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int i = 0; i < 6; i++) {
        fill(bytes[i], block, job.rank, i);
    }
    const MPI_Offset mine = block * job.rank, row = block * job.ranks;
    put(fh, mine, 0);
    must(MPI_File_iwrite_at(fh, row + mine, bytes[1], block, MPI_BYTE, &request), "iwrite_at");
    must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    must(MPI_File_write_at(fh, 2 * row + mine, bytes[2], block, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at");
    must(MPI_File_iwrite_at(fh, 3 * row + mine, bytes[3], block, MPI_BYTE, &request), "iwrite_at");
    must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    put(fh, 4 * row + mine, 4);
    hand_over(fh);
    for (int i = 0; i < 5; i++) {
        unsigned char got[block] = {0};
        const int other = (job.rank + 1) % job.ranks;
        must(MPI_File_iread_at(fh, i * row + block * other, got, block, MPI_BYTE, &request),
             "iread_at");
        must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
        check(got[5] == data_byte(other, i, 5), "row %d is not what rank %d wrote", i, other);
    }
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.mixed", 2, 0);
    expect_left("calls.mixed", "MPI_File_iwrite_at", "non-blocking call");
    expect_left("calls.mixed", "MPI_File_write_at", "independent call");
    expect_left("calls.mixed", "MPI_File_iread_at", "non-blocking call");
}

static void note_shared(MPI_File fh) {
    MPI_Offset position = -1;
    MPI_Barrier(job.comm);
    must(MPI_File_get_position_shared(fh, &position), "get_position_shared");
    MPI_Barrier(job.comm);
    note(" shared @%lld", (long long)position);
}

static void shared(void) {
    unsigned char bytes[block];
    MPI_Status status;
    fill(bytes, block, job.rank, 0);
    MPI_File fh = open_file("calls.shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_write_ordered(fh, bytes, 16, MPI_BYTE, &status), "write_ordered");
    note_shared(fh);
    put(fh, 16 * job.ranks + block * job.rank, 3);
    note_shared(fh);
    must(MPI_File_seek_shared(fh, (16 + block) * job.ranks, MPI_SEEK_SET), "seek_shared");
    must(MPI_File_write_ordered(fh, bytes, 8, MPI_BYTE, &status), "write_ordered");
    MPI_Barrier(job.comm);
    if (job.rank == job.ranks - 1) {
        must(MPI_File_write_shared(fh, "last", 4, MPI_BYTE, &status), "write_shared");
    }
    note_shared(fh);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.shared"));
    expect_taken("calls.shared", 1, 0);
    expect_left("calls.shared", "MPI_File_write_ordered", "shared file pointer");
    expect_left("calls.shared", "MPI_File_write_shared", "shared file pointer");
}

/* HDF5 sets a view before each collective call and takes it back after it. */
static void many_views(void) {
    unsigned char bytes[block];
    MPI_File fh = open_file("calls.views", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int i = 0; i < 12; i++) {
        strided_view(fh, i * block * job.ranks);
        fill(bytes, block, job.rank, i);
        must(MPI_File_write_at_all(fh, 0, bytes, 16, MPI_INT, MPI_STATUS_IGNORE), "write_at_all");
        must(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
    }
    strided_view(fh, 12 * block * job.ranks);
    fill(bytes, block, job.rank, 12);
    must(MPI_File_write(fh, bytes, 8, MPI_INT, MPI_STATUS_IGNORE), "write");
    note_position(fh);
    must(MPI_File_write_all(fh, bytes + 32, 8, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    note_position(fh);
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING + 1];
    must(MPI_File_get_view(fh, &displacement, &etype, &filetype, representation), "get_view");
    int size = -1;
    MPI_Type_size(filetype, &size);
    note(" view %lld %d %s", (long long)displacement, size, representation);
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&filetype);
    }
    hand_over(fh);
    for (int i = 0; i < 3; i++) {
        strided_view(fh, i * block * job.ranks);
        note_read(fh, 0);
    }
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.views", 13, 0);
}

/* A program that has set many views may use the shared pointer then. */
static void views_then_shared(void) {
    MPI_File fh =
        open_file("calls.views_then_shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int i = 0; i < 5; i++) {
        must(MPI_File_set_view(fh, 8 * i, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
        put(fh, block * job.rank, i);
    }
    MPI_Barrier(job.comm);
    if (job.rank == 0) {
        note(" %s",
             class_name(MPI_File_write_shared(fh, "shared", 6, MPI_BYTE, MPI_STATUS_IGNORE)));
    }
    note_shared(fh);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.views_then_shared", 5, 0);
}

static void nothing(void) {
    char none[1];
    MPI_Status status;
    MPI_File fh = open_file("calls.nothing", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_write_all(fh, none, 0, MPI_INT, &status), "write_all");
    note_status(&status, MPI_INT);
    must(MPI_File_read_at_all(fh, 5, none, 0, MPI_INT, &status), "read_at_all");
    note_status(&status, MPI_INT);
    must(MPI_File_write_at_all(fh, 0, NULL, 0, MPI_BYTE, &status), "write_at_all");
    note_position(fh);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.nothing"));
}

static void fewer_bytes_than_ranks(void) {
    const char letter = (char)('a' + job.rank);
    MPI_Status status;
    MPI_File fh = open_file("calls.few", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_write_at_all(fh, job.rank, &letter, job.rank < 3 ? 1 : 0, MPI_CHAR, &status),
         "write_at_all");
    note_status(&status, MPI_CHAR);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.few", 1, 0);
}

static void append(void) {
    make_filled(path_of("calls.append"), 50);
    MPI_File fh = open_file("calls.append", MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL);
    note_position(fh);
    MPI_Barrier(job.comm);
    must(MPI_File_seek(fh, 4 * job.rank, MPI_SEEK_CUR), "seek");
    must(MPI_File_write_all(fh, "abcd", 4, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    note_position(fh);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.append"));
    expect_taken("calls.append", 1, 0);
}

static void delete_on_close(void) {
    MPI_File fh = open_file(
        "calls.delete", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL);
    put(fh, block * job.rank, 0);
    hand_over(fh);
    note_read(fh, block * job.rank);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.delete"));
    expect_taken("calls.delete", 1, 0);
}

static void sequential(void) {
    unsigned char bytes[block];
    MPI_File fh = open_file("calls.sequential",
                            MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL);
    fill(bytes, block, job.rank, 0);
    must(MPI_File_write_ordered(fh, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE), "write_ordered");
    must(MPI_File_close(&fh), "close");
    expect_left("calls.sequential", "MPI_File_write_ordered", "shared file pointer");
}

static void atomic_mode(void) {
    int flag = -1;
    MPI_File fh = open_file("calls.atomic", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    put(fh, block * job.rank, 0);
    must(MPI_File_set_atomicity(fh, 1), "set_atomicity");
    must(MPI_File_get_atomicity(fh, &flag), "get_atomicity");
    note(" %d", flag);
    put(fh, block * (job.ranks + job.rank), 1);
    must(MPI_File_set_atomicity(fh, 0), "set_atomicity");
    put(fh, block * (2 * job.ranks + job.rank), 2);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.atomic", 2, 0);
    expect_left("calls.atomic", "MPI_File_write_at_all", "atomic mode");
}

static void external(void) {
    int values[block / 4];
    MPI_File fh = open_file("calls.external", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    put(fh, block * job.rank, 0);
    const int code =
        MPI_File_set_view(fh, block * job.ranks, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    note(" %s", class_name(code));
    if (code == MPI_SUCCESS) {
        fill(values, block, job.rank, 1);
        note(" %s", class_name(MPI_File_write_at_all(fh, block / 4 * job.rank, values, block / 4,
                                                     MPI_INT, MPI_STATUS_IGNORE)));
        expect_left("calls.external", "MPI_File_write_at_all", "data representation is not native");
    }
    must(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
    put(fh, 2 * block * job.ranks + block * job.rank, 2);
    must(MPI_File_close(&fh), "close");
    expect_taken("calls.external", 2, 0);
}

static void own_files(void) {
    char file[32];
    unsigned char bytes[block];
    MPI_File fh;
    snprintf(file, sizeof file, "calls.self.%d", job.rank);
    must(MPI_File_open(MPI_COMM_SELF, path_of(file), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &fh),
         "open");
    fill(bytes, block, job.rank, 0);
    must(MPI_File_write_all(fh, bytes, block, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    note_position(fh);
    must(MPI_File_close(&fh), "close");
    for (int r = 0; r < job.ranks; r++) {
        snprintf(file, sizeof file, "calls.self.%d", r);
        expect_left(file, "MPI_File_write_all", "file of one rank");
    }
}

/* Two halves with a file each, a duplicate with a third, all open at once. */
static void communicators(void) {
    MPI_Comm half, twin;
    MPI_File own, common;
    unsigned char bytes[block];
    int rank, ranks;
    char file[32];
    const int colour = job.rank < (job.ranks + 1) / 2 ? 0 : 1;
    MPI_Comm_split(job.comm, colour, -job.rank, &half);
    MPI_Comm_dup(job.comm, &twin);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &ranks);
    snprintf(file, sizeof file, "calls.half.%d", colour);
    must(MPI_File_open(half, path_of(file), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &own),
         "open");
    must(MPI_File_open(twin, path_of("calls.twin"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &common),
         "open");
    MPI_Comm_free(&twin); /* legal: the file keeps what it needs */
    fill(bytes, block, job.rank, 0);
    for (int i = 0; i < 3; i++) {
        must(MPI_File_write_at_all(own, block * (i * ranks + rank), bytes, block, MPI_BYTE,
                                   MPI_STATUS_IGNORE),
             "write_at_all");
        must(MPI_File_write_at_all(common, block * (i * job.ranks + job.rank), bytes, block,
                                   MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at_all");
    }
    MPI_Comm_free(&half);
    must(MPI_File_close(&common), "close");
    must(MPI_File_close(&own), "close");
    expect_taken("calls.twin", 3, 0);
    for (int i = 0; i < 2; i++) {
        const int members = i == 0 ? (job.ranks + 1) / 2 : job.ranks / 2;
        snprintf(file, sizeof file, "calls.half.%d", i);
        if (members == 1) {
            expect_left(file, "MPI_File_write_at_all", "file of one rank");
        } else if (members > 1) {
            expect_taken(file, 3, 0);
        }
    }
}

static void note_info(const char* file, MPI_File fh) {
    MPI_Info info;
    int keys = 0;
    must(MPI_File_get_info(fh, &info), "get_info");
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys && job.rank == 0; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int there;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
        if (strncmp(key, "forebay_", 8) == 0) {
            fprintf(job.out, "info %s %s=%s\n", file, key, value);
        }
    }
    MPI_Info_free(&info);
}

static void with_hint(const char* file, const char* key, const char* value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "nobody_knows_this", "17");
    MPI_File fh = open_file(file, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    note_info(file, fh);
    put(fh, block * job.rank, 0);
    must(MPI_File_close(&fh), "close");
}

static void hints(void) {
    const char* disabled = "switched off by a setting or hint";
    with_hint("calls.hint.nodes", "cb_nodes", "1");
    expect_taken("calls.hint.nodes", 1, 0);
    with_hint("calls.hint.off", "romio_cb_write", "disable");
    expect_left("calls.hint.off", "MPI_File_write_at_all", disabled);
    with_hint("calls.hint.enabled", "forebay_enabled", "false");
    expect_left("calls.hint.enabled", "MPI_File_write_at_all", disabled);
    with_hint("calls.hint.bad", "cb_buffer_size", "a lot");
    expect_taken("calls.hint.bad", 1, 0);
}

/* Many rounds: 200 KB a rank in pieces of 1000 bytes through a small buffer; and 1 MiB in one
 * piece. */
static void rounds(void) {
    enum { piece = 1000, pieces = 200, large = 1 << 20 };
    unsigned char* bytes = malloc(large);
    MPI_Info info;
    MPI_Datatype type;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_File fh = open_file("calls.rounds", MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Type_vector(pieces, piece, piece * job.ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(fh, piece * job.rank, MPI_BYTE, type, "native", info), "view");
    fill(bytes, large, job.rank, 0);
    must(MPI_File_write_all(fh, bytes, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    must(MPI_File_set_view(fh, piece * pieces * job.ranks, MPI_BYTE, MPI_BYTE, "native", info),
         "view");
    must(MPI_File_write_at_all(fh, (MPI_Offset)large * job.rank, bytes, large, MPI_BYTE,
                               MPI_STATUS_IGNORE),
         "write_at_all");
    hand_over(fh);
    must(MPI_File_set_view(fh, piece * job.rank, MPI_BYTE, type, "native", info), "view");
    unsigned char* got = calloc(1, large);
    must(MPI_File_read_all(fh, got, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "read_all");
    check(memcmp(got, bytes, piece * pieces) == 0, "the pieces are not what was written");
    must(MPI_File_set_view(fh, piece * pieces * job.ranks, MPI_BYTE, MPI_BYTE, "native", info),
         "view");
    must(MPI_File_read_at_all(fh, (MPI_Offset)large * job.rank, got, large, MPI_BYTE,
                              MPI_STATUS_IGNORE),
         "read_at_all");
    check(memcmp(got, bytes, large) == 0, "the large block is not what was written");
    must(MPI_File_close(&fh), "close");
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    free(bytes);
    free(got);
    expect_taken("calls.rounds", 2, 2);
}

/* rename(2) while the file is open: data follow the file, not the name. */
static void renamed(void) {
    MPI_File fh = open_file("calls.old", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    if (job.rank == 0 && rename(path_of("calls.old"), path_of("calls.new")) != 0) {
        give_up("rename");
    }
    MPI_Barrier(job.comm);
    put(fh, block * job.rank, 0);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.old"));
    expect_left("calls.old", "MPI_File_write_at_all", "*");
}

static void removed(void) {
    MPI_File fh = open_file("calls.removed", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    if (job.rank == 0 && unlink(path_of("calls.removed")) != 0) {
        give_up("unlink");
    }
    MPI_Barrier(job.comm);
    put(fh, block * job.rank, 0);
    hand_over(fh);
    note_read(fh, block * job.rank);
    must(MPI_File_close(&fh), "close");
    note_file(path_of("calls.removed"));
    expect_left("calls.removed", "MPI_File_write_at_all", "*");
}

/* Communicators that are not given back run out; so do descriptors. */
static void many_files(void) {
    for (int i = 0; i < 25; i++) {
        MPI_File fh = open_file("calls.many", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
        put(fh, block * job.rank, i);
        must(MPI_File_close(&fh), "close");
    }
    int descriptors = 0;
    for (int fd = 0; fd < 512; fd++) {
        descriptors += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    check(descriptors < 64, "%d descriptors are open at the end", descriptors);
    expect_taken("calls.many", 25, 0);
}

static const struct test_case cases[] = {{"pointers", pointers},
                                         {"ends", ends},
                                         {"strided_end", strided_end},
                                         {"mixed", mixed_calls},
                                         {"shared", shared},
                                         {"many_views", many_views},
                                         {"nothing", nothing},
                                         {"few", fewer_bytes_than_ranks},
                                         {"append", append},
                                         {"delete", delete_on_close},
                                         {"sequential", sequential},
                                         {"atomic", atomic_mode},
                                         {"external32", external},
                                         {"self", own_files},
                                         {"communicators", communicators},
                                         {"hints", hints},
                                         {"rounds", rounds},
                                         {"renamed", renamed},
                                         {"removed", removed},
                                         {"many_files", many_files}};

int main(int argc, char** argv) {
    start(&argc, &argv);
    run_cases(cases, sizeof cases / sizeof *cases, argc < 3 ? NULL : argv[2]);
    if (argc >= 3 && strcmp(argv[2], "views_then_shared") == 0) { /* a test of its own */
        begin_case(argv[2]);
        views_then_shared();
        end_case();
    }
    finish();
    return 0;
}
