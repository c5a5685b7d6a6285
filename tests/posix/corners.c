/* Calls of which the pool learnt nothing, or too late: files without a name that children inherit,
 * descriptors that cannot write and empty a file, files of O_TMPFILE that are linked, other users,
 * filters of system calls, memory that is taken away, and what libc and the kernel read inside. */
#define _GNU_SOURCE
#include "cases.h"
#include "common.h"

#include <linux/loop.h>
#include <linux/seccomp.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <utmp.h>

enum { some = 3000, page = 4096, nobody = 65534 };
static unsigned char bytes[2 * page];

static int make(const char* name) {
    const int fd = open_new(name);
    fill(bytes, some, 0, 1);
    say("write", write(fd, bytes, some));
    return fd;
}

static void look(const char* what, int fd, off_t at) {
    memset(bytes, 0, sizeof bytes);
    say_bytes(what, bytes, pread(fd, bytes, sizeof bytes, at));
}

static void look_by_name(const char* name) {
    struct stat found;
    const int fd = open(name, O_RDONLY);
    need(fd >= 0 && fstat(fd, &found) == 0, name);
    say(name, found.st_size);
    look(name, fd, 0);
    close(fd);
}

static void await(pid_t child) {
    int status = -1;
    need(waitpid(child, &status, 0) == child, "waitpid");
    say("child", status);
}

static pid_t forked(void) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    return child;
}

/* -- a file without a name that a child has and did not use before its parent closes it */
static void use_late(int fd) {
    usleep(300 * 1000);
    look("late", fd, 0);
    say("pwrite", pwrite(fd, "more", 4, 2 * some));
    look("longer", fd, some);
}

static void nameless(void) {
    make("kept");
    const int fd = make("file");
    need(unlink("file") == 0, "unlink");
    const pid_t child = forked();
    if (child == 0) {
        use_late(fd);
        _exit(0);
    }
    close(fd);
    await(child);
}

static void nameless_later(void) {
    make("kept");
    const int fd = make("file");
    int ends[2];
    need(pipe(ends) == 0, "pipe");
    const pid_t child = forked();
    if (child == 0) {
        if (forked() == 0) {
            use_late(fd);
            need(write(ends[1], "x", 1) == 1, "pipe");
        }
        _exit(0);
    }
    need(unlink("file") == 0, "unlink");
    close(fd);
    await(child);
    need(read(ends[0], bytes, 1) == 1, "pipe");
}

/* -- access modes */
static void emptied(void) {
    const int fd = make("file");
    const int other = open("file", O_RDONLY | O_TRUNC);
    look("emptied", other, 0);
    say("pwrite", pwrite(fd, "more", 4, 10));
    look_by_name("file");
}

static void mode_3(void) {
    const int fd = make("file");
    const int other = open("file", O_WRONLY | O_RDWR);
    say("open", other > fd);
    say("read", read(other, bytes, 10));
    say("pwrite", pwrite(other, "more", 4, 10));
    say("ftruncate", ftruncate(other, 10));
    close(other);
    look_by_name("file");
    say("emptied", open("file", O_WRONLY | O_RDWR | O_TRUNC) > 0);
    look_by_name("file");
}

static void linked(void) {
    const int fd = open(".", O_TMPFILE | O_RDWR, 0644);
    char name[64];
    make("kept");
    need(fd >= 0 && write(fd, "of no name", 10) == 10, "O_TMPFILE");
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    say("linkat", linkat(AT_FDCWD, name, AT_FDCWD, "file", AT_SYMLINK_FOLLOW));
    const int other = open("file", O_RDWR);
    say("pwrite", pwrite(other, "by name", 7, 0));
    look("the first", fd, 0);
    say("pwrite", pwrite(fd, "without", 7, 3));
    look("the second", other, 0);
    say("ftruncate", ftruncate(fd, 5));
    look_by_name("file");
}

