/* Writes that succeed, a disk that then has no room for them, and what syncing and closing say.
 *   late_errors FOLDER HOW FILE MARK
 * HOW: blocks, pieces (collective) or alone (independent), or the same with -sync behind it. When
 * all is written rank 0 makes the file MARK, and waits until somebody has made the disk full and
 * removed MARK; "-": it does not. */
#include "common.h"

enum { share = 1 << 20, calls = 2, piece = 4096 };

static void tell(const char* what, int code) {
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

static void view_of_pieces(MPI_File fh) {
    MPI_Datatype row, type;
    MPI_Type_vector(share / piece, piece, piece * job.ranks, MPI_BYTE, &row);
    MPI_Type_create_resized(row, 0, (MPI_Aint)share * job.ranks, &type);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(fh, (MPI_Offset)piece * job.rank, MPI_BYTE, type, "native",
                           MPI_INFO_NULL),
         "view");
    MPI_Type_free(&row);
    MPI_Type_free(&type);
}

static int write_all_of_it(MPI_File fh, const char* how) {
    char* bytes = malloc(share);
    memset(bytes, 'a' + job.rank, share);
    int first = MPI_SUCCESS;
    for (int i = 0; i < calls; i++) {
        const MPI_Offset apart = ((MPI_Offset)i * job.ranks + job.rank) * share;
        int code;
        if (strncmp(how, "alone", 5) == 0) {
            code = MPI_File_write_at(fh, apart, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE);
        } else if (strncmp(how, "pieces", 6) == 0) {
            code = MPI_File_write_at_all(fh, (MPI_Offset)i * share, bytes, share, MPI_BYTE,
                                         MPI_STATUS_IGNORE);
        } else {
            code = MPI_File_write_at_all(fh, apart, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE);
        }
        first = first == MPI_SUCCESS ? code : first;
    }
    free(bytes);
    return first;
}

static void have_the_disk_filled(const char* mark) {
    if (job.rank == 0 && strcmp(mark, "-") != 0) {
        close(open(mark, O_WRONLY | O_CREAT, 0644));
        while (access(mark, F_OK) == 0) {
            usleep(1000);
        }
    }
    MPI_Barrier(job.comm);
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc < 5) {
        give_up("usage: late_errors FOLDER HOW FILE MARK");
    }
    const char* how = argv[2];
    begin_case("late_errors");
    MPI_File fh;
    must(MPI_File_open(job.comm, argv[3], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
         "open");
    if (strncmp(how, "pieces", 6) == 0) {
        view_of_pieces(fh);
    }
    tell("write", write_all_of_it(fh, how));
    have_the_disk_filled(argv[4]);
    if (strstr(how, "-sync") != NULL) {
        tell("sync", MPI_File_sync(fh));
    }
    tell("close", MPI_File_close(&fh));
    end_case();
    finish();
    return 0;
}
