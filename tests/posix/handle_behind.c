/* A library that stands in front of libc's write, and asks libc's own handle for it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t write(int fd, const void* from, size_t bytes) {
    ssize_t (*next)(int, const void*, size_t);
    *(void**)&next = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "write");
    if (fd == STDOUT_FILENO) {
        next(fd, "seen ", 5);
    }
    return next(fd, from, bytes);
}
