/* Faults that the suite causes: a disk that fills up, storage that fails, ranks that are killed,
 * files that cannot be opened.  fault FOLDER MODE FILE [PIECE]: FILE is the one that fails. */
#include "common.h"

static int handler_calls, handler_class;

static void own_handler(MPI_File* fh, int* code, ...) {
    (void)fh;
    handler_calls++;
    handler_class = class_of(*code);
}

static MPI_File opened(const char* path, int amode) {
    MPI_File fh;
    must(MPI_File_open(job.comm, path, amode, MPI_INFO_NULL, &fh), "open");
    return fh;
}

/* Bytes that a rank writes in a call. */
enum { share = 1 << 20 };

/* Collective: rank 0 prints the class of the error, and how often the handlers of all ranks were
 * called since the last time. */
static void tell_failure(const char* what, int code) {
    int calls;
    MPI_Allreduce(&handler_calls, &calls, 1, MPI_INT, MPI_SUM, job.comm);
    check(code == MPI_SUCCESS || handler_class == class_of(code),
          "the handler got another class than the caller");
    tell_class(what, code);
    if (job.rank == 0) {
        fprintf(job.out, "info %s handler_calls=%d\n", what, calls);
        fflush(job.out);
    }
    handler_calls = 0;
}

/* `told`: bytes of this rank that all calls together say they wrote. */
static int write_until_failure(MPI_File fh, long long* told) {
    unsigned char* bytes = malloc(share);
    fill(bytes, share, job.rank, 0);
    int code = MPI_SUCCESS;
    *told = 0;
    for (int i = 0; i < 64 && code == MPI_SUCCESS; i++) {
        MPI_Status status;
        int count = 0;
        code = MPI_File_write_all(fh, bytes, share, MPI_BYTE, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        *told += count;
    }
    free(bytes);
    return code;
}

/* Where byte number `at` of what this rank writes lies in the file. */
static long long place_of(long long at, int piece) {
    return (at / piece * job.ranks + job.rank) * piece + at % piece;
}

/* Bytes that a rank counts as written are in the file, and lie below one offset: no rank counts
 * a byte behind one that another rank does not count. */
static void check_told(const char* path, int piece, long long told) {
    unsigned char *bytes = malloc(share), *got = malloc((size_t)piece);
    const long long mine[2] = {told > 0 ? place_of(told - 1, piece) : -1, -place_of(told, piece)};
    long long all[2];
    fill(bytes, share, job.rank, 0);
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MAX, job.comm);
    check(all[0] < -all[1], "byte %lld is told, byte %lld is not", all[0], -all[1]);
    const int fd = open(path, O_RDONLY);
    for (long long at = 0; at < told; at += piece) {
        const size_t length = (size_t)(told - at < piece ? told - at : piece);
        check(pread(fd, got, length, place_of(at, piece)) == (ssize_t)length &&
                  memcmp(got, bytes + at % share, length) == 0,
              "byte %lld and on are told, but not in the file", place_of(at, piece));
    }
    close(fd);
    free(bytes);
    free(got);
}

