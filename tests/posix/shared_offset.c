/* Processes or threads share one offset, while the file grows or its descriptor is replaced. What
 * is printed is the same without the pool. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { records = 60000, read_bytes = 4096, line = 16, lines = 20000 };
enum { chunk = 64 << 10, chunks = 300, files = 40, records_each = 50 };

static void* shared_memory(size_t bytes) {
    void* const made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(made != MAP_FAILED, "mmap");
    return made;
}

static void wait_for_children(void) {
    int status = 0;
    while (wait(&status) > 0) {
        need(status == 0, "child");
    }
}

/* Two processes take what a third one appends, by one offset: each record is taken once. */
static void take_records(int fd, const atomic_int* over, atomic_uchar* taken) {
    long got_each[read_bytes / sizeof(long)];
    for (;;) {
        const int ended = atomic_load(over);
        const ssize_t got = read(fd, got_each, sizeof got_each);
        need(got >= 0, "read");
        if (got == 0 && ended) {
            _exit(0);
        }
        for (size_t i = 0; i < (size_t)got / sizeof(long); ++i) {
            atomic_fetch_add(taken + got_each[i], 1);
        }
    }
}

static void queue(void) {
    atomic_uchar* const taken = shared_memory(records);
    atomic_int* const over = shared_memory(sizeof *over);
    const int out = open_new("queue");
    const int in = open("queue", O_RDONLY);
    for (int i = 0; i < 2; ++i) {
        if (fork() == 0) {
            take_records(in, over, taken);
        }
    }
    for (long i = 0; i < records; i += 2) {
        const long two[] = {i, i + 1};
        need(write(out, two, sizeof two) == sizeof two, "write");
    }
    atomic_store(over, 1);
    wait_for_children();
    int missed = 0;
    int twice = 0;
    for (long i = 0; i < records; ++i) {
        missed += taken[i] == 0;
        twice += taken[i] > 1;
    }
    printf("missed %d, taken twice %d\n", missed, twice);
}

/* One process writes lines, another one reads by the same offset, which always is the file's end.
 */
static void log_file(void) {
    const int fd = open_new("log");
    atomic_int* const over = shared_memory(sizeof *over);
    if (fork() == 0) {
        char bytes[read_bytes];
        while (!atomic_load(over)) {
            need(read(fd, bytes, sizeof bytes) == 0, "read at the end");
        }
        _exit(0);
    }
    for (int i = 0; i < lines; ++i) {
        need(write(fd, "fifteen letters", line) == line, "write");
    }
    atomic_store(over, 1);
    wait_for_children();
    struct stat found;
    need(fstat(fd, &found) == 0, "fstat");
    printf("%ld bytes\n", (long)found.st_size);
}

static int descriptor;
static atomic_int ended;
static atomic_long written;

static void* keep_reading(void* unused) {
    char* const bytes = malloc(chunk);
    while (!atomic_load(&ended)) {
        need(read(descriptor, bytes, chunk) == 0, "read at the end");
    }
    free(bytes);
    return unused;
}

/* As log_file(), by threads, with so many bytes that a captured program in a mount is captured. */
static void threads(void) {
    descriptor = open_new("log");
    char* const bytes = malloc(chunk);
    memset(bytes, 'x', chunk);
    pthread_t reader;
    for (int i = 0; i < chunks; ++i) {
        need(write(descriptor, bytes, chunk) == chunk, "write");
        if (i == 8) {
            need(pthread_create(&reader, NULL, keep_reading, NULL) == 0, "thread");
        }
    }
    atomic_store(&ended, 1);
    pthread_join(reader, NULL);
    free(bytes);
    struct stat found;
    need(fstat(descriptor, &found) == 0, "fstat");
    printf("%ld bytes\n", (long)found.st_size);
}

static void* keep_writing(void* unused) {
    while (!atomic_load(&ended)) {
        const long record[] = {written, ~written};
        need(write(descriptor, record, sizeof record) == sizeof record, "write");
        atomic_fetch_add(&written, 1);
    }
    return unused;
}

/* A file whose offset is the kernel's: another process has it, too. */
static int open_and_share(const char* name) {
    const int fd = open_new(name);
    if (fork() == 0) {
        _exit(0);
    }
    wait_for_children();
    return fd;
}

/* A thread writes records, while another one has the descriptor mean the next file: the files have
 * all records, in order. */
static void replaced(void) {
    char name[32] = "log.0";
    descriptor = open_and_share(name);
    pthread_t writer;
    need(pthread_create(&writer, NULL, keep_writing, NULL) == 0, "thread");
    for (int i = 1; i < files; ++i) {
        snprintf(name, sizeof name, "log.%d", i);
        const int next = open_and_share(name);
        const long end = written + records_each;
        while (written < end) {
            sched_yield();
        }
        need(dup2(next, descriptor) == descriptor && close(next) == 0, "dup2");
    }
    atomic_store(&ended, 1);
    pthread_join(writer, NULL);
    long expected = 0;
    int wrong = 0;
    for (int i = 0; i < files; ++i) {
        snprintf(name, sizeof name, "log.%d", i);
        const int fd = open(name, O_RDONLY);
        for (long record[2]; read(fd, record, sizeof record) == sizeof record; ++expected) {
            wrong += record[0] != expected || record[1] != ~expected;
            expected = record[1] == ~record[0] ? record[0] : expected;
        }
        close(fd);
        need(unlink(name) == 0, "unlink"); /* how long each one is differs */
    }
    printf("wrong %d, at the end %ld\n", wrong, expected - written);
    close(open_new("done"));
}

/* A child has the description append, and its parent has it write at its offset again. */
static void appended(void) {
    char bytes[1000] = {0};
    const int fd = open_new("log");
    need(write(fd, bytes, sizeof bytes) == sizeof bytes && lseek(fd, 10, SEEK_SET) == 10, "write");
    if (fork() == 0) {
        _exit(fcntl(fd, F_SETFL, O_APPEND) == 0 ? 0 : 1);
    }
    wait_for_children();
    say("write", write(fd, "appended", 8));
    say("offset", lseek(fd, 0, SEEK_CUR));
    need(fcntl(fd, F_SETFL, 0) == 0, "F_SETFL");
    say("write", write(fd, "behind", 6));
    say("offset", lseek(fd, 0, SEEK_CUR));
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {{"queue", queue},
                                      {"log", log_file},
                                      {"threads", threads},
                                      {"replaced", replaced},
                                      {"appended", appended}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