/* -- another user: needs root */
static void other_user(void) {
    const int fd = make("file");
    need(chmod(".", 0777) == 0 && fchmod(fd, 0666) == 0, "chmod");
    say("pwrite", pwrite(fd, "as root", 7, 0));
    const pid_t child = forked();
    if (child == 0) {
        say("setresuid", setresuid(nobody, nobody, nobody));
        look("inherited", fd, 0);
        say("pwrite", pwrite(fd, "as nobody", 9, 100));
        const int other = open("file", O_RDWR);
        look("opened", other, 0);
        const pid_t grandchild = forked();
        if (grandchild == 0) {
            say("pwrite", pwrite(fd, "grandchild", 10, 200));
            look("its own", other, 0);
            _exit(0);
        }
        await(grandchild);
        _exit(0);
    }
    await(child);
    look_by_name("file");
    setfsuid(nobody);
    say("create", open("others", O_CREAT | O_RDWR, 0644) > 0);
    setfsuid(0);
    struct stat found;
    say("whose", stat("others", &found) == 0 ? (long)found.st_uid : -1);
}

static void filtered(void) {
    const int fd = make("file");
    const pid_t child = forked();
    if (child == 0) {
        need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "prctl");
        for (int i = 0; i < 100; ++i) {
            if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes) {
                syscall(SYS_exit, 1);
            }
        }
        syscall(SYS_exit, 0);
    }
    await(child);
    struct stat found;
    say("size", fstat(fd, &found) == 0 ? (long)found.st_size : -1);
}

/* -- memory that is taken away */
static void used_before(int fd, void* memory) {
    memset(memory, 7, sizeof bytes);
    say("with it", pwrite(fd, memory, sizeof bytes, 0));
}

