/* A limit of file sizes that is set when files are open already: by the process, by setrlimit,
 * prlimit or ulimit, or by another one. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ulimit.h>

enum { limit_bytes = 2048 };
static volatile sig_atomic_t signals;
static unsigned char bytes[1 << 20];

static void count(int number) {
    (void)number;
    ++signals;
}

static void say_signals(const char* what, long result) {
    say(what, result);
    printf("signals: %d\n", (int)signals);
    fflush(stdout);
}

static void set(rlim_t soft) {
    struct rlimit limit;
    need(getrlimit(RLIMIT_FSIZE, &limit) == 0, "getrlimit");
    limit.rlim_cur = soft;
    say("setrlimit", setrlimit(RLIMIT_FSIZE, &limit));
}

static void set_of(pid_t process) {
    const struct rlimit limit = {.rlim_cur = limit_bytes, .rlim_max = RLIM_INFINITY};
    need(prlimit(process, RLIMIT_FSIZE, &limit, NULL) == 0, "prlimit");
}

/* Writes while there is no limit yet, then the limit, then writes beyond it. */
static void limited(void (*set_limit)(void)) {
    signal(SIGXFSZ, count);
    const int one = open_new("one");
    const int long_one = open_new("long");
    const int read_only = open("one", O_RDONLY);
    fill(bytes, sizeof bytes, 0, 1);
    say("write", write(one, bytes, 1000));
    say("long", write(long_one, bytes, sizeof bytes));
    set_limit();
    say("read", read(read_only, bytes, 500));
    say_signals("within", pwrite(one, bytes, 500, 1000));
    say_signals("write across", write(one, bytes, 2000));
    say("offset", lseek(one, 0, SEEK_CUR));
    say_signals("write at it", write(one, bytes, 1));
    say_signals("pwrite beyond", pwrite(one, bytes, 10, 5000));
    say_signals("pwrite within what is long already", pwrite(long_one, bytes, 10, 5000));
    say_signals("cut within", ftruncate(long_one, 100000));
    say_signals("cut longer", ftruncate(one, 5000));
    say_signals("longer by name", truncate("one", 5000));
    say_signals("cut", ftruncate(one, 1500));
    say_signals("fallocate", fallocate(one, 0, 0, 5000));
    const int later = open_new("later");
    say_signals("a later file", pwrite(later, bytes, 4000, 0));
    set(RLIM_INFINITY);
    say_signals("without a limit", pwrite(one, bytes, 10, 5000));
}

static void set_it(void) { set(limit_bytes); }
static void set_own(void) { set_of(0); }
static void set_by_number(void) { set_of(getpid()); }
static void set_by_ulimit(void) { say("ulimit", ulimit(UL_SETFSIZE, limit_bytes / 512L)); }

/* It is seen in the next tick of the kernel's clock. */
static void set_by_other(void) {
    const pid_t self = getpid();
    const pid_t other = fork();
    if (other == 0) {
        set_of(self);
        _exit(0);
    }
    int status = 0;
    need(waitpid(other, &status, 0) == other && status == 0, "another process");
    struct timespec before;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &before);
    do {
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    } while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
}

static void by_setrlimit(void) { limited(set_it); }
static void by_prlimit(void) { limited(set_own); }
static void by_number(void) { limited(set_by_number); }
static void by_ulimit(void) { limited(set_by_ulimit); }
static void by_other(void) { limited(set_by_other); }

/* Where the file system's longest file has 16 GiB and a little. */
static void longest_file(void) {
    const off_t beyond = (off_t)20 << 30;
    const int one = open_new("one");
    fill(bytes, sizeof bytes, 0, 1);
    say("write", write(one, bytes, 1000));
    say("pwrite beyond", pwrite(one, bytes, 10, beyond));
    say("cut longer", ftruncate(one, beyond));
    say("fsync", fsync(one));
    say("write", write(one, bytes, 1000));
    say("close", close(one));
}

/* A child sets itself a limit for the program that it becomes. */
static void in_child(void) {
    const int one = open("one", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
    say("write", write(one, bytes, 1000));
    const pid_t child = fork();
    if (child == 0) {
        set(limit_bytes);
        execl("/bin/true", "true", (char*)NULL);
        _exit(9);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && status == 0, "the child");
    say("write", write(one, bytes, sizeof bytes));
}

/* A child that can map nothing large any more reads what its parent has written. */
static void no_memory(void) {
    const int one = open_new("one");
    fill(bytes, sizeof bytes, 0, 1);
    say("write", write(one, bytes, sizeof bytes));
    const pid_t child = fork();
    if (child == 0) {
        const int own = open_new("own");
        say("of the child", write(own, bytes, 1000));
        const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
        need(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
        memset(bytes, 0, sizeof bytes);
        say_bytes("read", bytes, pread(one, bytes, sizeof bytes, 0));
        _exit(0);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && status == 0, "the child");
}

/* Opens files until no descriptor is left, and uses all of them. */
static void open_all(const char* what) {
    static int fds[1000];
    int opened = 0;
    while (opened < 1000) {
        char name[32] = {0};
        snprintf(name, sizeof name, "%s.%d", what, opened);
        fds[opened] = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
        if (fds[opened] < 0) {
            break;
        }
        need(write(fds[opened], name, sizeof name) == sizeof name, "write");
        ++opened;
    }
    printf("%s: %d descriptors, then %s\n", what, opened, strerrorname_np(errno));
    fflush(stdout);
    for (int i = 0; i < opened; ++i) {
        char name[32] = {0};
        char found[32] = {0};
        snprintf(name, sizeof name, "%s.%d", what, i);
        need(pread(fds[i], found, sizeof found, 0) == sizeof found, "read");
        need(strcmp(name, found) == 0, "another file");
        need(close(fds[i]) == 0, "close");
    }
}

static void set_descriptors(rlim_t soft, rlim_t hard) {
    struct rlimit limit;
    need(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = soft;
    limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
    need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void descriptors(void) {
    set_descriptors(40, RLIM_INFINITY);
    open_all("few");
    set_descriptors(60, RLIM_INFINITY);
    open_all("more");
    set_descriptors(30, RLIM_INFINITY);
    open_all("fewer");
}

/* The soft limit is the hard one. */
static void no_more_descriptors(void) {
    set_descriptors(60, 60);
    open_all("all");
}

int main(int argc, char** argv) {
    static const struct test_case cases[] = {
        {"setrlimit", by_setrlimit}, {"prlimit", by_prlimit},      {"number", by_number},
        {"ulimit", by_ulimit},       {"other", by_other},          {"child", in_child},
        {"no_memory", no_memory},    {"descriptors", descriptors}, {"no_more", no_more_descriptors},
        {"longest", longest_file},
    };
    return run_named(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
