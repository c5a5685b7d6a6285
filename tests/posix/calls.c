// Calls on descriptors, one case after the other; says what each returns.
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <limits.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

static unsigned char out[1 << 20];
static unsigned char in[1 << 20];

static void doubled(void) {
    const int a = open_new("doubled");
    const int b = dup(a);
    const int c = fcntl(a, F_DUPFD, 100);
    const int d = fcntl(a, F_DUPFD_CLOEXEC, 50);
    say("c", c);
    say("d", d);
    say("dup2", dup2(a, 77));
    say("dup2 itself", dup2(a, a));
    say("dup3 itself", dup3(a, a, 0));
    say("dup3", dup3(b, 78, O_CLOEXEC));
    say("write", write(a, "one ", 4));
    say("write", write(b, "two ", 4));
    say("write", write(c, "three ", 6));
    say("lseek", lseek(d, 0, SEEK_CUR));
    say("close", close(a));
    say("close", close(a));
    say("write", write(a, "x", 1));
    say("write", write(77, "four ", 5));
    say("lseek", lseek(78, 4, SEEK_SET));
    say("read", read(b, in, 5));
    say_bytes("read", in, 5);
    say("dup2 over", dup2(open_new("doubled.2"), 77));
    say("write", write(77, "other", 5));
    say("lseek", lseek(b, 0, SEEK_END));
    say("close_range", close_range((unsigned)b, 200, 0));
    say("write", write(78, "x", 1));
}

static void vectors(void) {
    const int fd = open_new("vectors");
    fill(out, sizeof out, 0, 1);
    struct iovec pieces[5] = {{out, 10}, {NULL, 0}, {out + 10, 100000}, {out, 1}, {out + 7, 4096}};
    say("writev", writev(fd, pieces, 5));
    say("pwritev", pwritev(fd, pieces, 5, 70000));
    say("pwritev2", pwritev2(fd, pieces, 3, 300000, 0));
    say("pwritev2 here", pwritev2(fd, pieces, 1, -1, 0));
    say("pwritev2 dsync", pwritev2(fd, pieces, 1, 5, RWF_DSYNC));
    say("writev none", writev(fd, pieces, 0));
    const volatile int wrong_counts[] = {IOV_MAX + 1, -1};  // the compiler would refuse
    say("writev many", writev(fd, pieces, wrong_counts[0]));
    say("writev less", writev(fd, pieces, wrong_counts[1]));
    say("pwritev before", pwritev(fd, pieces, 1, -5));
    say("pwritev2 unknown", pwritev2(fd, pieces, 1, 0, 1 << 30));
    struct iovec rooms[3] = {{in, 3}, {in + 3, 200000}, {in + 200003, 600000}};
    say("lseek", lseek(fd, 11, SEEK_SET));
    const long got = say("readv", readv(fd, rooms, 3));
    say_bytes("readv", in, got);
    const long there = say("preadv", preadv(fd, rooms, 2, 69990));
    say_bytes("preadv", in, there);
    say("preadv2", preadv2(fd, rooms, 2, -1, 0));
    say("preadv behind", preadv(fd, rooms, 2, 1 << 30));
    close(fd);
}

// Half of what is read is in the file system, half is deposited.
static void half(void) {
    int fd = open_new("half");
    fill(out, sizeof out, 0, 2);
    need(write(fd, out, 500000) == 500000 && fsync(fd) == 0, "write");
    fill(out, sizeof out, 0, 3);
    for (int i = 0; i < 50; ++i) {
        need(pwrite(fd, out + i * 10000, 3333, i * 10000 + 1) == 3333, "pwrite");
    }
    need(pwrite(fd, out, 100, 600000) == 100, "pwrite");
    for (int i = 0; i < 20; ++i) {
        const long got = pread(fd, in, 40000 + (size_t)i * 1000, i * 30011);
        say_bytes("pread", in, got);
    }
    struct iovec rooms[3] = {{in, 9999}, {in + 9999, 4001}, {in + 14000, 700000}};
    say_bytes("preadv", in, preadv(fd, rooms, 3, 1234));
    say("truncate", ftruncate(fd, 123456));
    say_bytes("pread", in, pread(fd, in, sizeof in, 100000));
    say("truncate", ftruncate(fd, 654321));
    say_bytes("pread", in, pread(fd, in, sizeof in, 100000));
    close(fd);
    fd = open("half", O_RDWR | O_TRUNC);
    say("size", lseek(fd, 0, SEEK_END));
    say("pread", pread(fd, in, 10, 0));
    need(pwrite(fd, "new", 3, 10) == 3, "pwrite");
    const int other = open("half", O_WRONLY | O_TRUNC);
    say("size", lseek(fd, 0, SEEK_END));
    need(write(other, "newest", 6) == 6, "write");
    say_bytes("pread", in, pread(fd, in, 10, 0));
    int left = 0;
    say("FIONREAD", ioctl(fd, FIONREAD, &left));
    say("left", left);
    say("lseek", lseek(fd, 2, SEEK_SET));
    say("FIONREAD", ioctl(fd, FIONREAD, &left));
    say("left", left);
    say("FIONREAD to nowhere", ioctl(fd, FIONREAD, NULL));
    close(fd);
    close(other);
}

