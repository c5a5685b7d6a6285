/* Each rank writes blocks to a file of its own, io_ranks_writes FOLDER WAY MARK, and keeps how many
 * writes have returned in FOLDER.acknowledged, past any pool. WAY: kill (the second rank dies amid
 * a write), kill_io_ranks (it kills those that it does not see), full (the file MARK asks for a
 * full disk; every rank tells what its fsync says). */
#include "io_ranks_others.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { block_bytes = 1 << 18, blocks_before = 8, blocks_most = 400, ranks_max = 64 };

static unsigned char block[block_bytes];
static int acknowledged, file;

static void write_blocks(int rank, int from, int to) {
    for (int at = from; at < to; ++at) {
        memset(block, (rank * 31 + at) & 0xff, sizeof block);
        if (pwrite(file, block, sizeof block, (off_t)at * block_bytes) != block_bytes) {
            printf("rank %d: write: %s\n", rank, strerror(errno));
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        const int64_t count = at + 1;
        if (pwrite(acknowledged, &count, sizeof count, rank * (off_t)sizeof count) < 0) {
            MPI_Abort(MPI_COMM_WORLD, 8);
        }
    }
}

static void die(int number) {
    (void)number;
    kill(getpid(), SIGKILL);
}

/* Amid the writes that follow, which do not end before. It replaces the alarm. */
static void die_soon(void) {
    signal(SIGALRM, die);
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) {
        write_blocks(1, blocks_before, blocks_most);
    }
}

static void wait_until_full(const char* mark) {
    close(open(mark, O_CREAT | O_WRONLY, 0600));
    while (access(mark, F_OK) == 0) {
        usleep(20000);
    }
}

int main(int count, char** words) {
    const char* seconds = getenv("TEST_SECONDS_MAX");
    alarm(seconds ? (unsigned)atoi(seconds) : 60);
    MPI_Init(&count, &words);
    const char* way = words[2];
    int rank, ranks, pids[ranks_max], own = (int)getpid();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    char path[1024];
    snprintf(path, sizeof path, "%s.acknowledged", words[1]);
    acknowledged = open(path, O_CREAT | O_WRONLY, 0600);
    snprintf(path, sizeof path, "%s/%d", words[1], rank);
    file = open(path, O_CREAT | O_RDWR, 0600);
    write_blocks(rank, 0, blocks_before);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "full") != 0) {
        if (rank == 1 && !strcmp(way, "kill")) {
            die_soon();
        } else if (rank == 1) {
            kill_others(pids, ranks);
        }
        write_blocks(rank, blocks_before, blocks_most);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    if (rank == 0) {
        wait_until_full(words[3]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const int code = fsync(file);
    printf("rank %d: fsync: %s\n", rank, code == 0 ? "done" : strerror(errno));
    fflush(stdout);
    close(file);
    MPI_Finalize();
    return 0;
}
