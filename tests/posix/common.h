// Helpers that the programs of this folder share: they print results of calls, and leave files.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Says a result, and errno where it is negative.
static inline long say(const char* what, long result) {
    if (result < 0) {
        printf("%s: %ld %s\n", what, result, strerrorname_np(errno));
    } else {
        printf("%s: %ld\n", what, result);
    }
    fflush(stdout);
    return result;
}

// A condition without which the test makes no sense.
static inline void need(int holds, const char* what) {
    if (!holds) {
        printf("cannot go on: %s (%s)\n", what, strerror(errno));
        fflush(stdout);
        _exit(3);
    }
}

// Bytes that are others at each place and in each round.
static inline void fill(unsigned char* bytes, size_t count, size_t at, unsigned round) {
    for (size_t i = 0; i < count; ++i) {
        bytes[i] = (unsigned char)((at + i) * 31U + ((at + i) >> 8U) * 7U + round * 101U + 1U);
    }
}

static inline unsigned long sum_of(const void* bytes, size_t count) {
    const unsigned char* each = bytes;
    unsigned long sum = 14695981039346656037UL;
    for (size_t i = 0; i < count; ++i) {
        sum = (sum ^ each[i]) * 1099511628211UL;
    }
    return sum;
}

static inline void say_bytes(const char* what, const void* bytes, long count) {
    printf("%s: %ld bytes %lx\n", what, count, sum_of(bytes, count < 0 ? 0 : (size_t)count));
    fflush(stdout);
}

static inline int open_new(const char* name) {
    const int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    need(fd >= 0, name);
    return fd;
}