static void far(void) {
    const int fd = open_new("far");
    const off_t offsets[] = {0, 1L << 20, (1L << 32) - 3, 5L << 32, (5L << 32) + (1L << 21)};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
        fill(out, 100000, i, 4);
        say("pwrite", pwrite(fd, out, 100000, offsets[i]));
    }
    struct stat found;
    say("fstat", fstat(fd, &found));
    say("size", found.st_size);
    say("data", lseek(fd, 500000, SEEK_DATA));
    say("hole", lseek(fd, 500000, SEEK_HOLE));
    say("data", lseek(fd, 1L << 32, SEEK_DATA));
    say("hole behind", lseek(fd, 1L << 40, SEEK_HOLE));
    say("hole", lseek(fd, 5L << 32, SEEK_HOLE));
    say_bytes("pread", in, pread(fd, in, 300000, (1L << 32) - 100000));
    say("lseek too far", lseek(fd, LONG_MAX, SEEK_CUR));
    say("lseek back", lseek(fd, -1, SEEK_SET));
    say("lseek", lseek(fd, 1L << 33, SEEK_SET));
    say("write", write(fd, "here", 4));
    say("pwrite too far", pwrite(fd, "x", 1, LONG_MAX));
    say("pwrite further than the file system goes", pwrite(fd, "x", 1, LONG_MAX / 2) < 0);
    // The file is to be compared.
    say("ftruncate", ftruncate(fd, 3 << 20));
    say("ftruncate below", ftruncate(fd, -1));
    close(fd);
}

