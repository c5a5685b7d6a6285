/* Functions of libc that a program finds by dlsym; says what they return. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/stat.h>

typedef ssize_t (*Write)(int, const void*, size_t);
typedef off_t (*Seek)(int, off_t, int);

static void* libc_handle(void) {
    void* const handle = dlopen("libc.so.6", RTLD_LAZY);
    need(handle != NULL, "dlopen");
    return handle;
}

static Write write_of(void* handle) {
    Write found;
    *(void**)&found = dlsym(handle, "write");
    need(found != NULL, "dlsym");
    return found;
}

static void use(Write found, const char* what) {
    const int fd = open_new(what);
    say("write", write(fd, "first ", 6));
    say(what, found(fd, "second ", 7));
    say("write", write(fd, "third\n", 6));
    say("size", lseek(fd, 0, SEEK_END));
    char in[100];
    printf("%.*s", (int)pread(fd, in, sizeof in, 0), in);
    close(fd);
}

static void named(void) {
    use(write_of(libc_handle()), "libc");
    use(write_of(dlopen(NULL, RTLD_LAZY)), "program");
    use(write_of(RTLD_DEFAULT), "default");
    use(write_of(RTLD_NEXT), "next");
    Write versioned;
    *(void**)&versioned = dlvsym(libc_handle(), "write", "GLIBC_2.2.5");
    use(versioned, "version");
    *(void**)&versioned = dlvsym(RTLD_DEFAULT, "write", "GLIBC_2.2.5");
    use(versioned, "version_default");
    long (*numbered)(long, ...);
    *(void**)&numbered = dlsym(libc_handle(), "syscall");
    const int fd = open_new("numbered");
    say("write", write(fd, "first ", 6));
    say("syscall", numbered(1L, fd, "second\n", 7L));
    say("size", lseek(fd, 0, SEEK_END));
}

/* Functions that are no file calls are libc's, and errors are reported. */
static void others(void) {
    void* const handle = libc_handle();
    say("strtol is the same", dlsym(handle, "strtol") == dlsym(RTLD_DEFAULT, "strtol"));
    say("errno", dlsym(handle, "none") == NULL ? 0 : -1);
    const char* const error = dlerror();
    printf("%s\n", error == NULL ? "no error" : strstr(error, "undefined symbol: none"));
    say("no error", dlerror() == NULL);
    void* const old = dlvsym(handle, "posix_spawn", "GLIBC_2.2.5");
    void* const now = dlvsym(handle, "posix_spawn", "GLIBC_2.15");
    say("two versions", old != NULL && now != NULL && old != now);
    say("none of a version", dlvsym(handle, "write", "GLIBC_9.9") == NULL);
    dlerror();
    say("dlopen of none", dlopen("./none.so", RTLD_NOW) == NULL);
    const char* const missing = dlerror();
    printf("%s\n", missing == NULL ? "no error" : strstr(missing, "none.so"));
    const int fd = open_new("file");
    say("write", write(fd, "x", 1));
}

static const struct test_case cases[] = {{"named", named}, {"others", others}};

int main(int argc, char** argv) {
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
