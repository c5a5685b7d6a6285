/* usage: PROGRAM FOLDER all|blocking|own|CASE
 *
 * Non-blocking collective calls: through views, from derived memory, several at a time, beside
 * blocking ones, and on ranks that only come to the call when another one has returned from it. */
#include "common.h"

enum { some = 48, at_pointer = -1 };

static int blocking; /* the same by blocking calls, which every MPI does rightly */

/* A call and its end. */
struct op {
    MPI_Request request;
    MPI_Status status;
};

static void begin_write(MPI_File fh, MPI_Offset at, const void* from, int count, MPI_Datatype type,
                        struct op* op) {
    op->request = MPI_REQUEST_NULL;
    if (blocking) {
        must(at == at_pointer ? MPI_File_write_all(fh, from, count, type, &op->status)
                              : MPI_File_write_at_all(fh, at, from, count, type, &op->status),
             "write");
    } else {
        must(at == at_pointer ? MPI_File_iwrite_all(fh, from, count, type, &op->request)
                              : MPI_File_iwrite_at_all(fh, at, from, count, type, &op->request),
             "iwrite");
    }
}

static void begin_read(MPI_File fh, MPI_Offset at, void* to, int count, MPI_Datatype type,
                       struct op* op) {
    op->request = MPI_REQUEST_NULL;
    if (blocking) {
        must(at == at_pointer ? MPI_File_read_all(fh, to, count, type, &op->status)
                              : MPI_File_read_at_all(fh, at, to, count, type, &op->status),
             "read");
    } else {
        must(at == at_pointer ? MPI_File_iread_all(fh, to, count, type, &op->request)
                              : MPI_File_iread_at_all(fh, at, to, count, type, &op->request),
             "iread");
    }
}

static void wait_for(struct op* ops, int count) {
    MPI_Request requests[8];
    MPI_Status statuses[8];
    for (int i = 0; i < count; i++) {
        requests[i] = ops[i].request;
    }
    must(MPI_Waitall(count, requests, statuses), "waitall");
    for (int i = 0; i < count; i++) {
        const MPI_Status* status = blocking ? &ops[i].status : &statuses[i];
        check(requests[i] == MPI_REQUEST_NULL, "request %d is not null", i);
        note_status(status, MPI_INT);
    }
}

static int number(int step, int i) { return job.rank * 100000 + step * 1000 + i + 1; }

static void numbers(int* values, int step) {
    for (int i = 0; i < some; i++) {
        values[i] = number(step, i);
    }
}

/* Four integers of each rank in turn, behind a header. */
static void interleaved(MPI_File fh) {
    MPI_Datatype row, type;
    MPI_Type_vector(3, 4, 4 * job.ranks, MPI_INT, &row);
    MPI_Type_create_resized(row, 0, 3 * 16 * job.ranks, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&row);
    must(MPI_File_set_view(fh, 24 + 16 * job.rank, MPI_INT, type, "native", MPI_INFO_NULL), "view");
    MPI_Type_free(&type);
}

