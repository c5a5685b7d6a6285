/* One function of libc on the file "data", which has deposits: for tracer.c, which looks at what it
 * does to the file. reached NAME; with no name, says all names. */
#define _GNU_SOURCE
#include "common.h"

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <error.h>
#include <execinfo.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <malloc.h>
#include <mntent.h>
#include <nl_types.h>
#include <pwd.h>
#include <shadow.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <utime.h>
#include <utmp.h>
#include <wchar.h>
#include <wordexp.h>

static int fd;
static int pipe_ends[2];
static char text[5000];
static struct stat found;
static const struct iovec piece = {text, 100};
/* The compiler does not know how many: then a fortified program calls __read_chk and the like. */
static volatile size_t some = 100;

static FILE* reading(void) {
    FILE* const stream = fopen("data", "r+");
    need(stream != NULL, "fopen");
    return stream;
}

static int told(const char* p, const struct stat* s, int k, struct FTW* f) {
    return (void)p, (void)s, (void)k, (void)f, 0;
}
static int told_simply(const char* p, const struct stat* s, int k) {
    return (void)p, (void)s, (void)k, 0;
}

static void by_fts(int children) {
    char* names[] = {".", NULL};
    FTS* const tree = fts_open(names, FTS_PHYSICAL, NULL);
    while (fts_read(tree) != NULL) {
        if (children) {
            fts_children(tree, 0);
        }
    }
    fts_close(tree);
}

static void copied_to_pipe(void) { sendfile(pipe_ends[1], fd, &(off_t){0}, 100); }

static void by_aio(int writes) {
    struct aiocb block = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = 100};
    writes ? aio_write(&block) : aio_read(&block);
    const struct aiocb* const all[] = {&block};
    aio_suspend(all, 1, NULL);
    aio_return(&block);
}

/* Output of functions that write to stderr. */
static void to_stderr(void) { stderr = reading(); }

static void in_line(void) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_pread64), "D"(fd), "S"(text), "d"(10L)
                     : "rcx", "r11", "r10", "memory");
}

