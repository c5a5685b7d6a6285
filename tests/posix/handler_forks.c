/* A signal handler forks while the program is in the middle of a call on a file of the pool; the
 * child returns into that call, as its parent does, and both go on writing.
 *   handler_forks CASE FORKS */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
    piece = 16384,
    places = 512,
    record_bytes = 512,
    child_records = 4,
    running_max = 8,
    usual_wait_us = 300,
    other_number = 700,
    end_of_places = places * piece
};

static volatile sig_atomic_t forked;  // children so far
static volatile sig_atomic_t self;    // 0: the first process; otherwise the number of the child
static volatile sig_atomic_t ended;   // children that were waited for
static int forks;
static bool calls_in_handler;
static int file;      // each place has bytes that depend on the place only
static int records;   // one offset for all processes
static FILE* stream;  // records, too
static const char* what;
static long* acknowledged;  // records, of each process; in memory that all share

static void arm(void) {
    const struct itimerval once = {.it_value = {.tv_usec = 50 + forked * 37 % usual_wait_us}};
    need(setitimer(ITIMER_REAL, &once, NULL) == 0, "setitimer");
}

static void write_place(int place) {
    unsigned char bytes[piece];
    fill(bytes, piece, (size_t)place * piece, 0);
    need(pwrite(file, bytes, piece, (off_t)place * piece) == piece, "pwrite");
}

static void read_place(int place) {
    unsigned char bytes[piece];
    unsigned char got[piece];
    fill(bytes, piece, (size_t)place * piece, 0);
    need(pread(file, got, piece, (off_t)place * piece) == piece, "pread");
    need(memcmp(bytes, got, piece) == 0, "what was written is read");
}

static void make_record(unsigned char* record, int writer, int number) {
    fill(record, record_bytes, (size_t)number, (unsigned)writer);
    memcpy(record, &writer, sizeof writer);
    memcpy(record + sizeof writer, &number, sizeof number);
}

static void append(int number) {
    const int writer = self;
    unsigned char record[record_bytes];
    make_record(record, writer, number);
    if (stream != NULL) {
        need(fwrite(record, sizeof record, 1, stream) == 1 && fflush(stream) == 0, "fwrite");
    } else {
        need(write(records, record, sizeof record) == sizeof record, "write");
    }
    if (writer == self) {  // not the call that was interrupted: the parent does that
        ++acknowledged[writer];
    }
}

static void open_and_close(void) {
    const int fd = open("file", O_RDWR);
    need(fd >= 0, "open");
    const int again = dup(fd);
    need(again >= 0 && pwrite(again, "", 1, end_of_places + 1) == 1, "pwrite");
    need(close(fd) == 0 && close(again) == 0, "close");
}

/* The number that the descriptor gets belongs to another file in between. */
static void replace(void) {
    need(dup2(file, other_number) == other_number, "dup2");
    need(pwrite(other_number, "", 1, end_of_places + 1) == 1, "pwrite");
    need(dup2(records, other_number) == other_number, "dup2");
    need(close(other_number) == 0, "close");
}

static void sync_it(int number) {
    struct stat found;
    need(fstat(file, &found) == 0 && found.st_size >= end_of_places, "fstat");
    need(stat("file", &found) == 0 && found.st_size >= end_of_places, "stat");
    if (number % 16 == 0) {
        need(fdatasync(file) == 0, "fdatasync");
    }
    need(ftruncate(file, end_of_places) == 0, "ftruncate");
    need(pwrite(file, "", 1, end_of_places + 1) == 1, "pwrite");
}

/* Reads and moves by the offset that all processes share. */
static void read_on(void) {
    unsigned char record[record_bytes];
    const off_t at = lseek(records, -record_bytes, SEEK_CUR);
    need(at % record_bytes == 0 || (at == -1 && errno == EINVAL), "lseek");
    const ssize_t got = read(records, record, sizeof record);
    need(got == 0 || got == record_bytes, "read");
    need(lseek(records, 0, SEEK_END) % record_bytes == 0, "lseek");
}

static void use_all(int first_number) {
    const int place = self % places;
    for (int number = first_number; number < first_number + child_records; ++number) {
        if (strcmp(what, "moves") != 0) {
            append(number);
        }
        write_place((place + number) % places);
        read_place((place + number) % places);
    }
    open_and_close();
}

