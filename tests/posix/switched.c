// The effects of a switch on others who have the file open, and the switches that are refused.
#define _GNU_SOURCE
#include "common.h"

#include <forebay_pool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int set(int fd, unsigned mode, unsigned durability) {
    struct forebay_pool_setting setting = {.mode = mode, .durability = durability};
    return ioctl(fd, FOREBAY_POOL_SET, &setting) == 0 ? 0 : errno;
}

static unsigned mode_of(int fd) {
    struct forebay_pool_state state;
    return ioctl(fd, FOREBAY_POOL_GET, &state) == 0 ? state.mode : 99;
}

static void expect(int holds, const char* what) {
    if (!holds) {
        printf("not as it should be: %s\n", what);
        exit(1);
    }
}

int main(void) {
    const int fd = open_new("file");
    const int reading = open("file", O_RDONLY);
    const int other = open("file", O_RDWR);
    char text[20] = "";
    expect(write(fd, "before", 6) == 6, "write");
    expect(set(fd, 7, 0) == EINVAL && set(fd, 0, 7) == EINVAL, "unknown");
    expect(set(fd, FOREBAY_POOL_ON, FOREBAY_POOL_GLOBAL) == EINVAL, "both");
    expect(set(reading, FOREBAY_POOL_OFF, 0) == EBADF, "reading");
    expect(ioctl(fd, FOREBAY_POOL_SET, (void*)16) == -1 && errno == EFAULT, "memory");
    expect(ioctl(0, FOREBAY_POOL_GET, text) == -1 && errno == ENOTTY, "no file of the pool");
    expect(set(fd, FOREBAY_POOL_OFF, 0) == 0 && mode_of(reading) == FOREBAY_POOL_OFF, "off");
    expect(pwrite(other, "direct", 6, 0) == 6, "direct");
    expect(set(other, FOREBAY_POOL_ON, 0) == 0 && mode_of(fd) == FOREBAY_POOL_ON, "on");
    expect(pwrite(fd, "pooled", 6, 0) == 6, "pooled");
    expect(pread(reading, text, 6, 0) == 6 && memcmp(text, "pooled", 6) == 0, "read by another");
    void* const mapped = mmap(NULL, 6, PROT_READ, MAP_SHARED, other, 0);
    expect(mapped != MAP_FAILED, "mmap");
    expect(set(fd, FOREBAY_POOL_ON, 0) == EBUSY, "mapped");
    expect(munmap(mapped, 6) == 0 && set(fd, FOREBAY_POOL_ON, 0) == EBUSY, "was mapped");
    close(fd);
    close(other);
    close(reading);
    const int again = open_new("file");
    expect(set(again, FOREBAY_POOL_OFF, 0) == 0, "off again");
    expect(mmap(NULL, 6, PROT_READ, MAP_SHARED, again, 0) != MAP_FAILED, "mmap of what is off");
    expect(set(again, FOREBAY_POOL_ON, 0) == EBUSY, "mapped while it was off");
    const pid_t child = fork();
    if (child == 0) {
        _exit(write(again, "child", 5) == 5 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect(status == 0 && write(again, " and more", 9) == 9, "child");
    puts("ok");
    return 0;
}
