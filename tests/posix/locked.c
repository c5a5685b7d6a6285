/* Locks all of its memory (mlockall) before or behind its first write, within a limit of 8 MiB that
 * it respects, and says what of it is locked then. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { limit_bytes = 8 << 20, page = 4096 };

static _Alignas(page) char own[64 * page]; /* of the program's: to be locked */

/* VmLck of /proc/self/status. */
static long locked_kib(void) {
    FILE* const status = fopen("/proc/self/status", "r");
    need(status != NULL, "status");
    char line[256];
    long kib = -1;
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmLck: %ld kB", &kib) != 1) {
    }
    fclose(status);
    return kib;
}

static void say_locked(const char* what) {
    const long kib = locked_kib();
    unsigned char there[64] = {0};
    need(mincore(own, sizeof own, there) == 0, "mincore");
    int resident = 0;
    for (unsigned i = 0; i < sizeof there; ++i) {
        resident += there[i] & 1;
    }
    printf("%s: %s, %s\n", what,
           kib == 0                   ? "nothing is locked"
           : kib < limit_bytes / 1024 ? "something is locked"
                                      : "too much is locked",
           resident == sizeof there ? "all there" : "not all there");
    fflush(stdout);
}

static int write_first(void) {
    const int fd = open_new("one");
    say("write", write(fd, "hello\n", 6));
    return fd;
}

static void go_on(int fd) {
    char bytes[16] = {0};
    say("write", write(fd, "again\n", 6));
    say(bytes, pread(fd, bytes, sizeof bytes - 1, 0));
    void* const more =
        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mmap", more == MAP_FAILED ? -1 : 0);
    const long before = locked_kib();
    say("munlockall", munlockall());
    printf("%s\n", locked_kib() == 0 && before > 0 ? "unlocked" : "as it was");
    fflush(stdout);
    say("close", close(fd));
}

static void early(void) {
    say("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE));
    say_locked("current and future");
    go_on(write_first());
}

static void late(void) {
    const int fd = write_first();
    say("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE));
    say_locked("current and future");
    go_on(fd);
}

static void current(void) {
    const int fd = write_first();
    say("mlockall", mlockall(MCL_CURRENT));
    say_locked("current");
    go_on(fd);
}

static void future(void) {
    say("mlockall", mlockall(MCL_FUTURE));
    go_on(write_first());
}

static void on_fault(void) {
    const int fd = write_first();
    say("mlockall", mlockall(MCL_CURRENT | MCL_ONFAULT));
    say_locked("on fault");
    go_on(fd);
}

static void wrong(void) {
    say("nothing", mlockall(0));
    say("on fault alone", mlockall(MCL_ONFAULT));
    say("unknown", mlockall(MCL_CURRENT | 64));
    go_on(write_first());
}

/* More than the limit, without a pool, too. */
static void too_much(void) {
    void* const large =
        mmap(NULL, 2 * limit_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(large != MAP_FAILED, "mmap");
    const int fd = write_first();
    say("mlockall", mlockall(MCL_CURRENT));
    say_locked("too much");
    go_on(fd);
}

int main(int argc, char** argv) {
    static const struct test_case cases[] = {
        {"early", early},       {"late", late},   {"current", current},   {"future", future},
        {"on_fault", on_fault}, {"wrong", wrong}, {"too_much", too_much},
    };
    struct rlimit limit;
    need(getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == limit_bytes, "the limit");
    return run_named(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
