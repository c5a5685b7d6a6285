/* A file that is closed within MPI_Finalize, by an attribute's callback, as HDF5 closes files that
 * were left open. The attribute is older than the file, so its callback comes after those of
 * libraries that woke up with the file.  close_in_finalize FILE
 * Prints "ok". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { bytes = 4096 };

static MPI_File file;

static void must(int code, const char* what) {
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "close_in_finalize: %s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void write_own(MPI_File fh, int at) {
    char own[bytes];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(own, 'a' + rank, sizeof own);
    const MPI_Offset offset = (MPI_Offset)bytes * (at * ranks + rank);
    must(MPI_File_write_at_all(fh, offset, own, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write");
}

static int close_file(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    write_own(file, 1);
    must(MPI_File_close(&file), "close");
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int key, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_file, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                       &file),
         "open");
    write_own(file, 0);
    MPI_Finalize();
    if (rank == 0) {
        printf("ok\n");
    }
    return 0;
}