static void names(void) {
    int fd = open_new("name");
    need(write(fd, "first", 5) == 5, "write");
    say("rename", rename("name", "renamed"));
    int again = open_new("name");
    need(write(again, "second file", 11) == 11, "write");
    need(write(fd, " goes on", 8) == 8, "write");
    struct stat a;
    struct stat b;
    say("stat", stat("name", &a) + stat("renamed", &b));
    say("another", a.st_ino != b.st_ino);
    say("size", a.st_size);
    say("size", b.st_size);
    say("link", link("renamed", "linked"));
    say("unlink", unlink("renamed"));
    say("stat", stat("linked", &a));
    say("size", a.st_size);
    need(write(fd, " still", 6) == 6, "write");
    say("unlink", unlink("linked"));
    say("write", write(fd, " nameless", 9));
    say("lseek", lseek(fd, 3, SEEK_SET));
    say_bytes("read", in, read(fd, in, 100));
    say("fstat", fstat(fd, &a));
    say("links", (long)a.st_nlink);
    say("size", a.st_size);
    close(fd);
    for (int i = 0; i < 20; ++i) {  // the new file is another one, often of the same inode
        fd = open_new("again");
        say("size", lseek(fd, 0, SEEK_END));
        fill(out, 5000, 0, (unsigned)i);
        need(write(fd, out, (size_t)(5000 - i * 100)) == 5000 - i * 100, "write");
        close(fd);
        say("unlink", i == 19 ? 0 : unlink("again"));
    }
    say("rename over", rename("name", "again"));
    fd = open("again", O_RDONLY);
    say_bytes("read", in, read(fd, in, 100));
    close(fd);
    fd = open(".", O_TMPFILE | O_RDWR, 0600);
    say("tmpfile", fd >= 0);
    if (fd >= 0) {
        char name[64];
        say("write", write(fd, "no name yet", 11));
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        say("linkat", linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
        say("write", write(fd, " but now", 8));
        close(fd);
    }
    char temporary[] = "tempXXXXXX";
    fd = mkstemp(temporary);
    say("mkstemp", fd >= 0);
    say("write", write(fd, "temporary", 9));
    say("rename", rename(temporary, "no-temp"));
    close(fd);
}

static void forked(void) {
    const int fd = open_new("forked");
    for (int i = 0; i < 10; ++i) {
        char text[32];
        const int bytes = snprintf(text, sizeof text, "parent %d\n", i);
        need(write(fd, text, (size_t)bytes) == bytes, "write");
        const pid_t child = i % 3 == 2 ? vfork() : fork();
        if (child == 0 && i % 3 == 2) {
            execlp("true", "true", (char*)NULL);
            _exit(9);
        }
        if (child == 0) {
            const int bytes_of_child = snprintf(text, sizeof text, "child %d\n", i);
            const int ok = write(fd, text, (size_t)bytes_of_child) == bytes_of_child;
            const int own = open_new("forked.own");
            const int wrote = write(own, text, (size_t)bytes_of_child) == bytes_of_child;
            const int seen = pread(fd, in, 6, 0) == 6 && memcmp(in, "parent", 6) == 0;
            _exit(ok && wrote && seen ? 0 : 8);
        }
        int status = 0;
        waitpid(child, &status, 0);
        say("child", WEXITSTATUS(status));
    }
    const pid_t child = vfork();
    if (child == 0) {
        dup2(fd, 1);
        execlp("echo", "echo", "from a program", (char*)NULL);
        _exit(9);
    }
    waitpid(child, NULL, 0);
    say("write", write(fd, "the end", 7));
    say("lseek", lseek(fd, 0, SEEK_CUR));
    say("system", system("echo by system >> forked"));
    say("size", lseek(fd, 0, SEEK_END));
    close(fd);
}

// Each is written by a process that ends, made a program, and run at once.
static void programs(void) {
    const int from = open("/bin/true", O_RDONLY);
    const long bytes = read(from, out, sizeof out);
    need(bytes > 0, "/bin/true");
    for (int i = 0; i < 60; ++i) {
        pid_t child = fork();
        if (child == 0) {
            const int fd = open("program", O_CREAT | O_WRONLY | O_TRUNC, i % 2 == 0 ? 0644 : 0755);
            const int ok = write(fd, out, (size_t)bytes) == bytes && close(fd) == 0;
            _exit(ok && chmod("program", 0755) == 0 ? 0 : 8);
        }
        int status = 0;
        need(waitpid(child, &status, 0) == child && status == 0, "writer");
        child = fork();
        if (child == 0) {
            execl("./program", "./program", (char*)NULL);
            _exit(errno == ETXTBSY ? 7 : 9);
        }
        waitpid(child, &status, 0);
        say("ran", WEXITSTATUS(status));
        say("unlink", i == 59 ? 0 : unlink("program"));
    }
}

static int shared;
static void* thread(void* argument) {
    const long number = (long)argument;
    unsigned char piece[1000];
    const int own = open("threads", O_RDWR);
    for (int i = 0; i < 200; ++i) {
        const off_t at = ((off_t)i * 8 + number) * (off_t)sizeof piece;
        fill(piece, sizeof piece, (size_t)at, 5);
        need(pwrite(i % 2 == 0 ? shared : own, piece, sizeof piece, at) == sizeof piece, "pwrite");
        unsigned char back[sizeof piece];
        need(pread(i % 2 == 0 ? own : shared, back, sizeof back, at) == sizeof back &&
                 memcmp(piece, back, sizeof back) == 0,
             "pread");
        const int other = dup(own);
        close(other);
    }
    close(own);
    return NULL;
}

static void threads(void) {
    shared = open_new("threads");
    pthread_t all[8];
    for (long i = 0; i < 8; ++i) {
        need(pthread_create(&all[i], NULL, thread, (void*)i) == 0, "pthread_create");
    }
    for (int i = 0; i < 8; ++i) {
        pthread_join(all[i], NULL);
    }
    say_bytes("pread", in, pread(shared, in, sizeof in, 1000));
    // Appended by sharing one offset: nothing is lost and nothing overlaps.
    say("lseek", lseek(shared, 0, SEEK_END));
    close(shared);
}

static int signalled = -1;
static volatile sig_atomic_t handled;
static void handler(int number) {
    (void)number;
    char text[16];
    memset(text, 'a' + handled % 26, sizeof text);
    if (pwrite(signalled, text, sizeof text, (off_t)handled * (off_t)sizeof text) ==
        (ssize_t)sizeof text) {
        ++handled;
    }
}

static void signals(void) {
    signalled = open_new("signals");
    const int fd = open_new("signals.main");
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 500 && kill(parent, SIGUSR1) == 0; ++i) {
            usleep(20);
        }
        _exit(0);
    }
    int i = 0;
    for (; waitpid(child, NULL, WNOHANG) != child; ++i) {
        fill(out, 3000, (size_t)i, 6);
        need(pwrite(fd, out, 3000, (i % 100) * 3000L) == 3000, "pwrite");
        need(pread(fd, in, 3000, (i % 100) * 3000L) == 3000 && memcmp(in, out, 3000) == 0, "pread");
        struct stat found;
        need(fstat(signalled, &found) == 0 && stat("signals", &found) == 0, "stat");
    }
    const off_t size = lseek(signalled, 0, SEEK_END);
    say("all are there", size == (off_t)handled * 16 && handled > 0);
    for (off_t at = 0; at < size; at += 16) {
        need(pread(signalled, in, 16, at) == 16 && in[0] == 'a' + at / 16 % 26 && in[15] == in[0],
             "what handlers wrote");
    }
    say("ftruncate", ftruncate(signalled, 16));
    say("ftruncate", ftruncate(fd, 0));
    close(signalled);
    close(fd);
}

