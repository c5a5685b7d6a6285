/* Views of so many pieces that Forebay keeps them from the MPI: every call that is left to the MPI
 * must mean the same all the same, on ranks with such a view and on those without. */
#include "common.h"

enum { pieces = 100000, some = 500 };

/* Every `ranks`-th integer from this rank's on; with `uneven`, odd ranks have 500 in a row, far
 * behind. */
static void set_view(MPI_File fh, int uneven) {
    MPI_Datatype type;
    MPI_Offset displacement = 4 * job.rank;
    if (uneven && job.rank % 2) {
        MPI_Type_contiguous(some, MPI_INT, &type);
        displacement = (MPI_Offset)4 * pieces * job.ranks + 4 * some * 8 * job.rank;
    } else {
        MPI_Type_vector(pieces, 1, job.ranks, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    must(MPI_File_set_view(fh, displacement, MPI_INT, type, "native", MPI_INFO_NULL), "view");
    MPI_Type_free(&type); /* whoever keeps the view has to keep the type */
}

static int number(int step, int i) { return 1000000 * (step + 1) + 10000 * job.rank + i; }

static void numbers(int* values, int step) {
    for (int i = 0; i < some; i++) {
        values[i] = number(step, i);
    }
}

static void note_values(const int* values) {
    note(" %lu", sum_of((const unsigned char*)values, some * sizeof *values));
}

static void note_view(MPI_File fh) {
    MPI_Offset displacement = -1, where = -1;
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING + 1];
    int size = -1, count, addresses, types, combiner;
    must(MPI_File_get_view(fh, &displacement, &etype, &filetype, representation), "get_view");
    MPI_Type_size(filetype, &size);
    MPI_Type_get_envelope(filetype, &count, &addresses, &types, &combiner);
    note(" view %lld %d %s %d", (long long)displacement, size, representation, etype == MPI_INT);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&filetype);
    }
    must(MPI_File_get_byte_offset(fh, 7, &where), "get_byte_offset");
    note(" byte %lld", (long long)where);
}

static void calls(const char* name, int uneven) {
    int values[some];
    MPI_Status status;
    MPI_Request request;
    make_filled(path_of(name), (size_t)4 * (pieces + 4000) * job.ranks);
    MPI_File fh = open_file(name, MPI_MODE_RDWR, MPI_INFO_NULL);
    set_view(fh, uneven);
    numbers(values, 0);
    must(MPI_File_write_all(fh, values, some, MPI_INT, &status), "write_all");
    note_status(&status, MPI_INT);
    note_position(fh);
    note_view(fh);
    numbers(values, 1);
    must(MPI_File_iwrite_all(fh, values, some, MPI_INT, &request), "iwrite_all");
    must(MPI_Wait(&request, &status), "wait");
    note_status(&status, MPI_INT);
    note_position(fh);
    must(MPI_File_iwrite_at_all(fh, 3 * some, values, some, MPI_INT, &request), "iwrite_at_all");
    must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    must(MPI_File_seek(fh, -some / 2, MPI_SEEK_CUR), "seek");
    for (int turn = 0; turn < job.ranks; turn++) { /* Open MPI's own writes lose each other's */
        MPI_Barrier(job.comm);
        if (turn == job.rank) {
            must(MPI_File_write(fh, values, some, MPI_INT, &status), "write");
            note_status(&status, MPI_INT);
            must(MPI_File_write_at(fh, 5 * some, values, some, MPI_INT, &status), "write_at");
        }
    }
    note_position(fh);
    MPI_Barrier(job.comm);
    must(MPI_File_write_all_begin(fh, values, 10, MPI_INT), "begin");
    must(MPI_File_write_all_end(fh, values, &status), "end");
    note_position(fh);
    hand_over(fh);
    must(MPI_File_seek(fh, -3, MPI_SEEK_END), "seek");
    note_position(fh);
    must(MPI_File_seek(fh, some, MPI_SEEK_SET), "seek");
    must(MPI_File_read_all(fh, values, some, MPI_INT, &status), "read_all");
    for (int i = 0; i < some / 2; i++) { /* Open MPI's ranks lose each other's here, too */
        check(values[i] == number(1, i), "iwrite_all: integer %d is %d", i, values[i]);
    }
    must(MPI_File_iread(fh, values, some, MPI_INT, &request), "iread");
    must(MPI_Wait(&request, &status), "wait");
    note_values(values);
    note_position(fh);
    must(MPI_File_set_atomicity(fh, 1), "atomic");
    must(MPI_File_write_all(fh, values, some, MPI_INT, &status), "write_all");
    note_position(fh);
    must(MPI_File_set_atomicity(fh, 0), "not atomic");
    note_view(fh);
    must(MPI_File_read_at_all(fh, 0, values, some, MPI_INT, &status), "read_at_all");
    note_values(values);
    must(MPI_File_close(&fh), "close");
    expect_taken(name, 2, 2);
    expect_left(name, "MPI_File_iwrite_all", "non-blocking collective call");
    expect_left(name, "MPI_File_write_all", "atomic mode");
}