static void several(void) {
    int values[4][some], back[3][some];
    struct op ops[4];
    make_filled(path_of("several"), 8000);
    MPI_File fh = open_file("several", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    for (int i = 0; i < 3; i++) {
        numbers(values[i], i);
        begin_write(fh, at_pointer, values[i], some, MPI_INT, &ops[i]);
        note_position(fh);
    }
    numbers(values[3], 3);
    begin_write(fh, 5 * some + 3, values[3], some, MPI_INT, &ops[3]);
    note_position(fh);
    wait_for(ops, 4);
    hand_over(fh);
    memset(back, 0, sizeof back);
    must(MPI_File_seek(fh, some, MPI_SEEK_SET), "seek");
    begin_read(fh, at_pointer, back[0], some, MPI_INT, &ops[0]);
    begin_read(fh, at_pointer, back[1], some, MPI_INT, &ops[1]);
    note_position(fh);
    begin_read(fh, 5 * some + 3, back[2], some, MPI_INT, &ops[2]);
    wait_for(ops, 3);
    for (int i = 0; i < 3; i++) {
        check(back[i][some - 1] == number(i + 1, some - 1), "read %d: %d", i, back[i][some - 1]);
        note(" %lu", sum_of(back[i], sizeof back[i]));
    }
    must(MPI_File_close(&fh), "close");
}

/* Memory in pieces, by its address; nothing on one rank. */
static void memory(void) {
    int values[3 * some];
    MPI_Aint where;
    MPI_Datatype pieces, absolute;
    struct op op;
    memset(values, 0, sizeof values);
    numbers(values, 7);
    numbers(values + some, 8);
    numbers(values + 2 * some, 9);
    MPI_Get_address(values + 2, &where);
    MPI_Type_vector(5, 3, 9, MPI_INT, &pieces);
    MPI_Type_create_hindexed_block(1, 1, &where, pieces, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Type_commit(&pieces);
    make_filled(path_of("memory"), 8000);
    MPI_File fh = open_file("memory", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    begin_write(fh, at_pointer, MPI_BOTTOM, 1, absolute, &op);
    wait_for(&op, 1);
    const int count = job.rank == job.ranks - 1 ? 0 : 2;
    begin_write(fh, 20, values, count, pieces, &op);
    wait_for(&op, 1);
    hand_over(fh);
    memset(values, 0, sizeof values);
    begin_read(fh, 0, MPI_BOTTOM, 1, absolute, &op);
    wait_for(&op, 1);
    note(" %lu", sum_of(values, sizeof values));
    must(MPI_File_close(&fh), "close");
    MPI_Type_free(&absolute);
    MPI_Type_free(&pieces);
}

/* Each rank comes to the call when the one before has returned from it. */
static void one_after_the_other(void) {
    int values[some], token = 0;
    struct op op;
    numbers(values, 1);
    make_filled(path_of("one_after_the_other"), 8000);
    MPI_File fh = open_file("one_after_the_other", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    for (int round = 0; round < 2; round++) {
        if (job.rank > 0 && !blocking) {
            MPI_Recv(&token, 1, MPI_INT, job.rank - 1, round, job.comm, MPI_STATUS_IGNORE);
        }
        begin_write(fh, at_pointer, values, some, MPI_INT, &op);
        if (job.rank + 1 < job.ranks && !blocking) {
            MPI_Send(&token, 1, MPI_INT, job.rank + 1, round, job.comm);
        }
        wait_for(&op, 1);
    }
    must(MPI_File_close(&fh), "close");
}

/* Ranks that come to a call more or less at once: at times they carry it out together. */
static void now_and_then(void) {
    enum { many = 4096, rounds = 40 };
    static int values[many], back[many];
    struct op op;
    MPI_File fh = open_file("now_and_then", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < many; i++) {
            values[i] = number(round % 9, i % 1000) + i;
        }
        const double late = MPI_Wtime() + 1e-5 * ((round * 7 + job.rank * 13) % 40);
        while (!blocking && MPI_Wtime() < late) {
        }
        begin_write(fh, 0, values, many, MPI_INT, &op);
        wait_for(&op, 1);
        memset(back, 0, sizeof back);
        begin_read(fh, 0, back, many, MPI_INT, &op);
        wait_for(&op, 1);
        check(memcmp(values, back, sizeof back) == 0, "other bytes in round %d", round);
    }
    must(MPI_File_close(&fh), "close");
}

/* Ranks that are all there: by the pointer, past the end of the file, and with a rank, or all of
 * them, that ask for nothing. */
static void together(void) {
    enum { many = 12000, more = 96, rounds = 72 };
    static int values[many], back[many + more];
    struct op op;
    MPI_File fh = open_file("together", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    for (int i = 0; i < many; i++) {
        values[i] = number(3, i % 1000) + i;
    }
    begin_write(fh, 0, values, many, MPI_INT, &op);
    wait_for(&op, 1);
    for (int round = 0; round < rounds; round++) {
        const int idle = round % 3 == 1 && job.rank == job.ranks - 1, past = round % 3 == 2;
        const int count = idle ? 0 : past ? many + more : many;
        memset(back, 0, sizeof back);
        must(MPI_File_seek(fh, 0, MPI_SEEK_SET), "seek");
        MPI_Barrier(job.comm);
        begin_read(fh, at_pointer, back, count, MPI_INT, &op);
        if (past && !blocking) { /* MPIs differ in what they tell of it */
            int told = -1;
            must(MPI_Wait(&op.request, &op.status), "wait");
            MPI_Get_count(&op.status, MPI_INT, &told);
            check(told == many, "%d integers of %d were read", told, many);
        } else if (!past) {
            wait_for(&op, 1);
        }
        check(idle || memcmp(values, back, sizeof values) == 0, "other bytes in round %d", round);
        check(idle || back[many] == 0, "more than the file has in round %d", round);
        note_position(fh);
    }
    MPI_Barrier(job.comm);
    begin_read(fh, 0, back, 0, MPI_INT, &op);
    wait_for(&op, 1);
    must(MPI_File_close(&fh), "close");
}

/* A rank's last write wins, by whatever call; the file has its length at once. */
static void among_other_calls(void) {
    int values[4][some], back[some];
    struct op op;
    MPI_Offset size = -1;
    for (int i = 0; i < 4; i++) {
        numbers(values[i], i);
    }
    make_filled(path_of("among_other_calls"), 8000);
    MPI_File fh = open_file("among_other_calls", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    must(MPI_File_write_at_all(fh, 0, values[0], some, MPI_INT, MPI_STATUS_IGNORE), "write");
    begin_write(fh, 0, values[1], some, MPI_INT, &op);
    wait_for(&op, 1);
    must(MPI_File_write_at_all(fh, 0, values[2], some / 2, MPI_INT, MPI_STATUS_IGNORE), "write");
    begin_write(fh, 3, values[3], 5, MPI_INT, &op);
    wait_for(&op, 1);
    memset(back, 0, sizeof back);
    must(MPI_File_read_at(fh, 0, back, some, MPI_INT, MPI_STATUS_IGNORE), "read_at");
    check(back[0] == number(2, 0) && back[3] == number(3, 0) && back[8] == number(2, 8) &&
              back[some - 1] == number(1, some - 1),
          "read %d %d %d %d", back[0], back[3], back[8], back[some - 1]);
    begin_write(fh, some, values[0], some, MPI_INT, &op);
    must(MPI_File_write_at_all_begin(fh, 2 * some, values[1], some, MPI_INT), "begin");
    must(MPI_File_write_at_all_end(fh, values[1], MPI_STATUS_IGNORE), "end");
    wait_for(&op, 1);
    hand_over(fh);
    must(MPI_File_get_size(fh, &size), "get_size");
    note(" size %lld", (long long)size);
    MPI_Barrier(job.comm);
    must(MPI_File_set_size(fh, size - 8 * job.ranks), "set_size");
    begin_write(fh, 4 * some, values[2], 4, MPI_INT, &op);
    wait_for(&op, 1);
    hand_over(fh);
    must(MPI_File_get_size(fh, &size), "get_size");
    note(" then %lld", (long long)size);
    must(MPI_File_close(&fh), "close");
}

static void end_of_the_file(void) {
    unsigned char bytes[64];
    struct op op;
    make_filled(path_of("end_of_the_file"), 100);
    MPI_File fh = open_file("end_of_the_file", MPI_MODE_RDONLY, MPI_INFO_NULL);
    memset(bytes, 0, sizeof bytes);
    begin_read(fh, 70 + 10 * job.rank, bytes, 64, MPI_BYTE, &op);
    if (!blocking) {
        must(MPI_Wait(&op.request, &op.status), "wait");
    }
    int count = -1;
    MPI_Get_count(&op.status, MPI_BYTE, &count);
    const int there = job.rank < 3 ? 30 - 10 * job.rank : 0;
    check(count == there, "%d bytes were read instead of %d", count, there);
    check(bytes[there] == 0, "more was read than is there");
    must(MPI_File_close(&fh), "close");
}

static void modes(void) {
    int values[some];
    struct op op;
    numbers(values, 2);
    make_filled(path_of("append"), 40);
    MPI_File fh = open_file("append", MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL);
    must(MPI_File_seek(fh, 4 * some * job.rank, MPI_SEEK_CUR), "seek");
    begin_write(fh, at_pointer, values, some, MPI_INT, &op);
    wait_for(&op, 1);
    note_position(fh);
    must(MPI_File_close(&fh), "close");
    fh = open_file("append", MPI_MODE_RDONLY, MPI_INFO_NULL);
    check(MPI_File_iwrite_at_all(fh, 0, values, some, MPI_INT, &op.request) != MPI_SUCCESS,
          "a file that is only read was written");
    must(MPI_File_close(&fh), "close");
    fh = open_file("atomic", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    must(MPI_File_set_atomicity(fh, 1), "atomic");
    begin_write(fh, 4 * some * job.rank, values, some, MPI_INT, &op);
    wait_for(&op, 1);
    must(MPI_File_close(&fh), "close");
}

#if MPI_VERSION >= 4
static void large_counts(void) {
    int values[some];
    MPI_Request request;
    MPI_Status status;
    numbers(values, 4);
    MPI_File fh = open_file("large_counts", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    must(MPI_File_iwrite_all_c(fh, values, (MPI_Count)some, MPI_INT, &request), "iwrite_all_c");
    must(MPI_Wait(&request, &status), "wait");
    note_status(&status, MPI_INT);
    memset(values, 0, sizeof values);
    must(MPI_File_iread_at_all_c(fh, 0, values, (MPI_Count)some, MPI_INT, &request), "iread_c");
    must(MPI_Wait(&request, &status), "wait");
    note_status(&status, MPI_INT);
    check(values[some - 1] == number(4, some - 1), "%d", values[some - 1]);
    must(MPI_File_close(&fh), "close");
}
#endif

/* Every way to be done with a request. */
static void requests(void) {
    int values[some], flag = -1, count = -1, done[2] = {-1, -1};
    MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    numbers(values, 5);
    MPI_File fh = open_file("requests", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    interleaved(fh);
    must(MPI_File_iwrite_all(fh, values, some, MPI_INT, &both[0]), "iwrite_all");
    must(MPI_Request_get_status(both[0], &flag, &status), "get_status");
    check(flag != 0, "it is not done when the call returns");
    must(MPI_Cancel(&both[0]), "cancel");
    must(MPI_Wait(&both[0], &status), "wait");
    must(MPI_Test_cancelled(&status, &flag), "test_cancelled");
    check(flag == 0, "what was written was cancelled");
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == some, "%d integers were written", count);
    must(MPI_File_iwrite_all(fh, values, some, MPI_INT, &both[0]), "iwrite_all");
    must(MPI_File_iwrite_all(fh, values, some - 8, MPI_INT, &both[1]), "iwrite_all");
    must(MPI_Testsome(2, both, &count, done, statuses), "testsome");
    check(count == 2, "%d of 2 are done", count);
    MPI_Get_elements(&statuses[done[0] == 1 ? 0 : 1], MPI_INT, &count);
    check(count == some - 8, "%d integers were written", count);
    must(MPI_File_iwrite_all(fh, values, 0, MPI_INT, &both[0]), "iwrite_all");
    must(MPI_Request_free(&both[0]), "free");
    check(both[0] == MPI_REQUEST_NULL, "a request that was freed is not null");
    must(MPI_File_iread_at_all(fh, 0, values, some, MPI_INT, &both[0]), "iread_at_all");
    must(MPI_Testall(2, both, &flag, statuses), "testall");
    check(flag != 0, "a read is not done when the call returns");
    must(MPI_File_close(&fh), "close");
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    const struct test_case cases[] = {
        {"several", several},
        {"memory", memory},
        {"one_after_the_other", one_after_the_other},
        {"now_and_then", now_and_then},
        {"together", together},
        {"among_other_calls", among_other_calls},
        {"end_of_the_file", end_of_the_file},
        {"modes", modes},
    };
    const struct test_case own[] = {
        {"requests", requests},
#if MPI_VERSION >= 4
        {"large_counts", large_counts},
#endif
    };
    const char* what = argc > 2 ? argv[2] : "";
    blocking = strcmp(what, "blocking") == 0;
    run_cases(own, strcmp(what, "own") == 0 ? sizeof own / sizeof *own : 0, NULL);
    run_cases(cases, sizeof cases / sizeof *cases,
              blocking || strcmp(what, "all") == 0 ? NULL : what);
    finish();
    return 0;
}
