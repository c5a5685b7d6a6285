/* Errors: every rank gets the same class as from the MPI alone, by the handler that the program
 * chose. */
#include "common.h"

static int handler_calls, handler_class;

static void own_handler(MPI_File* fh, int* code, ...) {
    (void)fh;
    handler_calls++;
    handler_class = class_of(*code);
}

static void note_handler(void) {
    note(" handler %d %s", handler_calls, handler_calls ? class_name(handler_class) : "-");
    handler_calls = 0;
}

static void note_open(const char* file, int amode) {
    MPI_File fh = MPI_FILE_NULL;
    const int code = MPI_File_open(job.comm, path_of(file), amode, MPI_INFO_NULL, &fh);
    note(" %s", class_name(code));
    if (code == MPI_SUCCESS) {
        MPI_File_close(&fh);
    }
}

static void missing(void) {
    note_open("errors.missing", MPI_MODE_RDONLY);
    note_open("no/such/folder", MPI_MODE_CREATE | MPI_MODE_WRONLY);
}

static void exists(void) {
    make_filled(path_of("errors.exists"), 10);
    note_open("errors.exists", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
    note_open("errors.exists", MPI_MODE_RDONLY);
}

static void modes(void) {
    make_filled(path_of("errors.modes"), 10);
    note_open("errors.modes", MPI_MODE_RDONLY | MPI_MODE_CREATE);
    note_open("errors.modes", MPI_MODE_RDONLY | MPI_MODE_WRONLY);
    note_open("errors.modes", 0);
}

/* A collective write to a file that is open for reading, and the other way round. */
static void directions(void) {
    char bytes[16] = "";
    make_filled(path_of("errors.readonly"), 100);
    MPI_File fh = open_file("errors.readonly", MPI_MODE_RDONLY, MPI_INFO_NULL);
    note(" %s", class_name(MPI_File_write_at_all(fh, 16 * job.rank, bytes, 16, MPI_BYTE,
                                                 MPI_STATUS_IGNORE)));
    must(MPI_File_read_at_all(fh, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
    must(MPI_File_close(&fh), "close");
    fh = open_file("errors.writeonly", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL);
    must(MPI_File_write_at_all(fh, 16 * job.rank, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
    note(" %s", class_name(MPI_File_read_at_all(fh, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE)));
    must(MPI_File_close(&fh), "close");
    expect_taken("errors.writeonly", 1, 0);
}

static void arguments(void) {
    char bytes[16] = "";
    MPI_File fh = open_file("errors.arguments", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    note(" %s", class_name(MPI_File_write_at_all(fh, 0, bytes, -1, MPI_BYTE, MPI_STATUS_IGNORE)));
    note(" %s", class_name(MPI_File_write_at_all(fh, -5, bytes, 1, MPI_BYTE, MPI_STATUS_IGNORE)));
    note(" %s",
         class_name(MPI_File_write_at_all(fh, 0, bytes, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)));
    note(" %s", class_name(MPI_File_seek(fh, -5, MPI_SEEK_SET)));
    note(" %s", class_name(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "martian", MPI_INFO_NULL)));
    must(MPI_File_write_at_all(fh, 16 * job.rank, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE),
         "write_at_all");
    must(MPI_File_close(&fh), "close");
    expect_taken("errors.arguments", 1, 0);
}

/* The handler is the file's; for opening, that of MPI_FILE_NULL. */
static void handlers(void) {
    char bytes[16] = "";
    MPI_Errhandler own, set;
    MPI_File_create_errhandler(own_handler, &own);
    MPI_File_set_errhandler(MPI_FILE_NULL, own);
    note_open("errors.missing", MPI_MODE_RDONLY);
    note_handler();
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    make_filled(path_of("errors.handlers"), 100);
    MPI_File fh = open_file("errors.handlers", MPI_MODE_RDONLY, MPI_INFO_NULL);
    MPI_File_get_errhandler(fh, &set);
    note(" %s", set == MPI_ERRORS_RETURN ? "errors return" : "another handler");
    MPI_File_set_errhandler(fh, own);
    note(" %s", class_name(MPI_File_write_at_all(fh, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE)));
    note_handler();
    note(" %s", class_name(MPI_File_read_at_all(fh, 0, bytes, -3, MPI_BYTE, MPI_STATUS_IGNORE)));
    note_handler();
    must(MPI_File_read_at_all(fh, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
    must(MPI_File_close(&fh), "close");
    MPI_Errhandler_free(&own);
    expect_taken("errors.handlers", 0, 1);
}

static const struct test_case cases[] = {{"missing", missing},     {"exists", exists},
                                         {"modes", modes},         {"directions", directions},
                                         {"arguments", arguments}, {"handlers", handlers}};

int main(int argc, char** argv) {
    start(&argc, &argv);
    run_cases(cases, sizeof cases / sizeof *cases, argc < 3 ? NULL : argv[2]);
    finish();
    return 0;
}
