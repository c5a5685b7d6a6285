/* Calls of a program that is not captured. Prints seconds: of one call, or of all together.
 *
 *   calls opens FILE COUNT       opens and closes FILE so often: the median of one open and close
 *   calls write FILE BYTES       writes a new file in calls of 1 MiB, without a sync: all of them
 *   calls read FILE BYTES        reads it in calls of 1 MiB: all of them */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { call_bytes = 1 << 20, warm_calls = 100 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const char* what) {
    perror(what);
    return 1;
}

static int ascending(const void* one, const void* two) {
    const double a = *(const double*)one, b = *(const double*)two;
    return (a > b) - (a < b);
}

static int opens(const char* path, size_t count) {
    double* const took = calloc(count, sizeof *took);
    if (took == NULL) {
        return fail("calloc");
    }
    for (size_t call = 0; call < count + warm_calls; ++call) {
        const double begin = now();
        const int fd = open(path, O_RDONLY);
        if (fd < 0 || close(fd) != 0) {
            return fail(path);
        }
        if (call >= warm_calls) {
            took[call - warm_calls] = now() - begin;
        }
    }
    qsort(took, count, sizeof *took, ascending);
    printf("%.9f\n", took[count / 2]);
    free(took);
    return 0;
}

static int stream(const char* path, size_t bytes, int writes) {
    char* const buffer = aligned_alloc(4096, call_bytes);
    if (buffer == NULL) {
        return fail("aligned_alloc");
    }
    memset(buffer, 'x', call_bytes);
    const int fd = open(path, writes ? O_CREAT | O_EXCL | O_WRONLY : O_RDONLY, 0644);
    if (fd < 0) {
        return fail(path);
    }
    const double begin = now();
    for (size_t done = 0; done < bytes; done += call_bytes) {
        if ((writes ? write(fd, buffer, call_bytes) : read(fd, buffer, call_bytes)) != call_bytes) {
            return fail(writes ? "write" : "read");
        }
    }
    const double end = now();
    if (close(fd) != 0) {
        return fail("close");
    }
    printf("%.9f\n", end - begin);
    free(buffer);
    return 0;
}

int main(int argc, char** argv) {
    const size_t number = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (number > 0 && strcmp(argv[1], "opens") == 0) {
        return opens(argv[2], number);
    }
    if (number > 0 && strcmp(argv[1], "write") == 0) {
        return stream(argv[2], number, 1);
    }
    if (number > 0 && strcmp(argv[1], "read") == 0) {
        return stream(argv[2], number, 0);
    }
    fprintf(stderr, "usage: the first lines of evaluation/mount/calls.c\n");
    return 2;
}