/* A call that Forebay hands back must find the view with the MPI, pointers where they were. */
static void handed_back(void) {
    int values[some];
    MPI_Status status;
    make_filled(path_of("dear.back"), (size_t)4 * (pieces + 4000) * job.ranks);
    MPI_File fh = open_file("dear.back", MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_set_atomicity(fh, 1), "atomic");
    set_view(fh, 1);
    must(MPI_File_seek(fh, 20, MPI_SEEK_SET), "seek");
    numbers(values, 3);
    must(MPI_File_write_all(fh, values, some, MPI_INT, &status), "write_all");
    note_position(fh);
    note_view(fh);
    must(MPI_File_set_atomicity(fh, 0), "not atomic");
    must(MPI_File_seek(fh, 20, MPI_SEEK_SET), "seek");
    must(MPI_File_read_all(fh, values, some, MPI_INT, &status), "read_all");
    note_values(values);
    set_view(fh, 0);
    must(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "plain view");
    must(MPI_File_read_at(fh, 4 * job.rank, values, 4 * some, MPI_BYTE, &status), "read_at");
    note_values(values);
    must(MPI_File_close(&fh), "close");
}

/* The view stays what it was where setting another one fails, also for calls left to the MPI. */
static void failed_view(void) {
    int values[some];
    MPI_Status status;
    make_filled(path_of("dear.failed"), (size_t)4 * (pieces + 4000) * job.ranks);
    MPI_File fh = open_file("dear.failed", MPI_MODE_RDWR, MPI_INFO_NULL);
    set_view(fh, 1);
    check(MPI_File_set_view(fh, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL) !=
              MPI_SUCCESS,
          "a null etype was taken");
    note_view(fh);
    numbers(values, 5);
    for (int turn = 0; turn < job.ranks; turn++) {
        MPI_Barrier(job.comm);
        if (turn == job.rank) {
            must(MPI_File_write_at(fh, 100, values, some, MPI_INT, &status), "write_at");
        }
    }
    hand_over(fh);
    must(MPI_File_set_atomicity(fh, 1), "atomic"); /* which tells the MPI the view */
    note_view(fh);
    must(MPI_File_read_at_all(fh, 100, values, some, MPI_INT, &status), "read_at_all");
    for (int i = 0; i < some; i++) {
        check(values[i] == number(5, i), "integer %d is %d", i, values[i]);
    }
    must(MPI_File_close(&fh), "close");
}

static void shared(void) {
    int values[some];
    MPI_Status status;
    MPI_Offset position = -1;
    make_filled(path_of("dear.shared"), (size_t)8 * pieces);
    MPI_File fh = open_file("dear.shared", MPI_MODE_RDWR, MPI_INFO_NULL);
    MPI_Datatype type; /* MPI wants one view of all ranks where they share a pointer */
    MPI_Type_vector(pieces, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(fh, 8, MPI_INT, type, "native", MPI_INFO_NULL), "view");
    MPI_Type_free(&type);
    numbers(values, 0);
    must(MPI_File_write_at_all(fh, 2000 + some * job.rank, values, some, MPI_INT, &status), "all");
    must(MPI_File_get_position_shared(fh, &position), "get_position_shared");
    note(" shared @%lld", (long long)position);
    MPI_Barrier(job.comm);
    must(MPI_File_seek_shared(fh, 10, MPI_SEEK_SET), "seek_shared");
    must(MPI_File_write_ordered(fh, values, 50, MPI_INT, &status), "write_ordered");
    MPI_Barrier(job.comm);
    must(MPI_File_get_position_shared(fh, &position), "get_position_shared");
    note(" shared @%lld", (long long)position);
    MPI_Barrier(job.comm);
    if (job.rank == 0) {
        must(MPI_File_write_shared(fh, values, 10, MPI_INT, &status), "write_shared");
    }
    must(MPI_File_close(&fh), "close");
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    begin_case("calls");
    calls("dear.calls", 0);
    end_case();
    begin_case("uneven");
    calls("dear.uneven", 1);
    end_case();
    begin_case("handed_back");
    handed_back();
    end_case();
    begin_case("failed_view");
    failed_view();
    end_case();
    begin_case("shared");
    shared();
    end_case();
    finish();
    return 0;
}