static void on_alarm(int signal) {
    (void)signal;
    const int before = errno;
    if (self == 0 && forked < forks && forked - ended < running_max) {
        const pid_t child = fork();
        need(child >= 0, "fork");
        if (child == 0) {
            self = forked + 1;
            const struct rlimit seconds = {.rlim_cur = 30, .rlim_max = 30};
            need(setrlimit(RLIMIT_CPU, &seconds) == 0, "setrlimit");  // where it would spin
            if (calls_in_handler) {
                use_all(child_records);
            }
        } else {
            ++forked;
        }
    }
    if (self == 0) {
        arm();
    }
    errno = before;
}

static int wait_for_child(int flags) {
    int status = 0;
    const pid_t child = waitpid(-1, &status, flags);
    if (child > 0) {
        ++ended;
        if (status != 0) {
            printf("a child ended with status %d\n", status);
            fflush(stdout);
            _exit(4);
        }
    }
    return child > 0;
}

/* Every record that was acknowledged is there. One may be there twice: a call that was interrupted
 * is made by the parent and by the child. */
static void judge(void) {
    const off_t size = lseek(records, 0, SEEK_END);
    long* const seen = calloc((size_t)forks + 2, sizeof *seen);
    long wrong = size % record_bytes;
    for (off_t at = 0; at + record_bytes <= size; at += record_bytes) {
        unsigned char record[record_bytes];
        unsigned char expected[record_bytes];
        int who[2];
        need(pread(records, record, sizeof record, at) == sizeof record, "pread");
        memcpy(who, record, sizeof who);
        if (who[0] < 0 || who[0] > forks || who[1] < 0) {
            ++wrong;
            continue;
        }
        make_record(expected, who[0], who[1]);
        wrong += memcmp(record, expected, sizeof record) != 0;
        ++seen[who[0]];
    }
    long missing = 0;
    for (int i = 0; i <= forks; ++i) {
        missing += seen[i] < acknowledged[i] ? acknowledged[i] - seen[i] : 0;
    }
    for (int place = 0; place < places; ++place) {
        read_place(place);
    }
    say("wrong", wrong);
    say("missing", missing);
}

static void step(int number) {
    if (strcmp(what, "appends") == 0 || stream != NULL) {
        append(number);
    } else if (strcmp(what, "reads") == 0) {
        read_place(number % places);
    } else if (strcmp(what, "moves") == 0) {
        read_on();
    } else if (strcmp(what, "opens") == 0) {
        open_and_close();
    } else if (strcmp(what, "dups") == 0) {
        replace();
    } else if (strcmp(what, "syncs") == 0) {
        sync_it(number);
    } else {
        write_place(number % places);
    }
}

static void* keep_calling(void* argument) {
    arm();
    for (int number = 0; forked < forks; ++number) {
        step(number);
        if (self != 0) {
            use_all(0);
            _exit(0);
        }
        wait_for_child(WNOHANG);
    }
    signal(SIGALRM, SIG_IGN);
    return argument;
}

/* The signals go to a thread that is not the main one. */
static void call_in_thread(void) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_t thread;
    need(pthread_create(&thread, NULL, keep_calling, NULL) == 0, "pthread_create");
    need(pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0, "pthread_sigmask");
    need(pthread_join(thread, NULL) == 0, "pthread_join");
}

int main(int argc, char** argv) {
    need(argc == 3, "handler_forks CASE FORKS");
    what = argv[1];
    forks = atoi(argv[2]);
    calls_in_handler = strcmp(what, "handlers") == 0;
    acknowledged = mmap(NULL, ((size_t)forks + 2) * sizeof *acknowledged, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(acknowledged != MAP_FAILED, "mmap");
    file = open_new("file");
    records = open_new("records");
    for (int place = 0; place < places; ++place) {
        write_place(place);
    }
    append(0);
    if (strcmp(what, "streams") == 0) {
        stream = fdopen(dup(records), "r+");
        need(stream != NULL, "fdopen");
    }
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    need(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
    if (strcmp(what, "threads") == 0) {
        call_in_thread();
    } else {
        keep_calling(NULL);
    }
    while (ended < forked) {
        wait_for_child(0);
    }
    judge();
    say("forks", forked);
    return 0;
}
