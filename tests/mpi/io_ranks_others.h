/* For tests: the I/O ranks of a job, which its ranks do not see, but the kernel does. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { line_bytes = 4096 };

static long command_line(const char* process, char* line) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/cmdline", process);
    const int file = open(path, O_RDONLY);
    const long length = file < 0 ? 0 : (long)read(file, line, line_bytes);
    close(file);
    return length;
}

/* Kills the processes that were started with the same words and are none of the job's ranks, as it
 * sees them. */
static void kill_others(const int* pids, int ranks) {
    char own[line_bytes], other[line_bytes];
    const long length = command_line("self", own);
    DIR* processes = opendir("/proc");
    for (struct dirent* one; (one = readdir(processes));) {
        int pid = atoi(one->d_name), is_rank = 0;
        for (int at = 0; at < ranks; ++at) {
            is_rank |= pids[at] == pid;
        }
        if (pid > 0 && !is_rank && command_line(one->d_name, other) == length &&
            memcmp(own, other, (size_t)length) == 0) {
            kill(pid, SIGKILL);
        }
    }
    closedir(processes);
}
