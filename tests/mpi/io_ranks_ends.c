/* Ways in which ranks end, with I/O ranks or without: io_ranks_ends WAY SIZE, SIZE being the number
 * of ranks that are to be seen. Compiled with -DOWN_SIZE, it has a function of MPI of its own. */
#include "io_ranks_others.h"

#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(OWN_SIZE)
int MPI_Comm_size(MPI_Comm comm, int* size) {
    (void)comm;
    *size = 99;
    return MPI_SUCCESS;
}
#endif

enum { ranks_max = 64 };

static void refused(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm child;
    int code = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                              MPI_ERRCODES_IGNORE);
    int class = 0;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_SPAWN) {
        MPI_Abort(MPI_COMM_WORLD, 8);
    }
#if MPI_VERSION >= 4
    MPI_Session session;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, 8);
    }
#endif
}

int main(int count, char** words) {
    const char* seconds = getenv("TEST_SECONDS_MAX");
    alarm(seconds ? (unsigned)atoi(seconds) : 60);
    MPI_Init(&count, &words);
    const char* way = words[1];
    int rank, ranks, pids[ranks_max], own = (int)getpid();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != atoi(words[2])) {
        printf("saw %d\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 6);
    }
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(way, "early")) {
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(way, "refused")) {
        refused();
    }
    if (rank == 1) {
        if (!strcmp(way, "abort")) {
            MPI_Abort(MPI_COMM_WORLD, 9);
        } else if (!strcmp(way, "kill")) {
            raise(SIGKILL);
        } else if (!strcmp(way, "exit")) {
            exit(3);
        } else if (!strcmp(way, "kill_io_ranks")) {
            kill_others(pids, ranks);
            pause();
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return strcmp(way, "status") ? 0 : 5;
}