static void protected_by_key(void) {
    const int fd = make("file");
    void* const memory =
        mmap(NULL, sizeof bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    used_before(fd, memory);
    need(pkey_mprotect(memory, sizeof bytes, PROT_NONE, -1) == 0, "pkey_mprotect");
    say("without", pwrite(fd, memory, sizeof bytes, 0));
}

static void detached(void) {
    const int fd = make("file");
    const int segment = shmget(IPC_PRIVATE, sizeof bytes, IPC_CREAT | 0600);
    void* const memory = shmat(segment, NULL, 0);
    need(segment >= 0 && shmctl(segment, IPC_RMID, NULL) == 0, "shmget");
    used_before(fd, memory);
    need(shmdt(memory) == 0, "shmdt");
    say("without", pwrite(fd, memory, sizeof bytes, 0));
}

static void cut_short(void) {
    const int fd = make("file");
    const int mapped = open_new("mapped");
    need(ftruncate(mapped, sizeof bytes) == 0, "ftruncate");
    void* const memory = mmap(NULL, sizeof bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
    used_before(fd, memory);
    need(ftruncate(mapped, 0) == 0, "ftruncate");
    say("without", pwrite(fd, memory, sizeof bytes, 0));
}

/* -- what of a mapping is left */
static unsigned char* map_and_close(const char* name) {
    const int fd = make(name);
    need(ftruncate(fd, 4 * page) == 0, "ftruncate");
    unsigned char* const mapped = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(mapped != MAP_FAILED && close(fd) == 0, "mmap");
    return mapped;
}

/* Writes to the file by a new descriptor, and to its mapping; both see both. */
static void write_both_ways(const char* name, unsigned char* last_page) {
    const int fd = open(name, O_RDWR);
    need(fd >= 0, "open");
    memset(last_page, 'm', 10);
    need(pwrite(fd, "by write", 8, 3 * page + 100) == 8, "pwrite");
    say_bytes("in the mapping", last_page, page);
    memset(last_page + 50, 'n', 100);
    look("in the file", fd, 3 * page);
}

static void partly_unmapped(void) {
    unsigned char* const mapped = map_and_close("file");
    need(munmap(mapped, page) == 0 && munmap(mapped + 2 * page, page) == 0, "munmap");
    write_both_ways("file", mapped + 3 * page);
}

static void mapping_moved(void) {
    unsigned char* const mapped = map_and_close("file");
    unsigned char* const room =
        mmap(NULL, 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char* const moved =
        mremap(mapped, 4 * page, 4 * page, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    need(moved == room, "mremap");
    need(
        mmap(mapped, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == mapped,
        "mmap");
    need(munmap(mapped, 4 * page) == 0, "munmap");
    write_both_ways("file", moved + 3 * page);
}

/* -- attributes by number */
static void attributed(void) {
    const int fd = make("file");
    const unsigned char capability[20] = {1, 0, 0, 2, 0, 4};
    const struct {
        unsigned long value;
        unsigned bytes;
        unsigned flags;
    } arguments = {(unsigned long)capability, sizeof capability, 0};
    say("fchmodat2", syscall(452, AT_FDCWD, "file", 0751, 0));
    say("setxattrat", syscall(463, AT_FDCWD, "file", 0, "security.capability", &arguments, 16L));
    need(fsync(fd) == 0, "fsync");
    say("capability", getxattr("file", "security.capability", bytes, sizeof bytes));
}

/* -- what libc and the kernel read and write inside */
static void zone(void) {
    char name[page];
    const time_t then = 1000000;
    const int from = open("/usr/share/zoneinfo/Asia/Tokyo", O_RDONLY);
    const int fd = open_new("zone");
    const ssize_t count = read(from, bytes, sizeof bytes);
    need(count > 0 && write(fd, bytes, (size_t)count) == count && close(fd) == 0, "a zone");
    name[0] = ':';
    need(getcwd(name + 1, sizeof name - 8) != NULL, "getcwd");
    strcat(name, "/zone");
    setenv("TZ", name, 1);
    printf("%s", ctime(&then));
}

static void users(void) {
    struct utmp one = {.ut_type = USER_PROCESS, .ut_id = "7", .ut_line = "tty7", .ut_user = "me"};
    const int fd = open_new("users");
    say("write", write(fd, &one, sizeof one));
    say("utmpname", utmpname("users"));
    const struct utmp* found = getutent();
    printf("%s\n", found != NULL ? found->ut_user : "nobody");
    strcpy(one.ut_user, "you");
    setutent();
    say("pututline", pututline(&one) != NULL);
    endutent();
    look("users", fd, 0);
}

FILE* _IO_fopen(const char* name, const char* mode);
static void old_name(void) {
    const int fd = make("file");
    FILE* const stream = _IO_fopen("file", "r+");
    need(stream != NULL, "_IO_fopen");
    say_bytes("fread", bytes, (long)fread(bytes, 1, sizeof bytes, stream));
    rewind(stream);
    say("fputs", fputs("by the stream", stream) >= 0);
    fclose(stream);
    look("file", fd, 0);
}

/* Needs root. Without loop devices it only says so. */
static void looped(void) {
    const int fd = open_new("image");
    fill(bytes, sizeof bytes, 0, 2);
    for (int i = 0; i < 64; ++i) {
        need(write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes, "write");
    }
    const int control = open("/dev/loop-control", O_RDWR);
    char name[64];
    snprintf(name, sizeof name, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
    const int device = open(name, O_RDWR);
    if (device < 0 || ioctl(device, LOOP_SET_FD, fd) != 0) {
        printf("no loop device\n");
        return;
    }
    look("read", device, 8 * page);
    fill(bytes, sizeof bytes, 0, 3);
    say("pwrite", pwrite(device, bytes, sizeof bytes, 4 * page));
    need(fsync(device) == 0 && ioctl(device, LOOP_CLR_FD, 0) == 0, "the device");
    close(device);
    look("image", fd, 4 * page);
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {{"nameless", nameless},
                                      {"nameless_later", nameless_later},
                                      {"emptied", emptied},
                                      {"mode_3", mode_3},
                                      {"linked", linked},
                                      {"other_user", other_user},
                                      {"filtered", filtered},
                                      {"protected", protected_by_key},
                                      {"detached", detached},
                                      {"cut_short", cut_short},
                                      {"attributed", attributed},
                                      {"zone", zone},
                                      {"users", users},
                                      {"old_name", old_name},
                                      {"looped", looped},
                                      {"partly_unmapped", partly_unmapped},
                                      {"mapping_moved", mapping_moved}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
