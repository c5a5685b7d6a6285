/* Results of read, write and their relatives for vectors, sizes, offsets and flags that make no
 * sense, or hardly any. */
#define _GNU_SOURCE
#include "common.h"

#include <limits.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC diagnostic ignored "-Wstringop-overread" /* the compiler is right */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wnonnull"

#define tell(call) (errno = 0, say(#call, (call)))

static char bytes[64];

static void of_one_piece(int fd, struct iovec* piece, const char* what) {
    printf("-- %s\n", what);
    tell(readv(fd, piece, 1));
    tell(writev(fd, piece, 1));
    tell(preadv(fd, piece, 1, 0));
    tell(pwritev(fd, piece, 1, 0));
    tell(preadv2(fd, piece, 1, 0, 0));
    tell(pwritev2(fd, piece, 1, 0, 0));
    tell(preadv2(fd, piece, 1, -1, 0));
    tell(lseek(fd, 0, SEEK_SET));
}

static void of_two_pieces(int fd, struct iovec* pieces, const char* what) {
    printf("-- %s\n", what);
    tell(readv(fd, pieces, 2));
    tell(writev(fd, pieces, 2));
    tell(preadv(fd, pieces, 2, 0));
    tell(pwritev(fd, pieces, 2, 0));
    tell(lseek(fd, 0, SEEK_SET));
}

static void of_vectors(int fd) {
    struct iovec whole = {bytes, sizeof bytes};
    struct iovec negative = {bytes, (size_t)-1};
    struct iovec over = {bytes, (size_t)SSIZE_MAX + 1};
    struct iovec nothing = {(void*)-1, 0};
    struct iovec nowhere = {NULL, 8};
    struct iovec high = {(void*)(UINTPTR_MAX - 100), 8};
    of_one_piece(fd, &negative, "a negative length");
    of_one_piece(fd, &over, "one more than there is");
    of_one_piece(fd, &nothing, "nothing, nowhere");
    of_one_piece(fd, &nowhere, "no memory");
    of_one_piece(fd, &high, "the kernel's memory");
    of_two_pieces(fd, (struct iovec[]){{bytes, 8}, {bytes, (size_t)-1}}, "the second is negative");
    of_two_pieces(fd, (struct iovec[]){{bytes, (size_t)-1}, {NULL, 8}}, "negative, and nowhere");
    of_two_pieces(fd, (struct iovec[]){{NULL, 8}, {bytes, (size_t)-1}}, "nowhere, and negative");
    of_two_pieces(fd, (struct iovec[]){{bytes, SSIZE_MAX}, {bytes, SSIZE_MAX}}, "too long in all");
    of_two_pieces(fd, (struct iovec[]){{(void*)UINTPTR_MAX, 8}, {bytes, 8}}, "the first nowhere");
    of_two_pieces(fd, (struct iovec[]){{bytes, 8}, {(void*)UINTPTR_MAX, 8}}, "the last nowhere");
    printf("-- counts\n");
    tell(preadv(fd, &whole, 1025, 0));
    tell(pwritev(fd, &whole, 1025, 0));
    tell(readv(fd, &whole, -1));
    tell(writev(fd, &whole, -1));
    tell(preadv(fd, &whole, -1, 0));
    tell(pwritev(fd, &whole, INT_MIN, 0));
    tell(preadv(fd, &negative, 0, 0));
    tell(preadv(fd, NULL, 0, 0));
    tell(preadv(fd, NULL, 1, 0));
    tell(pwritev(fd, NULL, 0, 0));
    tell(pwritev(fd, NULL, 1, 0));
    tell(readv(fd, NULL, 2000));
    tell(preadv(fd, &whole, 1, -5));
    tell(pwritev(fd, &whole, 1, -5));
    tell(preadv(fd, &negative, 1, -5));
    tell(preadv2(fd, &whole, 1, -2, 0));
    tell(preadv2(fd, &whole, 1, 0, 0x40000000));
    tell(pwritev2(fd, &whole, 1, 0, 0x40000000));
    tell(preadv2(fd, &negative, 1, 0, 0x40000000));
}

static void of_numbers(int fd) {
    printf("-- numbers\n");
    tell(pread(fd, bytes, (size_t)-1, 0));
    tell(pwrite(fd, bytes, (size_t)-1, 0));
    tell(read(fd, bytes, (size_t)SSIZE_MAX + 1));
    tell(write(fd, bytes, (size_t)SSIZE_MAX + 1));
    tell(read(fd, (void*)-1, 1));
    tell(write(fd, (void*)-1, 1));
    tell(read(fd, (void*)-1, 0));
    tell(write(fd, (void*)-1, 0));
    tell(pread(fd, bytes, 1, -1));
    tell(pwrite(fd, bytes, 1, -1));
    tell(pread(fd, bytes, 0, -1));
    tell(pwrite(fd, bytes, 0, -1));
    tell(pread(fd, bytes, 64, INT64_MAX));
    tell(pwrite(fd, bytes, 64, INT64_MAX));
    tell(pread(fd, bytes, 1, INT64_MAX));
    tell(lseek(fd, 0, SEEK_END));
    tell(lseek(fd, -1, SEEK_SET));
    tell(lseek(fd, 0, 99));
    tell(lseek(fd, 0, -1));
    tell(lseek(fd, INT64_MIN, SEEK_CUR));
    tell(lseek(fd, 0, SEEK_SET));
    tell(ftruncate(fd, -1));
    tell(fallocate(fd, 0, 0, 0));
    tell(fallocate(fd, 0, -1, 5));
}

int main(void) {
    const int fd = open_new("both");
    for (int i = 0; i < 64; ++i) {
        need(write(fd, bytes, sizeof bytes) == sizeof bytes, "write");
    }
    const int reads = open("both", O_RDONLY);
    const int writes = open("both", O_WRONLY);
    tell(lseek(fd, 0, SEEK_SET));
    of_vectors(fd);
    of_numbers(fd);
    printf("-- reads only\n");
    of_vectors(reads);
    of_numbers(reads);
    printf("-- writes only\n");
    of_vectors(writes);
    of_numbers(writes);
    return 0;
}
