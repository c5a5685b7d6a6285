/* Shared memory and descriptor tables: children of clone, and threads that get a table of
 * descriptors of their own. All write to files under numbers that mean something else elsewhere. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { stack_bytes = 1 << 18 };
static alignas(16) char stack[stack_bytes];
static int shared;   /* a file that is open before the child is made */
static int reopened; /* by a child */
static int numbered; /* children are made by syscall(2) */

static void say_file(const char* name) {
    char bytes[200] = {0};
    const int fd = open(name, O_RDONLY);
    need(fd >= 0, name);
    const long count = read(fd, bytes, sizeof bytes - 1);
    printf("%s has %ld bytes: %s\n", name, count, bytes);
    fflush(stdout);
    close(fd);
}

static void write_text(int fd, const char* text) { say(text, write(fd, text, strlen(text))); }

static void begin(const char* name) {
    shared = open_new(name);
    write_text(shared, "before ");
}

static void make(int (*function)(void*), int flags) {
    const int child = numbered ? (int)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0)
                               : clone(function, stack + sizeof stack, flags | SIGCHLD, NULL);
    if (numbered && child == 0) {
        _exit(function(NULL));
    }
    need(child > 0, "clone");
    int status = 0;
    need(waitpid(child, &status, 0) == child, "waitpid");
    printf("the child ended with %x\n", (unsigned)status);
    fflush(stdout);
}

static int write_twice(void* unused) {
    (void)unused;
    write_text(shared, "child ");
    write_text(shared, "again ");
    return 0;
}

/* The number means another file from now on, for the child, and maybe for its parent. */
static int put_another(void* unused) {
    (void)unused;
    write_text(shared, "child ");
    close(shared);
    reopened = open("another", O_CREAT | O_RDWR | O_TRUNC, 0644);
    write_text(reopened, "of the child ");
    return reopened == shared ? 0 : 1;
}

static int close_shared(void* unused) {
    (void)unused;
    say("closed by the child", close(shared));
    return 0;
}

static void go_on(void) {
    write_text(shared, "parent ");
    char bytes[100] = {0};
    const long count = pread(shared, bytes, sizeof bytes - 1, 0);
    say(bytes, count);
    say("offset", lseek(shared, 0, SEEK_CUR));
    say("cut", ftruncate(shared, 12));
    say("closed", close(shared));
}

static void with_flags(int flags) {
    begin("one");
    make(write_twice, flags);
    go_on();
    say_file("one");
    begin("two");
    make(put_another, flags);
    go_on();
    say_file("two");
    say_file("another");
    begin("three");
    make(close_shared, flags);
    go_on();
    say_file("three");
}

static void forked(void) { with_flags(0); }
static void descriptors(void) { with_flags(CLONE_FILES); }
static void numbered_fork(void) {
    numbered = 1;
    with_flags(0);
}
static void numbered_descriptors(void) {
    numbered = 1;
    with_flags(CLONE_FILES);
}
static void memory(void) { with_flags(CLONE_VM); }
static void waited_for(void) { with_flags(CLONE_VM | CLONE_VFORK); }
static void both(void) { with_flags(CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND); }

/* A child that asks the daemon, as its parent does at other times: it opens the first file. */
static int open_first(void* unused) {
    (void)unused;
    begin("first");
    return 0;
}

static void first(void) {
    make(open_first, CLONE_VM | CLONE_FILES);
    go_on();
    say_file("first");
}

static int unshared_by(int range) {
    return range ? close_range(3, ~0U, CLOSE_RANGE_UNSHARE) : unshare(CLONE_FILES);
}

static void* take_own_table(void* by_range) {
    say("own table", unshared_by(by_range != NULL));
    if (by_range == NULL) {
        write_text(shared, "thread ");
        close(shared);
    }
    const int fd = open_new("another");
    need(fd == shared, "it is another number");
    write_text(fd, "of the thread ");
    return NULL;
}

/* Threads do not write at a time: what they write has one order. */
static void in_thread(void* by_range) {
    begin("one");
    pthread_t thread;
    need(pthread_create(&thread, NULL, take_own_table, by_range) == 0, "pthread_create");
    need(pthread_join(thread, NULL) == 0, "pthread_join");
    go_on();
    say_file("one");
    say_file("another");
    begin("two"); /* the process goes on, by one table that is everybody's */
    go_on();
    say_file("two");
}

static void unshared(void) { in_thread(NULL); }
static void range(void) { in_thread(&shared); }

/* A process without threads has its table for itself already. */
static void alone(void) {
    begin("one");
    say("unshare", unshare(CLONE_FILES));
    write_text(shared, "after ");
    say("close_range", close_range((unsigned)shared + 1, ~0U, CLOSE_RANGE_UNSHARE));
    go_on();
    say_file("one");
}

int main(int argc, char** argv) {
    static const struct test_case cases[] = {
        {"forked", forked},
        {"descriptors", descriptors},
        {"memory", memory},
        {"waited_for", waited_for},
        {"both", both},
        {"first", first},
        {"unshared", unshared},
        {"range", range},
        {"alone", alone},
        {"numbered_fork", numbered_fork},
        {"numbered_descriptors", numbered_descriptors},
    };
    return run_named(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
