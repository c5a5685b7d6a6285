// C streams that several threads share: opened anew under a thread that writes, cancelled in the
// middle of a read, and locked by their callers. Says what holds in whatever order threads run.
#define _GNU_SOURCE
#include "cases.h"
#include "streams.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <wchar.h>

static char in[1 << 17];

static pthread_t started(void* (*run)(void*), void* with) {
    pthread_t thread;
    need(pthread_create(&thread, NULL, run, with) == 0, "pthread_create");
    return thread;
}

// Whether a thread was cancelled, and another one can have the stream then.
static void* try_lock(void* stream) {
    const int busy = ftrylockfile(stream);
    if (busy == 0) {
        funlockfile(stream);
    }
    return busy == 0 ? stream : NULL;
}

static void say_ended(pthread_t thread, FILE* stream) {
    void* ended = NULL;
    void* free_again = NULL;
    pthread_join(thread, &ended);
    pthread_join(started(try_lock, stream), &free_again);
    say("cancelled", ended == PTHREAD_CANCELED);
    say("can be locked", free_again == stream);
    need(free_again == stream, "it stays locked");
}

// -- opened anew: a log that is rotated -----------------------------------------------------------

static atomic_long lines;
static atomic_int enough;

// By fputs: libc's fprintf looks whether the stream is open before it takes the lock.
static void* log_thread(void* stream) {
    long line = 0;
    while (atomic_load(&enough) == 0) {
        char text[30];
        snprintf(text, sizeof text, "%09ld\n", line++);
        need(fputs(text, stream) >= 0, "fputs");
        if (line % 16 == 0) {
            fflush(stream);
        }
        atomic_store(&lines, line);
    }
    return NULL;
}

static void until_lines(long count) {
    while (atomic_load(&lines) < count) {
        sched_yield();
    }
}

// How many lines a file goes on from `line`; its last one has to be whole.
static long counted(const char* name, long line) {
    FILE* const stream = opened(name, "r");
    char text[20];
    while (fgets(text, sizeof text, stream) != NULL) {
        if (strlen(text) != 10 || atol(text) != line) {
            printf("%s: line %ld is %s\n", name, line, text);
            break;
        }
        ++line;
    }
    fclose(stream);
    return line;
}

static void reopened(void) {
    static const char* const modes[] = {"w", "w+", "a"};
    for (int round = 0; round < 30; ++round) {
        unlink("log.a");
        unlink("log.b");
        if (round % 2 != 0) {
            filled("log.b", round % 3 != 2 ? 30000 : 0, 1);
        }
        FILE* const stream = opened("log.a", "w");
        atomic_store(&lines, 0);
        atomic_store(&enough, 0);
        const pthread_t thread = started(log_thread, stream);
        until_lines(100 + round * 7);
        need(freopen("log.b", modes[round % 3], stream) == stream, "freopen");
        until_lines(atomic_load(&lines) + 1000);
        atomic_store(&enough, 1);
        pthread_join(thread, NULL);
        say("fclose", fclose(stream));
        say("lines missing", atomic_load(&lines) - counted("log.b", counted("log.a", 0)));
    }
    unlink("log.a");  // another number of lines each time
    unlink("log.b");
    filled("log.done", 10, 1);
}

// -- cancelled ------------------------------------------------------------------------------------

static void cancel_myself(void) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
}

static void* read_once_thread(void* stream) {
    cancel_myself();
    fread(in, 1, sizeof in, stream);
    return NULL;
}

static void* read_thread(void* stream) {
    while (atomic_load(&enough) == 0) {
        if (fread(in, 1, 9000, stream) != 9000) {
            rewind(stream);
        }
        atomic_fetch_add(&lines, 1);
    }
    return NULL;
}

static void* reopen_thread(void* stream) {
    cancel_myself();
    freopen("cancelled.2", "r", stream);
    return NULL;
}

static void cancelled(void) {
    filled("cancelled", 100000, 1);
    filled("cancelled.2", 100, 1);
    for (int leaves = 0; leaves < 2; ++leaves) {
        FILE* stream = opened("cancelled", "r+");
        if (leaves != 0) {
            need(mmap(NULL, 10, PROT_READ, MAP_SHARED, fileno(stream), 0) != MAP_FAILED, "mmap");
        }
        say_ended(started(read_once_thread, stream), stream);
        for (int round = 0; round < 40; ++round) {
            atomic_store(&lines, 0);
            const pthread_t thread = started(read_thread, stream);
            until_lines(round);
            pthread_cancel(thread);
            say_ended(thread, stream);
        }
        rewind(stream);
        say("fread", (long)fread(in, 1, 20000, stream));
        say_bytes("fread", in, 20000);
        say_ended(started(reopen_thread, stream), stream);
    }
}

// The cancelled call no longer holds the file open: the file comes back into the pool.
static void* call_thread(void* descriptor) {
    cancel_myself();
    return read(*(int*)descriptor, in, 100) < 0 ? NULL : descriptor;
}

static void cancelled_call(void) {
    int fd = open("cancelled.call", O_RDWR | O_CREAT | O_APPEND, 0644);
    void* ended = NULL;
    pthread_join(started(call_thread, &fd), &ended);
    say("cancelled", ended == PTHREAD_CANCELED);
    say("close", close(fd));
    fd = open("cancelled.call", O_RDWR);
    say("write", write(fd, "into the pool", 13));
    say("close", close(fd));
}

// -- locked by the caller -------------------------------------------------------------------------

static void* bytes_thread(void* stream) {
    say("fread", (long)fread(in, 1, 50000, stream));
    say("ftell", ftell(stream));
    return stream;
}

static void* wide_thread(void* stream) {
    say("fputws", fputws(L"wide", stream) >= 0);
    return stream;
}

static void by_caller(void) {
    filled("by_caller", 100000, 1);
    void* (*const threads[])(void*) = {bytes_thread, wide_thread};
    for (int i = 0; i < 2; ++i) {
        FILE* const stream = opened("by_caller", "r+");
        say("__fsetlocking", __fsetlocking(stream, FSETLOCKING_BYCALLER) == FSETLOCKING_INTERNAL);
        flockfile(stream);
        pthread_join(started(threads[i], stream), NULL);
        funlockfile(stream);
        say("locking", __fsetlocking(stream, FSETLOCKING_QUERY) == FSETLOCKING_BYCALLER);
        say("fclose", fclose(stream));
    }
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {{"reopened", reopened},
                                      {"cancelled", cancelled},
                                      {"cancelled_call", cancelled_call},
                                      {"by_caller", by_caller}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
