/* A program that knows which of its output may wait: it sets the window of one file, and switches
 * the pool off and on again for it.   cc -I<prefix>/include pool_switch.c && ./a.out FILE
 *
 * It runs anywhere: where there is no pool, the kernel says ENOTTY, and the file is a plain one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <forebay_pool.h>

static int adjust(int fd, struct forebay_pool_setting setting, const char* what) {
    if (ioctl(fd, FOREBAY_POOL_SET, &setting) == 0) {
        printf("%s: done\n", what);
        return 0;
    }
    printf("%s: %s\n", what, errno == ENOTTY ? "there is no pool" : strerror(errno));
    return errno == ENOTTY ? 0 : 1;
}

static void tell(int fd) {
    struct forebay_pool_state state;
    if (ioctl(fd, FOREBAY_POOL_GET, &state) == 0) {
        printf("pool %s, window %llu, taken %llu, waiting %llu\n",
               state.mode == FOREBAY_POOL_ON ? "on" : "off", (unsigned long long)state.window,
               (unsigned long long)state.taken, (unsigned long long)state.waiting);
    }
}

int main(int argc, char** argv) {
    const int fd = open(argc > 1 ? argv[1] : "output", O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (fd < 0) {
        perror("open");
        return 1;
    }
    int wrong = adjust(fd, (struct forebay_pool_setting){.window = 64 << 20}, "window");
    wrong += write(fd, "taken by the pool\n", 18) != 18;
    tell(fd);
    wrong += adjust(fd, (struct forebay_pool_setting){.mode = FOREBAY_POOL_OFF}, "off");
    wrong += write(fd, "written directly\n", 17) != 17;
    tell(fd);
    wrong += adjust(fd, (struct forebay_pool_setting){.mode = FOREBAY_POOL_ON}, "on");
    wrong += write(fd, "taken again\n", 12) != 12;
    tell(fd);
    wrong += adjust(fd, (struct forebay_pool_setting){.durability = FOREBAY_POOL_GLOBAL}, "global");
    wrong += write(fd, "with the file system\n", 21) != 21;
    tell(fd);
    return close(fd) == 0 && wrong == 0 ? 0 : 1;
}
