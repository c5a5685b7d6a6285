/* A library that stands in front of libc's write, too, as a tracing tool does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t write(int fd, const void* from, size_t bytes) {
    ssize_t (*next)(int, const void*, size_t);
    *(void**)&next = dlsym(RTLD_NEXT, "write");
    if (fd == STDOUT_FILENO) {
        next(fd, "seen ", 5);
    }
    return next(fd, from, bytes);
}
