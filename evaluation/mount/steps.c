/* A program that computes and appends to a file, step by step: steps FILE STEPS MIB MILLISECONDS.
 * Each step opens FILE to append, writes so many MiB in calls of 1 MiB, and closes it; then the
 * program computes (sleeps), but not after the last step. FILE "-" is standard output. The programs
 * beside this one do the same in other languages. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { call_bytes = 1 << 20 };

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static void append(const char* path, long calls, const char* buffer) {
    const int out = strcmp(path, "-") == 0;
    const int fd = out ? STDOUT_FILENO : open(path, O_CREAT | O_WRONLY | O_APPEND, 0644);
    if (fd < 0) {
        fail(path);
    }
    for (long call = 0; call < calls; ++call) {
        if (write(fd, buffer, call_bytes) != call_bytes) {
            fail("write");
        }
    }
    if (!out && close(fd) != 0) {
        fail("close");
    }
}

int main(int argc, char** argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: steps FILE STEPS MIB MILLISECONDS\n");
        return 2;
    }
    const long steps = atol(argv[2]), milliseconds = atol(argv[4]);
    const struct timespec computing = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    char* const buffer = malloc(call_bytes);
    if (buffer == NULL) {
        fail("malloc");
    }
    memset(buffer, 'x', call_bytes);
    for (long step = 0; step < steps; ++step) {
        append(argv[1], atol(argv[3]), buffer);
        if (step + 1 < steps) {
            nanosleep(&computing, NULL);
        }
    }
    free(buffer);
    return 0;
}
