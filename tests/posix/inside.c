/* Functions of libc that open, look at, read or write files inside; one case after the other; says
 * what each returns. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fts.h>
#include <ftw.h>
#include <mntent.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utmp.h>
#include <wordexp.h>

int __dprintf_chk(int fd, int checks, const char* format, ...);
int __vdprintf_chk(int fd, int checks, const char* format, va_list rest);

static int by_list(int fd, int checks, const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    const int done =
        checks < 0 ? vdprintf(fd, format, rest) : __vdprintf_chk(fd, checks, format, rest);
    va_end(rest);
    return done;
}

static void show(const char* name) {
    char text[400];
    FILE* const stream = fopen(name, "r");
    need(stream != NULL, name);
    while (fgets(text, sizeof text, stream) != NULL) {
        printf("%s: %s", name, text);
    }
    fclose(stream);
}

static void printed(void) {
    const int fd = open_new("log");
    say("write", write(fd, "first\n", 6));
    say("dprintf", dprintf(fd, "second %d\n", 2));
    say("write", write(fd, "third\n", 6));
    errno = ENOENT;
    say("vdprintf", by_list(fd, -1, "fourth %s %m\n", "line"));
    say("__dprintf_chk", __dprintf_chk(fd, 1, "fifth %5.2f\n", 5.0));
    say("write", write(fd, "sixth\n", 6));
    say("__vdprintf_chk", by_list(fd, 1, "seventh %c\n", 'c'));
    say("dprintf", dprintf(fd, "%s", ""));
    say("dprintf", dprintf(fd, "%0100000d\n", 8));
    say("write", write(fd, "last\n", 5));
    say("size", lseek(fd, 0, SEEK_END));
    const int again = dup(fd);
    say("dprintf", dprintf(again, "of a double\n"));
    say("write", write(fd, "and behind it\n", 14));
    const int reading = open("log", O_RDONLY);
    say("dprintf where nothing may be written", dprintf(reading, "no\n"));
    const int appended = open("log", O_WRONLY | O_APPEND);
    say("dprintf at the end", dprintf(appended, "appended\n"));
    close(fd);
    say("dprintf where nothing is open", dprintf(fd, "no\n"));
}

static void traced(void) {
    const int fd = open_new("crash");
    say("write", write(fd, "begin\n", 6));
    void* frames[8];
    const int count = backtrace(frames, 8);
    backtrace_symbols_fd(frames, count, fd);
    say("write", write(fd, "end\n", 4));
    close(fd);
    FILE* const stream = fopen("crash", "r");
    char line[400];
    int lines = 0;
    while (fgets(line, sizeof line, stream) != NULL) {
        const int known = lines == 0 || lines == count + 1;
        printf("%s", known ? line : "frame\n");
        ++lines;
    }
    fclose(stream);
    const int emptied = open_new("crash");  // addresses are others each time
    say("write", write(emptied, "kept\n", 5));
}

static jmp_buf out;
static int depth;

static int told(const char* path, const struct stat* found, int kind, struct FTW* place) {
    if (kind == FTW_F) {
        printf("%s: %ld at level %d\n", path, (long)found->st_size, place->level);
    }
    return 0;
}

static int leaves(const char* path, const struct stat* found, int kind, struct FTW* place) {
    (void)path, (void)found, (void)kind, (void)place;
    longjmp(out, 1);
}

static int told_simply(const char* path, const struct stat* found, int kind) {
    if (kind == FTW_F) {
        printf("%s: %ld\n", path, (long)found->st_size);
    }
    return 0;
}

/* Walks through the same tree, and leaves that by longjmp. */
static int nested(const char* path, const struct stat* found, int kind, struct FTW* place) {
    if (kind == FTW_D && ++depth == 1) {
        say("nftw in nftw", nftw("tree", told, 4, FTW_PHYS));
        if (setjmp(out) == 0) {
            nftw("tree", leaves, 4, FTW_PHYS);
        }
        say("ftw in nftw", ftw("tree", told_simply, 4));
    }
    return told(path, found, kind, place);
}

