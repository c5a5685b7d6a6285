/* io_uring by system calls that no library makes: its ring, reads and writes. And file leases, and
 * the file actions of posix_spawn. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/io_uring.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { entries = 8, piece = 300000 };

/* The call by its number, past libc's syscall(2), which is captured. */
static long direct(long number, long a, long b, long c, long d, long e) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    long done = number;
    __asm__ volatile("syscall"
                     : "+a"(done)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return done;
}

struct ring {
    int fd;
    unsigned char *submissions, *completions;
    struct io_uring_sqe* requests;
    struct io_uring_params of;
};

static void* mapped(const struct ring* ring, size_t bytes, long at) {
    void* const found =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, at);
    need(found != MAP_FAILED, "the ring is not mapped");
    return found;
}

static struct ring make_ring(void) {
    struct ring ring = {0};
    ring.fd = (int)direct(425, entries, (long)&ring.of, 0, 0, 0);
    if (ring.fd < 0) {
        printf("no io_uring\n");
        exit(0);
    }
    ring.submissions =
        mapped(&ring, ring.of.sq_off.array + ring.of.sq_entries * sizeof(unsigned), 0);
    ring.completions =
        mapped(&ring, ring.of.cq_off.cqes + ring.of.cq_entries * sizeof(struct io_uring_cqe),
               IORING_OFF_CQ_RING);
    ring.requests =
        mapped(&ring, ring.of.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    return ring;
}

/* One request, from its submission to its result. */
static int done(struct ring* ring, int code, int fd, void* bytes, unsigned count, off_t at) {
    unsigned* const tail = (unsigned*)(ring->submissions + ring->of.sq_off.tail);
    unsigned* const array = (unsigned*)(ring->submissions + ring->of.sq_off.array);
    const unsigned index = *tail % ring->of.sq_entries;
    struct io_uring_sqe* const request = &ring->requests[index];
    memset(request, 0, sizeof *request);
    request->opcode = (unsigned char)code;
    request->fd = fd;
    request->addr = (unsigned long)bytes;
    request->len = count;
    request->off = (unsigned long)at;
    array[index] = index;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    need(direct(426, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, 0) == 1, "it is not submitted");
    unsigned* const head = (unsigned*)(ring->completions + ring->of.cq_off.head);
    struct io_uring_cqe* const all =
        (struct io_uring_cqe*)(ring->completions + ring->of.cq_off.cqes);
    const int result = all[*head % ring->of.cq_entries].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static unsigned char bytes[4 * piece];

static void say_file(int fd) {
    const long count = pread(fd, bytes, sizeof bytes, 0);
    printf("%ld bytes %lx\n", count, sum_of(bytes, (size_t)count));
}

static void ring(void) {
    struct ring ring = make_ring();
    const int fd = open_new("file");
    for (unsigned i = 0; i < 3; ++i) {
        fill(bytes, piece, (size_t)i * piece, i);
        need(pwrite(fd, bytes, piece, (off_t)i * piece) == piece, "write");
    }
    fill(bytes, piece, 0, 7);
    printf("written %d\n", done(&ring, IORING_OP_WRITE, fd, bytes, piece, piece / 2));
    need(pwrite(fd, "text", 4, piece) == 4, "write");
    printf("written %d\n", done(&ring, IORING_OP_WRITE, fd, bytes, piece, 3L * piece));
    memset(bytes, 0, sizeof bytes);
    const int got = done(&ring, IORING_OP_READ, fd, bytes, 4 * piece, 0);
    printf("read %d %lx\n", got, sum_of(bytes, (size_t)got));
    printf("synced %d\n", done(&ring, IORING_OP_FSYNC, fd, NULL, 0, 0));
    say_file(fd);
}

static void leases(void) {
    int fd = open_new("file");
    fill(bytes, 4 * piece, 0, 3);
    need(write(fd, bytes, 4 * piece) == 4 * piece, "write");
    say("a lease of a file that is written", fcntl(fd, F_SETLEASE, F_RDLCK));
    close(fd);
    fd = open("file", O_RDONLY);
    say("a lease", fcntl(fd, F_SETLEASE, F_RDLCK));
    say("it is", fcntl(fd, F_GETLEASE));
    signal(SIGIO, SIG_IGN);
    say("another opens it", open("file", O_WRONLY | O_NONBLOCK) < 0 ? -1 : 0);
    say("given back", fcntl(fd, F_SETLEASE, F_UNLCK));
    say_file(fd);
}

static void spawned(void) {
    char* const words[] = {"sh", "-c", "cat; echo to standard error >&2; echo to three >&3", NULL};
    char* const nothing[] = {NULL};
    posix_spawn_file_actions_t actions;
    const int fd = open_new("file");
    fill(bytes, 4 * piece, 0, 5);
    need(write(fd, bytes, 4 * piece) == 4 * piece, "write");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "file", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "copy", O_WRONLY | O_CREAT | O_TRUNC, 0640);
    posix_spawn_file_actions_addopen(&actions, 2, "errors", O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, fd, 3);
    for (int i = 0; i < 2; ++i) {
        pid_t child = 0;
        int status = 0;
        need(posix_spawn(&child, "/bin/sh", &actions, NULL, words, nothing) == 0, "spawn");
        need(waitpid(child, &status, 0) == child && status == 0, "its status");
        say("at", lseek(fd, 0, SEEK_CUR));
    }
    say_file(fd);
}

int main(int count, char** words) {
    static const struct test_case cases[] = {
        {"ring", ring}, {"leases", leases}, {"spawned", spawned}};
    return run_named(count, words, cases, sizeof cases / sizeof *cases);
}