static void wrong(void) {
    const int fd = open_new("wrong");
    unsigned char* const pages =
        mmap(NULL, 5 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(pages != MAP_FAILED && mprotect(pages + 65536, 65536, PROT_NONE) == 0 &&
             munmap(pages + 3 * 65536, 65536) == 0 &&
             mprotect(pages + 4 * 65536, 65536, PROT_READ) == 0,
         "mmap");
    void* const bad[] = {NULL,          (void*)16,         (void*)4096,
                         pages + 65536, pages + 3 * 65536, (void*)(1UL << 62),
                         (void*)-1UL,   (void*)-4096UL};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        say("write", write(fd, bad[i], 100));
        say("pwrite", pwrite(fd, bad[i], 1 << 20, 10));
        struct iovec pieces[2] = {{out, 5}, {bad[i], 100}};
        say("pwritev's second", pwritev(fd, pieces, 2, 0));
        say("writev", writev(fd, bad[i], 2));
        struct stat* const found = bad[i];
        say("fstat", fstat(fd, found));
        say("stat", stat("wrong", found));
    }
    say("half of it", pwrite(fd, pages + 60000, 65536, 0));
    say("none of it", write(fd, out, 0));
    need(write(fd, out, 50000) == 50000, "write");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        say("read", read(fd, bad[i], 100));
        say("pread", pread(fd, bad[i], 10000, 10));
    }
    say("read only", pread(fd, pages + 4 * 65536, 100, 0));
    say("written", pwrite(fd, pages + 4 * 65536, 100, 0));
    need(mprotect(pages, 65536, PROT_NONE) == 0, "mprotect");
    say("protected since", pwrite(fd, pages, 100, 0));
    need(munmap(pages + 2 * 65536, 65536) == 0, "munmap");
    say("unmapped since", pwrite(fd, pages + 2 * 65536, 100, 0));
    const int reading = open("wrong", O_RDONLY);
    say("write to what is read", write(reading, "x", 1));
    say("truncate what is read", ftruncate(reading, 0));
    const int writing = open("wrong", O_WRONLY);
    say("read what is written", read(writing, in, 1));
    say("open a folder", open(".", O_RDWR));
    say("open none", open("none", O_RDWR));
    say("open exclusively", open("wrong", O_CREAT | O_EXCL | O_RDWR, 0644));
    say("open nothing", open((const char*)bad[1], O_RDWR));
    say("lseek", lseek(fd, 0, 77));
    say("pread before", pread(fd, in, 1, -1));
    close(reading);
    close(writing);
    close(fd);
}