static int by_name(const FTSENT** a, const FTSENT** b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void walk_by_fts(int options, const char* what) {
    char* names[] = {"tree", NULL};
    FTS* const tree = fts_open(names, options, by_name);
    need(tree != NULL, "fts_open");
    for (FTSENT* one = fts_read(tree); one != NULL; one = fts_read(tree)) {
        if (one->fts_info == FTS_F) {
            printf("%s %s: %ld\n", what, one->fts_path, (long)one->fts_statp->st_size);
        }
        if (one->fts_info == FTS_D) {
            for (FTSENT* each = fts_children(tree, 0); each != NULL; each = each->fts_link) {
                if (each->fts_info == FTS_F) {
                    printf("%s child %s: %ld\n", what, each->fts_name,
                           (long)each->fts_statp->st_size);
                }
            }
        }
    }
    fts_close(tree);
}

static void walked(void) {
    static unsigned char bytes[100000];
    need(mkdir("tree", 0755) == 0 && mkdir("tree/below", 0755) == 0, "mkdir");
    const char* const names[] = {"tree/below/file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const int fd = open_new(names[i]);
        fill(bytes, sizeof bytes, 0, (unsigned)i);
        say("write", write(fd, bytes, sizeof bytes));
        close(fd);
    }
    need(symlink("file", "tree/below/link") == 0, "symlink");
    say("nftw", nftw("tree", told, 4, FTW_PHYS));
    say("nftw with links", nftw("tree/below/link", told, 4, 0));
    say("nftw in folders", nftw("tree", told, 4, FTW_PHYS | FTW_CHDIR));
    say("nftw of a file", nftw("tree/below/file", told, 4, FTW_PHYS));
    say("nftw of none", nftw("none", told, 4, FTW_PHYS));
    say("nftw by depth", nftw("tree", nested, 4, FTW_PHYS | FTW_DEPTH));
    say("ftw", ftw("tree/below/file", told_simply, 4));
    walk_by_fts(FTS_PHYSICAL | FTS_NOCHDIR, "fts");
    walk_by_fts(FTS_PHYSICAL, "fts in folders");
    walk_by_fts(FTS_LOGICAL, "fts by links");
}

static void mounted(void) {
    const int fd = open_new("table");
    const char line[] = "/dev/a /a ext4 rw 0 1\n";
    say("write", write(fd, line, sizeof line - 1));
    FILE* const reading = setmntent("table", "r");
    need(reading != NULL, "setmntent");
    for (struct mntent* one = getmntent(reading); one != NULL; one = getmntent(reading)) {
        printf("%s on %s\n", one->mnt_fsname, one->mnt_dir);
    }
    say("endmntent", endmntent(reading));
    FILE* const more = setmntent("table", "a+");
    const struct mntent entry = {"/dev/b", "/b", "xfs", "ro", 0, 2};
    say("addmntent", addmntent(more, &entry));
    say("endmntent", endmntent(more));
    show("table");
    say("write", write(fd, line, 5));
    show("table");
    FILE* const emptied = setmntent("table", "w");
    say("endmntent", endmntent(emptied));
    say("size", lseek(fd, 0, SEEK_END));
    say("setmntent", setmntent("none", "r") == NULL ? -1 : 0);
}

extern char** environ;

static void spawn(posix_spawn_file_actions_t* actions, const char* command) {
    char* const words[] = {"sh", "-c", (char*)command, NULL};
    pid_t child = 0;
    say("posix_spawn", posix_spawn(&child, "/bin/sh", actions, NULL, words, environ));
    int status = 0;
    waitpid(child, &status, 0);
    say("status", status);
}

/* The child's file has deposits when it is opened: they came back over what the child wrote. */
static void spawned(void) {
    const int fd = open("said", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
    say("write", write(fd, "much longer than what is said then\n", 35));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    say("addopen",
        posix_spawn_file_actions_addopen(&actions, 1, "said", O_WRONLY | O_CREAT | O_TRUNC, 0644));
    spawn(&actions, "echo short");
    posix_spawn_file_actions_destroy(&actions);
    show("said");
    say("pwrite", pwrite(fd, "S", 1, 0));
    show("said");
    need(mkdir("other", 0755) == 0, "mkdir");
    const int below = open("other/said", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    say("write", write(below, "what the child reads\n", 21));
    posix_spawn_file_actions_init(&actions);
    say("addchdir", posix_spawn_file_actions_addchdir_np(&actions, "other"));
    say("addopen", posix_spawn_file_actions_addopen(&actions, 0, "said", O_RDONLY, 0));
    spawn(&actions, "read -r line; echo \"$line\" > ../heard");
    posix_spawn_file_actions_destroy(&actions);
    show("heard");
}

static void expanded(void) {
    const int fd = open_new("words");
    say("write", write(fd, "one ", 4));
    char command[100];
    snprintf(command, sizeof command, "$(echo two >&%d; echo three)", fd);
    wordexp_t words;
    say("wordexp", wordexp(command, &words, 0));
    say("words", (long)words.we_wordc);
    wordfree(&words);
    say("write", write(fd, "four\n", 5));
    show("words");
}

static void logged(void) {
    const int fd = open_new("wtmp");
    struct utmp entry = {.ut_type = USER_PROCESS, .ut_pid = 1};
    say("write", write(fd, &entry, sizeof entry));
    entry.ut_pid = 2;
    updwtmp("wtmp", &entry);
    entry.ut_pid = 3;
    say("pwrite", pwrite(fd, &entry, sizeof entry, 2 * (off_t)sizeof entry));
    for (int i = 0; i < 3; ++i) {
        need(pread(fd, &entry, sizeof entry, i * (off_t)sizeof entry) > 0, "pread");
        say("entry of", entry.ut_pid);
    }
}

static void in_other_process(void (*act)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    int status = 0;
    need(waitpid(child, &status, 0) == child && status == 0, "another process");
}

/* A name outside of the pool's folders, which says nothing of them. */
static char other_name[4096];

static void name_other(void) {
    need(getcwd(other_name, sizeof other_name - 16) != NULL, "getcwd");
    strcpy(strrchr(other_name, '/'), "/other_name");
}

static void write_and_link(void) {
    const int fd = open_new("wtmp");
    const struct utmp entry = {.ut_type = USER_PROCESS, .ut_pid = 1};
    say("write", write(fd, &entry, sizeof entry));
    need(link("wtmp", other_name) == 0, "link");
}

static int told_size(const char* path, const struct stat* found, int kind, struct FTW* place) {
    (void)path, (void)kind, (void)place;
    printf("%ld\n", (long)found->st_size);
    return 0;
}

/* This process has not opened a file of the pool before. */
static void linked(void) {
    name_other();
    in_other_process(write_and_link);
    struct utmp entry = {.ut_type = USER_PROCESS, .ut_pid = 2};
    updwtmp(other_name, &entry);
    const int fd = open("wtmp", O_RDONLY);
    for (int i = 0; i < 2; ++i) {
        need(pread(fd, &entry, sizeof entry, i * (off_t)sizeof entry) > 0, "pread");
        say("entry of", entry.ut_pid);
    }
    need(unlink(other_name) == 0, "unlink");
}

static void linked_and_walked(void) {
    name_other();
    in_other_process(write_and_link);
    say("nftw", nftw(other_name, told_size, 4, FTW_PHYS));
    need(unlink(other_name) == 0, "unlink");
}

static void write_below(void) {
    need(mkdir("other", 0755) == 0, "mkdir");
    const int fd = open_new("other/said");
    need(write(fd, "what the child reads\n", 21) == 21, "write");
}

/* This process cannot map the pool's memory, and what it starts does not know of the descriptor. */
static void spawned_outside(void) {
    in_other_process(write_below);
    const struct rlimit limit = {.rlim_cur = 1UL << 30, .rlim_max = 1UL << 30};
    need(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    need(open("other/said", O_RDONLY | O_PATH) >= 0 && open("own", O_CREAT | O_RDWR, 0644) >= 0,
         "open");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    say("addchdir", posix_spawn_file_actions_addchdir_np(&actions, "other"));
    say("addopen", posix_spawn_file_actions_addopen(&actions, 5, "said", O_RDONLY, 0));
    spawn(&actions, "read -r line <&5; echo \"heard: $line\"");
    posix_spawn_file_actions_destroy(&actions);
}

static const struct test_case cases[] = {
    {"printed", printed},
    {"traced", traced},
    {"walked", walked},
    {"mounted", mounted},
    {"spawned", spawned},
    {"expanded", expanded},
    {"logged", logged},
    {"linked", linked},
    {"linked_and_walked", linked_and_walked},
    {"spawned_outside", spawned_outside},
};

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
