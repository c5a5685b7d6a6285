/* A library that stands in front of libc's write, and asks libc's own handle for it. */
#include "behind.h"

ssize_t write(int fd, const void* from, size_t bytes) {
    return seen_write(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), fd, from, bytes);
}