static void appended(void) {
    const int a = open("appended", O_CREAT | O_RDWR | O_APPEND, 0644);
    const int b = open("appended", O_RDWR | O_APPEND);
    const int c = open("appended", O_RDWR);
    for (int i = 0; i < 100; ++i) {
        need(write(i % 2 == 0 ? a : b, "0123456789", (size_t)(i % 10)) == i % 10, "write");
    }
    say("lseek", lseek(a, 0, SEEK_CUR));
    say("pwrite", pwrite(c, "over", 4, 0));
    say("write", write(c, "and", 3));
    say("fcntl", fcntl(c, F_SETFL, O_APPEND));
    say("write", write(c, "end", 3));
    say("fcntl", fcntl(c, F_SETFL, 0));
    say("write", write(c, "after", 5));
    say_bytes("pread", in, pread(c, in, 1000, 0));
    const int plain = open_new("appended.later");
    need(write(plain, "begin ", 6) == 6, "write");
    const int late = open("appended.later", O_WRONLY | O_APPEND);
    need(write(late, "appended ", 9) == 9, "write");
    need(write(plain, "here", 4) == 4, "write");
    say_bytes("pread", in, pread(plain, in, 100, 0));
    close(a);
    close(b);
    close(c);
    close(plain);
    close(late);
}

static void moved(void) {
    const int from = open_new("moved.from");
    const int to = open_new("moved.to");
    fill(out, 300000, 0, 8);
    need(write(from, out, 300000) == 300000, "write");
    off_t at = 1000;
    say("sendfile", sendfile(to, from, &at, 50000));
    say("at", at);
    say("lseek", lseek(from, 2000, SEEK_SET));
    say("sendfile here", sendfile(to, from, NULL, 5000));
    say("lseek", lseek(from, 0, SEEK_CUR));
    say("write", write(to, "between", 7));
    at = 100000;
    off_t there = 200000;
    say("copy_file_range", copy_file_range(from, &at, to, &there, 70000, 0));
    int ends[2];
    need(pipe(ends) == 0, "pipe");
    at = 5;
    say("splice", splice(from, &at, ends[1], NULL, 3000, 0));
    there = 300000;
    say("splice", splice(ends[0], NULL, to, &there, 3000, 0));
    say("fallocate", fallocate(from, FALLOC_FL_KEEP_SIZE, 0, 500000));
    say("punch", fallocate(from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192));
    say("zero", fallocate(from, FALLOC_FL_ZERO_RANGE, 100000, 1000));
    say_bytes("pread", in, pread(from, in, sizeof in, 0));
    say_bytes("pread", in, pread(to, in, sizeof in, 0));
    unsigned char* const mapped = mmap(NULL, 300000, PROT_READ | PROT_WRITE, MAP_SHARED, from, 0);
    need(mapped != MAP_FAILED, "mmap");
    mapped[12345] = 1;
    say("pwrite", pwrite(from, "seen", 4, 20000));
    say("mapped", memcmp(mapped + 20000, "seen", 4));
    say_bytes("pread", in, pread(from, in, 20000, 0));
    say("munmap", munmap(mapped, 300000));
    close(from);
    close(to);
    FILE* const stream = fopen("moved.stream", "w+");
    for (int i = 0; i < 1000; ++i) {
        fprintf(stream, "line %d\n", i);
    }
    fseek(stream, 100, SEEK_SET);
    fputs("over", stream);
    fflush(stream);
    const int fd = open("moved.stream", O_RDWR);
    say_bytes("pread", in, pread(fd, in, sizeof in, 0));
    say("pwrite", pwrite(fd, "both", 4, 200));
    fseek(stream, 200, SEEK_SET);
    say("fgetc", fgetc(stream));
    fclose(stream);
    close(fd);
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {
        {"doubled", doubled}, {"vectors", vectors},   {"half", half},       {"far", far},
        {"names", names},     {"forked", forked},     {"threads", threads}, {"signals", signals},
        {"wrong", wrong},     {"appended", appended}, {"moved", moved},     {"programs", programs}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
