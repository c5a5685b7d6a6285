/* tracer LIBRARY FILE COMMAND…: runs the command, and says which system calls on that file (what is
 * in it, how long it is, when it changed) were made neither by that library nor by libc for it: one
 * line for each kind of call. Whose call it is, the next return address on the stack says that is
 * not libc's. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
    long number;
    const char* name;
    int path;       /* which argument is a path; -1: none */
    int descriptor; /* which one is a descriptor; -1: none */
};

static const struct call calls[] = {
    {SYS_open, "open", 0, -1},
    {SYS_creat, "creat", 0, -1},
    {SYS_openat, "openat", 1, -1},
    {SYS_openat2, "openat2", 1, -1},
    {SYS_stat, "stat", 0, -1},
    {SYS_lstat, "lstat", 0, -1},
    {SYS_newfstatat, "newfstatat", 1, 0},
    {SYS_statx, "statx", 1, 0},
    {SYS_truncate, "truncate", 0, -1},
    {SYS_utimensat, "utimensat", 1, 0},
    {SYS_utime, "utime", 0, -1},
    {SYS_utimes, "utimes", 0, -1},
    {SYS_futimesat, "futimesat", 1, 0},
    {SYS_fstat, "fstat", -1, 0},
    {SYS_read, "read", -1, 0},
    {SYS_write, "write", -1, 0},
    {SYS_pread64, "pread64", -1, 0},
    {SYS_pwrite64, "pwrite64", -1, 0},
    {SYS_readv, "readv", -1, 0},
    {SYS_writev, "writev", -1, 0},
    {SYS_preadv, "preadv", -1, 0},
    {SYS_pwritev, "pwritev", -1, 0},
    {SYS_preadv2, "preadv2", -1, 0},
    {SYS_pwritev2, "pwritev2", -1, 0},
    {SYS_lseek, "lseek", -1, 0},
    {SYS_ftruncate, "ftruncate", -1, 0},
    {SYS_fallocate, "fallocate", -1, 0},
    {SYS_fsync, "fsync", -1, 0},
    {SYS_fdatasync, "fdatasync", -1, 0},
    {SYS_sync_file_range, "sync_file_range", -1, 0},
    {SYS_sendfile, "sendfile", -1, 1},
    {SYS_copy_file_range, "copy_file_range", -1, 0},
    {SYS_splice, "splice", -1, 0},
    {SYS_mmap, "mmap", -1, 4},
    {SYS_ioctl, "ioctl", -1, 0},
};
enum { calls_count = sizeof calls / sizeof *calls, depth_max = 8192 };

static const char* library;
static const char* wanted;
static int seen[calls_count];

static void need(int holds, const char* what) {
    if (!holds) {
        fprintf(stderr, "tracer: %s: %s\n", what, strerror(errno));
        exit(3);
    }
}

static size_t copy_from(pid_t process, uint64_t at, void* to, size_t bytes) {
    const struct iovec mine = {to, bytes};
    const struct iovec theirs = {(void*)(uintptr_t)at, bytes};
    const ssize_t got = process_vm_readv(process, &mine, 1, &theirs, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* An executable mapping: its addresses, and what is mapped there; empty: nothing with a name. */
struct mapping {
    uint64_t begin, end;
    char path[PATH_MAX];
};
enum { mappings_max = 256 };
static struct mapping mappings[mappings_max];
static int mappings_count;

static void read_mappings(pid_t process) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    FILE* const file = fopen(name, "r");
    need(file != NULL, name);
    char line[PATH_MAX + 200];
    mappings_count = 0;
    while (fgets(line, sizeof line, file) != NULL && mappings_count < mappings_max) {
        struct mapping* const one = &mappings[mappings_count];
        char access[8];
        one->path[0] = '\0';
        const int got = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]",
                               &one->begin, &one->end, access, one->path);
        mappings_count += got >= 3 && access[2] == 'x';
    }
    fclose(file);
}

static const char* mapped_at(uint64_t address) {
    for (int i = 0; i < mappings_count; ++i) {
        if (mappings[i].begin <= address && address < mappings[i].end) {
            return mappings[i].path;
        }
    }
    return "";
}