/* FILE.ballast is removed after the failure: then there is room again. */
static void full(const char* path, int piece) {
    char ballast[path_max], letter = 'x';
    MPI_Errhandler own;
    snprintf(ballast, sizeof ballast, "%s.ballast", path);
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_create_errhandler(own_handler, &own);
    MPI_File_set_errhandler(fh, own);
    view_pieces(fh, share, piece);
    long long told;
    int code = write_until_failure(fh, &told);
    tell_failure("first", code);
    check_told(path, piece, told);
    MPI_Barrier(job.comm);
    if (job.rank == 0) {
        unlink(ballast);
    }
    MPI_Barrier(job.comm);
    code = MPI_File_write_at_all(fh, 0, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    tell_failure("again", code);
    tell_failure("close", MPI_File_close(&fh));
    MPI_Errhandler_free(&own);
}

static void full_fatal(const char* path, int piece) {
    long long told;
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_errhandler(fh, MPI_ERRORS_ARE_FATAL);
    view_pieces(fh, share, piece);
    write_until_failure(fh, &told);
    give_up("a fatal error came back");
}

/* Bytes from 5 MiB on cannot be written, nor read; those before can. */
static void failing(const char* path, int piece) {
    unsigned char* bytes = malloc(share);
    long long told;
    MPI_Errhandler own;
    MPI_File_create_errhandler(own_handler, &own);
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_errhandler(fh, own);
    view_pieces(fh, share, piece);
    const int failed = write_until_failure(fh, &told);
    tell_failure("write", failed);
    check_told(path, piece, told);
    if (job.rank == 0 &&
        truncate(path, 16 << 20) != 0) { /* not the end of the file, but a bad place in it */
        give_up("truncate");
    }
    MPI_Barrier(job.comm);
    MPI_File_seek(fh, 0, MPI_SEEK_SET);
    int code = MPI_SUCCESS;
    for (int i = 0; i < 8 && code == MPI_SUCCESS; i++) {
        code = MPI_File_read_all(fh, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    tell_failure("read", code);
    tell_failure("close", MPI_File_close(&fh));
    MPI_Errhandler_free(&own);
    free(bytes);
}

/* Until somebody kills a rank. Tells the ranks' process numbers first. */
static void endless(const char* path, int piece) {
    char file[32];
    unsigned char* bytes = malloc(share);
    snprintf(file, sizeof file, "pid.%d", job.rank);
    FILE* out = fopen(path_of(file), "w");
    fprintf(out, "%d", (int)getpid());
    fclose(out);
    fill(bytes, share, job.rank, 0);
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    view_pieces(fh, share, piece);
    for (int i = 0;; i++) {
        must(MPI_File_write_at_all(fh, 0, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE),
             "write_at_all");
        if (i == 3 && job.rank == 0) {
            fclose(fopen(path_of("running"), "w"));
        }
    }
}

static void open_only(const char* path) {
    MPI_File fh = MPI_FILE_NULL;
    const int code = MPI_File_open(job.comm, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    handler_class = class_of(code);
    tell_failure("open", code);
    check(code == MPI_SUCCESS || fh == MPI_FILE_NULL, "a handle came back");
    if (code == MPI_SUCCESS) {
        MPI_File_close(&fh);
    }
}

/* Nobody may open the file a second time, but those who have it may write. */
static void shut(const char* path) {
    unsigned char bytes[64];
    fill(bytes, sizeof bytes, job.rank, 0);
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (job.rank == 0 && chmod(path, 0) != 0) {
        give_up("chmod");
    }
    MPI_Barrier(job.comm);
    must(MPI_File_write_at_all(fh, 64 * job.rank, bytes, 64, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
    hand_over(fh);
    unsigned char got[64];
    must(MPI_File_read_at(fh, 64 * job.rank, got, 64, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    check(memcmp(got, bytes, 64) == 0, "something else was written");
    must(MPI_File_close(&fh), "close");
}

/* A mistake of the program's; what was done is told all the same. */
static void unclosed(const char* path) {
    char letter = 'x';
    MPI_File fh = opened(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    must(MPI_File_write_at_all(fh, job.rank, &letter, 1, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc < 4) {
        give_up("usage: fault FOLDER MODE FILE [PIECE]");
    }
    const char *mode = argv[2], *path = argv[3];
    const int piece = argc > 4 ? atoi(argv[4]) : 4096;
    begin_case(mode);
    if (strcmp(mode, "full") == 0) {
        full(path, piece);
    } else if (strcmp(mode, "full_fatal") == 0) {
        full_fatal(path, piece);
    } else if (strcmp(mode, "failing") == 0) {
        failing(path, piece);
    } else if (strcmp(mode, "endless") == 0) {
        endless(path, piece);
    } else if (strcmp(mode, "open") == 0) {
        open_only(path);
    } else if (strcmp(mode, "shut") == 0) {
        shut(path);
    } else if (strcmp(mode, "unclosed") == 0) {
        unclosed(path);
    } else {
        give_up("unknown mode");
    }
    end_case();
    finish();
    return 0;
}
