/* The baseline of forebay-ior: a loop with nothing but the system calls. Prints the nanoseconds of
 * one write and of one read. Usage: plain_loop FILE TRANSFER COUNT
 * -DWITH_MPI makes it an MPI program, in which every system call on a file costs more: an MPI
 * starts threads, and the kernel then counts references to the open file.
 * -DWITH_CLOCK also times each transfer and counts it in a histogram, which is the minimum for any
 * tool that reports latencies. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#ifdef WITH_CLOCK
static unsigned long counts[4096];
#define COUNT(last)                                           \
    do {                                                      \
        const double end_ = now();                            \
        ++counts[(unsigned long)(end_ - (last)) / 16 % 4096]; \
        (last) = end_;                                        \
    } while (0)
#else
#define COUNT(last) ((void)(last))
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: plain_loop FILE TRANSFER COUNT\n");
        return 1;
    }
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    const size_t size = strtoul(argv[2], NULL, 10);
    const long count = strtol(argv[3], NULL, 10);
    char* buffer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    memset(buffer, 0x5a, size);
    unlink(argv[1]);
    const double begin = now();
    int fd = open(argv[1], O_CREAT | O_RDWR, 0664);
    if (fd < 0) {
        perror(argv[1]);
        return 2;
    }
    const double first = now();
    double last = first;
    for (long i = 0; i < count; ++i) {
        if (pwrite(fd, buffer, size, (off_t)size * i) != (ssize_t)size) {
            perror("pwrite");
            return 2;
        }
        COUNT(last);
    }
    const double middle = now();
    close(fd);
    const double written = now();
    fd = open(argv[1], O_RDONLY);
    const double second = last = now();
    for (long i = 0; i < count; ++i) {
        if (pread(fd, buffer, size, (off_t)size * i) != (ssize_t)size) {
            perror("pread");
            return 2;
        }
        COUNT(last);
    }
    const double end = now();
    close(fd);
    const double mib = (double)size * (double)count / 1048576.0;
    printf("{\"write_ns\": %.3f, \"read_ns\": %.3f, \"write_mib_s\": %.3f, \"read_mib_s\": %.3f}\n",
           (middle - first) / (double)count, (end - second) / (double)count,
           mib / ((written - begin) * 1e-9), mib / ((now() - written) * 1e-9));
    unlink(argv[1]);
    free(buffer);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
