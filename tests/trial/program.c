/* A program that knows nothing of Forebay: an interleaved collective write to the file that is
 * named, read back. With `exit` it leaves the file open, and closes it in an attribute callback of
 * MPI_COMM_SELF as HDF5 does; with `self` its ranks first open a file on MPI_COMM_SELF each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 64, PIECES = 256 };

static MPI_File left_open;

static int close_it(MPI_Comm comm, int key, void* value, void* state) {
    (void)comm, (void)key, (void)value, (void)state;
    return MPI_File_close(&left_open);
}

static void open_alone(int rank) {
    char name[32];
    MPI_File file;
    snprintf(name, sizeof name, "self.%d", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, key;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* name = argc > 1 ? argv[1] : "program.out";
    const char* how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "self") == 0) open_alone(rank);
    if (strcmp(how, "exit") == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_it, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    MPI_Datatype filetype;
    MPI_Type_vector(PIECES, PIECE, PIECE * ranks, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    char data[PIECE * PIECES], back[PIECE * PIECES];
    memset(data, 'a' + rank % 26, sizeof data);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE);
    int wrong = memcmp(data, back, sizeof data) != 0;
    if (strcmp(how, "exit") == 0) {
        left_open = file;
    } else {
        MPI_File_close(&file);
    }
    MPI_Type_free(&filetype);
    MPI_Finalize();
    return wrong;
}
