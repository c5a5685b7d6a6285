/* Writes that succeed, a disk that then has no room for them, and what syncing and closing say.
 *   late_errors FOLDER HOW FILE MARK
 * HOW: blocks, pieces (collective) or alone (independent), or the same with -sync behind it. When
 * all is written rank 0 makes the file MARK, and waits until somebody has made the disk full and
 * removed MARK; "-": it does not. */
#include "common.h"

enum { share = 1 << 20, calls = 2, piece = 4096 };

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
        view_pieces(fh, share, piece);
    }
    tell_class("write", write_all_of_it(fh, how));
    have_the_disk_filled(argv[4]);
    if (strstr(how, "-sync") != NULL) {
        tell_class("sync", MPI_File_sync(fh));
    }
    tell_class("close", MPI_File_close(&fh));
    end_case();
    finish();
    return 0;
}
