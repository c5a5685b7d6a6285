/* A file that is created with the hints striping_factor and striping_unit, written and read back
 * collectively: what the program sees of it. How the file lies is for the suite to look at.
 *
 *   striping FOLDER FILE FACTOR UNIT create|exclusive|open
 *
 * Told as `info striping …`: class of the open, amode as MPI_File_get_amode has it (told apart by
 * its bits), striping_factor and striping_unit of MPI_File_get_info. FACTOR 0: no hints. */
#include "common.h"

enum { piece = 4096, pieces = 96 };

static MPI_Info hints(const char* factor, const char* unit) {
    MPI_Info info = MPI_INFO_NULL;
    if (strcmp(factor, "0") != 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "striping_factor", factor);
        MPI_Info_set(info, "striping_unit", unit);
    }
    return info;
}

static int amode_of(const char* how) {
    const int amode = MPI_MODE_RDWR | (strcmp(how, "open") != 0 ? MPI_MODE_CREATE : 0);
    return amode | (strcmp(how, "exclusive") == 0 ? MPI_MODE_EXCL : 0);
}

static void tell(const char* key, const char* value) {
    if (job.rank == 0) {
        fprintf(job.out, "info striping %s=%s\n", key, value);
    }
}

static void tell_info(MPI_File fh) {
    const char* keys[] = {"striping_factor", "striping_unit"};
    MPI_Info info;
    must(MPI_File_get_info(fh, &info), "get_info");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int there = 0;
        MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL, value, &there);
        tell(keys[i], there ? value : "none");
    }
    MPI_Info_free(&info);
}

static void write_and_read(MPI_File fh) {
    MPI_Datatype type;
    MPI_Type_vector(pieces, piece, piece * job.ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    unsigned char* bytes = malloc((size_t)piece * pieces);
    unsigned char* back = malloc((size_t)piece * pieces);
    fill(bytes, (size_t)piece * pieces, job.rank, 1);
    must(MPI_File_set_view(fh, (MPI_Offset)piece * job.rank, MPI_BYTE, type, "native",
                           MPI_INFO_NULL),
         "view");
    must(MPI_File_write_all(fh, bytes, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    hand_over(fh);
    must(MPI_File_read_at_all(fh, 0, back, piece * pieces, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    check(memcmp(bytes, back, (size_t)piece * pieces) == 0, "read back something else");
    free(bytes);
    free(back);
    MPI_Type_free(&type);
}

static void check_bytes(const char* path) {
    size_t length = 0;
    unsigned char* bytes = file_bytes(path, &length);
    check(length == (size_t)piece * pieces * (size_t)job.ranks, "the file has %zu bytes", length);
    for (size_t i = 0; i < length; i++) {
        const size_t number = i / piece;
        const int rank = (int)(number % (size_t)job.ranks);
        const size_t at = number / (size_t)job.ranks * piece + i % piece;
        if (bytes[i] != data_byte(rank, 1, at)) {
            check(0, "byte %zu is wrong", i);
            break;
        }
    }
    free(bytes);
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc != 6) {
        give_up("usage: striping FOLDER FILE FACTOR UNIT create|exclusive|open");
    }
    begin_case("striping");
    MPI_Info info = hints(argv[3], argv[4]);
    const int amode = amode_of(argv[5]);
    MPI_File fh;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    const int code = MPI_File_open(job.comm, argv[2], amode, info, &fh);
    tell("open", class_name(code));
    if (code == MPI_SUCCESS) {
        int told = 0;
        must(MPI_File_get_amode(fh, &told), "get_amode");
        tell("amode", told == amode ? "as asked" : "another");
        tell_info(fh);
        write_and_read(fh);
        must(MPI_File_close(&fh), "close");
        if (job.rank == 0) {
            check_bytes(argv[2]);
        }
    }
    end_case();
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    finish();
    return 0;
}