static int is_of_libc(const char* path) {
    return strstr(path, "/libc.so.6") != NULL || strstr(path, "/ld-linux") != NULL ||
           strcmp(path, "[vdso]") == 0;
}

/* Behind a call: else the word is something else than where a function returns to. */
static int is_behind_a_call(pid_t process, uint64_t address) {
    unsigned char before[7];
    if (copy_from(process, address - sizeof before, before, sizeof before) != sizeof before) {
        return 0;
    }
    if (before[2] == 0xe8) { /* call, by a distance of 4 bytes */
        return 1;
    }
    for (size_t bytes = 2; bytes <= sizeof before; ++bytes) { /* call, by a register or memory */
        const unsigned char* const at = before + sizeof before - bytes;
        if (at[0] == 0xff && (at[1] & 0x38) == 0x10) {
            return 1;
        }
    }
    return 0;
}

static int is_ours(pid_t process, uint64_t instruction, uint64_t stack) {
    read_mappings(process);
    const char* at = mapped_at(instruction);
    if (!is_of_libc(at)) {
        return strstr(at, library) != NULL;
    }
    static uint64_t words[depth_max];
    const size_t got = copy_from(process, stack, words, sizeof words) / sizeof *words;
    for (size_t i = 0; i < got; ++i) {
        at = mapped_at(words[i]);
        if (at[0] != '\0' && !is_of_libc(at) && is_behind_a_call(process, words[i])) {
            return strstr(at, library) != NULL;
        }
    }
    return 0;
}

static int names_it(pid_t process, uint64_t path) {
    char text[PATH_MAX] = "";
    const size_t got = path == 0 ? 0 : copy_from(process, path, text, sizeof text - 1);
    text[got] = '\0';
    const char* const slash = strrchr(text, '/');
    return strcmp(slash == NULL ? text : slash + 1, strrchr(wanted, '/') + 1) == 0;
}

static int is_it(pid_t process, uint64_t descriptor) {
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)process, (int)descriptor);
    const ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes < 0 ? 0 : bytes] = '\0';
    return strcmp(path, wanted) == 0;
}

static void look_at(pid_t process, const struct __ptrace_syscall_info* info) {
    for (int i = 0; i < calls_count; ++i) {
        const struct call* const one = &calls[i];
        if (one->number != (long)info->entry.nr) {
            continue;
        }
        const uint64_t* const arguments = (const uint64_t*)info->entry.args;
        const int about = (one->path >= 0 && names_it(process, arguments[one->path])) ||
                          (one->descriptor >= 0 && is_it(process, arguments[one->descriptor]));
        if (about && !is_ours(process, info->instruction_pointer, info->stack_pointer)) {
            seen[i] = 1;
        }
    }
}

static void go_on(pid_t process, int signal) {
    ptrace(PTRACE_SYSCALL, process, NULL, (void*)(intptr_t)signal);
}

/* The status of the command. */
static int follow(pid_t command) {
    int said = 3;
    for (;;) {
        int status = 0;
        const pid_t process = waitpid(-1, &status, __WALL);
        if (process < 0) {
            return said;
        }
        if (!WIFSTOPPED(status)) {
            said = process == command ? (WIFEXITED(status) ? WEXITSTATUS(status) : 4) : said;
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            ptrace(PTRACE_GET_SYSCALL_INFO, process, (void*)sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                look_at(process, &info);
            }
            signal = 0;
        }
        go_on(process, status >> 16 != 0 || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
    }
}

int main(int argc, char** argv) {
    need(argc > 3, "arguments");
    library = argv[1];
    wanted = argv[2];
    const pid_t command = fork();
    if (command == 0) {
        setenv("LD_PRELOAD", library, 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    int status = 0;
    need(waitpid(command, &status, 0) == command, "waitpid");
    const long options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    need(ptrace(PTRACE_SETOPTIONS, command, NULL, (void*)options) == 0, "PTRACE_SETOPTIONS");
    go_on(command, 0);
    const int said = follow(command);
    for (int i = 0; i < calls_count; ++i) {
        if (seen[i]) {
            printf("%s\n", calls[i].name);
        }
    }
    return said;
}
