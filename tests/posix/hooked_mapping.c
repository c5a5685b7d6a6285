// Preloaded behind: as UCX does, it stands for libc's functions that map memory, and makes the
// calls by number.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    return (void*)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

int munmap(void* at, size_t bytes) { return (int)syscall(SYS_munmap, at, bytes); }

int mprotect(void* at, size_t bytes, int protection) {
    return (int)syscall(SYS_mprotect, at, bytes, protection);
}

void* mremap(void* at, size_t bytes, size_t more, int flags, ...) {
    return (void*)syscall(SYS_mremap, at, bytes, more, flags, NULL);
}
