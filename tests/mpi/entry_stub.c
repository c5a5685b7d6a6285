/* Calls a little of everything that the stub binds: blocking, split, non-blocking, shared-pointer
 * and large-count functions, and checks what was written. Prints "ok" once. Built with any MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int held, const char* what) {
    if (!held) {
        fprintf(stderr, "entry_stub: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void fill(int* values, int count, int seed) {
    for (int i = 0; i < count; i++) {
        values[i] = seed * 1000 + i;
    }
}

enum { per_rank = 1000 };

static void blocking(MPI_File fh, int rank, int ranks) {
    int mine[per_rank], back[per_rank];
    MPI_Status status;
    int count;
    fill(mine, per_rank, rank + 1);
    MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof mine;
    must(MPI_File_write_at_all(fh, at, mine, per_rank, MPI_INT, &status) == MPI_SUCCESS,
         "write_at_all");
    MPI_Get_count(&status, MPI_INT, &count);
    must(count == per_rank, "status of write_at_all");
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(fh);
    int other = (rank + 1) % ranks;
    at = (MPI_Offset)other * (MPI_Offset)sizeof mine;
    must(MPI_File_read_at_all(fh, at, back, per_rank, MPI_INT, &status) == MPI_SUCCESS,
         "read_at_all");
    MPI_Get_count(&status, MPI_INT, &count);
    must(count == per_rank, "status of read_at_all");
    fill(mine, per_rank, other + 1);
    must(memcmp(mine, back, sizeof mine) == 0, "read_at_all brings what was written");
    must(MPI_File_read_at(fh, at, back, per_rank, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "read_at");
    must(memcmp(mine, back, sizeof mine) == 0, "read_at brings what was written");
}

static void split_and_pointer(MPI_File fh, int rank, int ranks) {
    int mine[per_rank], back[per_rank];
    MPI_Datatype filetype;
    MPI_Offset position;
    MPI_Status status;
    int count;
    /* Every rank's ints interleave. */
    MPI_Type_vector(per_rank, 1, ranks, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(fh, (MPI_Offset)rank * 4, MPI_INT, filetype, "native", MPI_INFO_NULL);
    MPI_Type_free(&filetype);
    fill(mine, per_rank, rank + 7);
    must(MPI_File_write_all(fh, mine, per_rank / 2, MPI_INT, &status) == MPI_SUCCESS, "write_all");
    MPI_File_get_position(fh, &position);
    must(position == per_rank / 2, "position after write_all");
    must(MPI_File_write_all_begin(fh, mine + per_rank / 2, per_rank / 2, MPI_INT) == MPI_SUCCESS,
         "write_all_begin");
    must(MPI_File_write_all_end(fh, mine + per_rank / 2, &status) == MPI_SUCCESS, "write_all_end");
    MPI_Get_count(&status, MPI_INT, &count);
    must(count == per_rank / 2, "status of write_all_end");
    MPI_File_seek(fh, 0, MPI_SEEK_SET);
    memset(back, 0, sizeof back);
    must(MPI_File_read_all(fh, back, per_rank, MPI_INT, &status) == MPI_SUCCESS, "read_all");
    must(memcmp(mine, back, sizeof mine) == 0, "read_all brings what was written");
    MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    int value = 0;
    MPI_File_read_at_all(fh, (MPI_Offset)((10 * ranks + rank) * 4), &value, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    must(value == mine[10], "bytes lie where the view says");
}

static void left_to_the_mpi(MPI_File fh, int rank) {
    int mine[per_rank], back[per_rank];
    MPI_Request request;
    fill(mine, per_rank, rank + 20);
    MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof mine;
    MPI_File_iwrite_at(fh, at, mine, per_rank, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at(fh, at, back, per_rank, MPI_INT, MPI_STATUS_IGNORE);
    must(memcmp(mine, back, sizeof mine) == 0, "iwrite_at and read_at");
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(argc == 2, "usage: entry_stub FILE");
    must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &fh) == MPI_SUCCESS,
         "open");
    blocking(fh, rank, ranks);
    split_and_pointer(fh, rank, ranks);
    left_to_the_mpi(fh, rank);
    MPI_Offset size;
    MPI_File_get_size(fh, &size);
    must(size == (MPI_Offset)ranks * per_rank * 4, "size");
    must(MPI_File_close(&fh) == MPI_SUCCESS, "close");
    must(fh == MPI_FILE_NULL, "the handle is null after close");
    if (rank == 0) {
        printf("ok\n");
    }
    MPI_Finalize();
    return 0;
}