#define EACH(X)                                                                            \
    X(in_line, in_line())                                                                  \
    X(open, open("data", O_RDONLY))                                                        \
    X(openat, openat(AT_FDCWD, "data", O_RDONLY))                                          \
    X(creat, creat("data", 0644))                                                          \
    X(stat, stat("data", &found))                                                          \
    X(lstat, lstat("data", &found))                                                        \
    X(fstat, fstat(fd, &found))                                                            \
    X(fstatat, fstatat(AT_FDCWD, "data", &found, 0))                                       \
    X(truncate, truncate("data", 50))                                                      \
    X(ftruncate, ftruncate(fd, 50))                                                        \
    X(utime, utime("data", NULL))                                                          \
    X(futimens, futimens(fd, NULL))                                                        \
    X(access, access("data", R_OK))                                                        \
    X(faccessat, faccessat(AT_FDCWD, "data", R_OK, AT_EACCESS))                            \
    X(euidaccess, euidaccess("data", R_OK))                                                \
    X(chmod, chmod("data", 0600))                                                          \
    X(fchmodat, fchmodat(AT_FDCWD, "data", 0600, AT_SYMLINK_NOFOLLOW))                     \
    X(lchmod, lchmod("data", 0600))                                                        \
    X(realpath, realpath("data", NULL))                                                    \
    X(glob, glob("da*", GLOB_MARK, NULL, &(glob_t){0}))                                    \
    X(scandir, scandir(".", &(struct dirent**){NULL}, NULL, alphasort))                    \
    X(nftw, nftw(".", told, 4, FTW_PHYS))                                                  \
    X(ftw, ftw(".", told_simply, 4))                                                       \
    X(fts_read, by_fts(0))                                                                 \
    X(fts_children, by_fts(1))                                                             \
    X(pathconf, pathconf("data", _PC_NAME_MAX))                                            \
    X(fpathconf, fpathconf(fd, _PC_NAME_MAX))                                              \
    X(statvfs, statvfs("data", &(struct statvfs){0}))                                      \
    X(getxattr, getxattr("data", "user.x", text, 10))                                      \
    X(read, read(fd, text, some))                                                          \
    X(write, write(fd, text, 100))                                                         \
    X(pread, pread(fd, text, some, 0))                                                     \
    X(pwrite, pwrite(fd, text, 100, 0))                                                    \
    X(readv, readv(fd, &piece, 1))                                                         \
    X(pwritev2, pwritev2(fd, &piece, 1, 0, 0))                                             \
    X(lseek, lseek(fd, 0, SEEK_END))                                                       \
    X(lockf, lockf(fd, F_TEST, 10))                                                        \
    X(flock, flock(fd, LOCK_SH))                                                           \
    X(isatty, isatty(fd))                                                                  \
    X(ttyname, ttyname(fd))                                                                \
    X(fsync, fsync(fd))                                                                    \
    X(syncfs, syncfs(fd))                                                                  \
    X(posix_fallocate, posix_fallocate(fd, 0, 10))                                         \
    X(posix_fadvise, posix_fadvise(fd, 0, 10, POSIX_FADV_WILLNEED))                        \
    X(readahead, readahead(fd, 0, 100))                                                    \
    X(sendfile, copied_to_pipe())                                                          \
    X(splice, splice(fd, &(off_t){0}, pipe_ends[1], NULL, 10, 0))                          \
    X(copy_file_range, copy_file_range(fd, &(off_t){0}, fd, &(off_t){5000}, 10, 0))        \
    X(mmap, mmap(NULL, 10, PROT_READ, MAP_SHARED, fd, 0))                                  \
    X(fdopendir, fdopendir(fd))                                                            \
    X(syscall, syscall(SYS_pread64, fd, text, 10L, 0L))                                    \
    X(dlsym, ((ssize_t(*)(int, void*, size_t, off_t))dlsym(dlopen("libc.so.6", RTLD_LAZY), \
                                                           "pread"))(fd, text, 10, 0))     \
    X(dprintf, dprintf(fd, "text %d", 5))                                                  \
    X(backtrace_symbols_fd, backtrace_symbols_fd((void*[]){text}, 1, fd))                  \
    X(fopen, fopen("data", "r"))                                                           \
    X(freopen, freopen("data", "r", fopen("/dev/null", "r")))                              \
    X(fprintf, fprintf(reading(), "text %d", 5))                                           \
    X(fscanf, fscanf(reading(), "%20s", text))                                             \
    X(fgetc, fgetc(reading()))                                                             \
    X(getline, getline(&(char*){NULL}, &(size_t){0}, reading()))                           \
    X(getdelim, getdelim(&(char*){NULL}, &(size_t){0}, ':', reading()))                    \
    X(fread, fread(text, 1, sizeof text, reading()))                                       \
    X(fread_some, fread(text, 1, some, reading()))                                         \
    X(fgets, fgets(text, (int)some, reading()))                                            \
    X(fseek, fseek(reading(), 0, SEEK_END))                                                \
    X(fgetpos, fgetpos(reading(), &(fpos_t){0}))                                           \
    X(fgetpwent, fgetpwent(reading()))                                                     \
    X(fgetgrent, fgetgrent(reading()))                                                     \
    X(fgetspent, fgetspent(reading()))                                                     \
    X(putpwent, putpwent(&(struct passwd){"a", "b", 1, 2, "c", "d", "e"}, reading()))      \
    X(getmntent, getmntent(reading()))                                                     \
    X(addmntent, addmntent(reading(), &(struct mntent){"a", "b", "c", "d", 0, 0}))         \
    X(setmntent, getmntent(setmntent("data", "r")))                                        \
    X(malloc_info, malloc_info(0, reading()))                                              \
    X(fgetwc, fgetwc(reading()))                                                           \
    X(catopen, catopen("./data", 0))                                                       \
    X(dlopen, dlopen("./data", RTLD_NOW))                                                  \
    X(updwtmp, updwtmp("data", &(struct utmp){0}))                                         \
    X(wordexp, wordexp("dat*", &(wordexp_t){0}, 0))                                        \
    X(aio_read, by_aio(0))                                                                 \
    X(aio_write, by_aio(1))                                                                \
    X(perror, (to_stderr(), perror("problem")))                                            \
    X(error, (to_stderr(), error(0, 0, "problem")))                                        \
    X(warn, (to_stderr(), warn("problem")))                                                \
    X(psignal, (to_stderr(), psignal(1, "signal")))                                        \
    X(malloc_stats, (to_stderr(), malloc_stats()))                                         \
    X(fileno_in_fd_folder, open("/proc/self/fd/9", O_RDONLY))                              \
    X(mkstemp, mkstemp((char[]){"dataXXXXXX"}))                                            \
    X(tempnam, tempnam(".", "data"))                                                       \
    X(fclose, fclose(reading()))                                                           \
    X(fcloseall, (reading(), fcloseall()))                                                 \
    X(exit, fputs("kept in the buffer", reading()))

struct one {
    const char* name;
    void (*run)(void);
};

#define FUNCTION(name, call) \
    static void run_##name(void) { (void)(call); }
#define ENTRY(name, call) {#name, run_##name},
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-value"
EACH(FUNCTION)
static const struct one all[] = {EACH(ENTRY)};

/* Return addresses that older calls left on the stack would be taken for callers. */
static void __attribute__((noinline)) clean_the_stack(void) {
    char below[200000];
    explicit_bzero(below, sizeof below);
}

int main(int argc, char** argv) {
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (argc < 2) {
            puts(all[i].name);
        } else if (strcmp(all[i].name, argv[1]) == 0) {
            fd = dup2(open_new("data"), 9);
            need(fd == 9 && pipe(pipe_ends) == 0, "pipe");
            memset(text, 'x', sizeof text);
            need(write(fd, text, sizeof text) == sizeof text, "write");
            clean_the_stack();
            all[i].run();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
