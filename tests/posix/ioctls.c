/* ioctl of a file that has just been written: requests that punch, allocate and set to zero, that
 * ask where bytes are, that compare files, and some that mean nothing to a file. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

/* struct space_resv of the kernel's include/linux/falloc.h, of which libc has none. */
struct space {
    short type, whence;
    long long start, bytes;
    int system;
    unsigned process;
    int spare[4];
};
enum { length = 100000, begin = 20000, count = 50000 };

static unsigned char bytes[length];

static const struct {
    const char* name;
    unsigned long request;
} requests[] = {
    {"RESVSP", _IOW('X', 40, struct space)},     {"UNRESVSP", _IOW('X', 41, struct space)},
    {"RESVSP64", _IOW('X', 42, struct space)},   {"UNRESVSP64", _IOW('X', 43, struct space)},
    {"ZERO_RANGE", _IOW('X', 57, struct space)},
};
enum { requests_count = sizeof requests / sizeof requests[0] };

static int written(const char* name) {
    const int fd = open_new(name);
    fill(bytes, sizeof bytes, 0, 3);
    need(write(fd, bytes, length) == length, "write");
    return fd;
}

static void say_content(const char* what, int fd) {
    say_bytes(what, bytes, pread(fd, bytes, length, 0));
}

static void ranges_from(short whence, long long start) {
    for (unsigned i = 0; i < requests_count; ++i) {
        const int fd = written(requests[i].name);
        lseek(fd, begin, SEEK_SET);
        struct space space = {.whence = whence, .start = start, .bytes = count};
        say(requests[i].name, ioctl(fd, requests[i].request, &space));
        say("offset", lseek(fd, 0, SEEK_CUR));
        say_content("at once", fd);
        say("more", pwrite(fd, bytes, 100, begin + 1000));
        close(fd);
        const int again = open(requests[i].name, O_RDONLY);
        say_content("again", again);
        close(again);
    }
}

static void ranges(void) { ranges_from(SEEK_SET, begin); }
static void relative(void) { ranges_from(SEEK_CUR, 0); }

/* Blocks of the file are in the pool's memory, since it is read in order. */
static void read_ahead(void) {
    enum { blocks = 64, block = 1 << 20 };
    static unsigned char all[block];
    int fd = open_new("read");
    for (unsigned i = 0; i < blocks; ++i) {
        fill(all, block, 0, i);
        need(write(fd, all, block) == block, "write");
    }
    fsync(fd);
    close(fd);
    fd = open("read", O_RDWR);
    for (unsigned i = 0; i < blocks / 2; ++i) {
        need(read(fd, all, block) == block, "read");
    }
    struct space space = {.whence = SEEK_SET, .start = 0, .bytes = (long long)blocks * block};
    say("ZERO_RANGE", ioctl(fd, requests[4].request, &space));
    for (unsigned i = blocks / 2; i < blocks; ++i) {
        need(read(fd, all, block) == block, "read");
        say_bytes("behind it", all, block);
    }
}

static void alike(void) {
    const int one = written("one");
    const int other = written("other");
    need(pwrite(other, "x", 1, 5000) == 1, "pwrite");
    struct {
        struct file_dedupe_range range;
        struct file_dedupe_range_info info;
    } compared = {.range = {.src_length = length, .dest_count = 1}, .info = {.dest_fd = other}};
    say("compared", ioctl(one, FIDEDUPERANGE, &compared));
    say("status", compared.info.status);
    say_content("other", other);
    say("no memory", ioctl(one, FIDEDUPERANGE, NULL));
}

static void harmless(void) {
    const int fd = written("one");
    int number = 0;
    char room[256] = {0};
    say("TCGETS", ioctl(fd, TCGETS, room));
    say("TIOCGWINSZ", ioctl(fd, TIOCGWINSZ, room));
    say("FIGETBSZ", ioctl(fd, FIGETBSZ, &number));
    say("FIOCLEX", ioctl(fd, FIOCLEX, NULL));
    say("FD_CLOEXEC", fcntl(fd, F_GETFD));
    say("nothing that there is", ioctl(fd, _IOW('?', 77, int), &number));
    say_content("still there", fd);
}

/* Flags of preadv2 and pwritev2: those that there are, one that is new, and one that never was. */
static void flags(void) {
    static const int all[] = {RWF_HIPRI, RWF_DSYNC, RWF_SYNC, 0x80, 0x40000000};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i) {
        char name[32];
        snprintf(name, sizeof name, "flag.%x", (unsigned)all[i]);
        const int fd = written(name);
        const struct iovec piece = {bytes, 1000};
        say(name, pwritev2(fd, &piece, 1, 500, all[i]));
        say("read", preadv2(fd, &piece, 1, 500, all[i]));
        say_content("in all", fd);
        close(fd);
    }
}

int main(int argc, char** argv) {
    static const struct test_case cases[] = {
        {"ranges", ranges}, {"relative", relative}, {"read_ahead", read_ahead},
        {"alike", alike},   {"harmless", harmless}, {"flags", flags},
    };
    return run_named(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
