// Calls that are not captured, for tests/suite/mount_ways_test.py: those of a child of clone, and
// those of programs that take no preloaded library.
//
//   ways clone | read | append
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY

int answer(void);
int answer(void) { return 42; }

#else

static int fd;

static void put(const char* text) {
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        _exit(3);
    }
}

static int child(void* nothing) {
    (void)nothing;
    put("child 1\n");
    put("child 2\n");
    return 0;
}

// A child of libc's clone(), which has the parent's descriptions.
static int clones(void) {
    static char zeros[1 << 20];
    char text[100] = "";
    fd = open("cloned", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros) {
        return 3;
    }
    put("parent 1\n");
    char* const stack = malloc(1 << 20);
    const pid_t process = clone(child, stack + (1 << 20), SIGCHLD, NULL);
    int status = 1;
    if (process < 0 || waitpid(process, &status, 0) != process || status != 0) {
        return 3;
    }
    put("parent 2\n");
    const long at = (long)lseek(fd, 0, SEEK_CUR);
    if (pread(fd, text, sizeof text - 1, sizeof zeros) < 0) {
        return 3;
    }
    printf("offset %ld\n%s", at, text);
    return 0;
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "clone") == 0) {
        return clones();
    }
    char text[100] = "";
    if (strcmp(what, "append") == 0) {
        fd = open("f", O_WRONLY | O_APPEND);
        put("appended ");
        return 0;
    }
    fd = open("f", O_RDONLY);
    if (pread(fd, text, sizeof text - 1, 1 << 20) < 0) {
        return 3;
    }
    printf("%s at %ld\n", text, (long)lseek(fd, 0, SEEK_END));
    return 0;
}

#endif
