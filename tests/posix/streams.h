// Helpers that the programs with C streams share: streams that must open, and whole files.
#pragma once

#include "common.h"

static inline FILE* opened(const char* name, const char* mode) {
    FILE* const stream = fopen(name, mode);
    need(stream != NULL, name);
    return stream;
}

// Prints a file's content, past the streams.
static inline void say_all(const char* name) {
    static char all[1 << 18];
    const int fd = open(name, O_RDONLY);
    need(fd >= 0, name);
    say_bytes(name, all, read(fd, all, sizeof all));
    close(fd);
}

// A file of so many bytes, at most 1 << 18, by a stream.
static inline void filled(const char* name, size_t bytes, unsigned round) {
    static unsigned char out[1 << 18];
    FILE* const stream = opened(name, "w");
    fill(out, bytes, 0, round);
    need(fwrite(out, 1, bytes, stream) == bytes && fclose(stream) == 0, name);
}
