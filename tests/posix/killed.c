// Writes pieces of its own into a file until it is killed; says each that was written, over a
// pipe, once write() has returned.   killed FILE SEED
#define _GNU_SOURCE
#include "common.h"

#include <stdint.h>

struct said {
    uint64_t at;
    uint32_t bytes;
    uint32_t round;
};

int main(int argc, char** argv) {
    need(argc == 3, "arguments");
    unsigned seed = (unsigned)atoi(argv[2]);
    const int fd = open(argv[1], O_CREAT | O_RDWR, 0644);
    need(fd >= 0, argv[1]);
    static unsigned char piece[200000];
    uint64_t end = 0;
    for (unsigned round = 1;; ++round) {
        const int kind = rand_r(&seed) % 4;
        const uint32_t most = kind == 0 ? 200000 : 5000;
        struct said said = {.bytes = 1 + (uint32_t)rand_r(&seed) % most, .round = round};
        said.at = kind == 1 ? (uint64_t)rand_r(&seed) % (8 << 20) : end;
        fill(piece, said.bytes, said.at, round);
        need(pwrite(fd, piece, said.bytes, (off_t)said.at) == (ssize_t)said.bytes, "pwrite");
        need(write(1, &said, sizeof said) == sizeof said, "pipe");
        if (kind != 1) {
            end = (said.at + said.bytes) % (16 << 20);
        }
    }
}
