/* What the FUSE file systems of the tests share: a folder, shown as it is. Each takes the
 * operations that it does not do otherwise. Requests are served by several threads; errors are
 * what the folder's own file system says. */
#pragma once

#define FUSE_USE_VERSION 312
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { name_max = 1024 };

static const char* folder;

static inline const char* below(const char* path, char* buffer, size_t length) {
    snprintf(buffer, length, "%s%s", folder, path);
    return buffer;
}

static inline int answer(long result) { return result < 0 ? -errno : (int)result; }

static inline int fs_getattr(const char* path, struct stat* to, struct fuse_file_info* info) {
    char b[name_max];
    (void)info;
    return answer(lstat(below(path, b, sizeof b), to));
}

static inline int fs_open(const char* path, struct fuse_file_info* info) {
    char b[name_max];
    const int fd = open(below(path, b, sizeof b), info->flags);
    info->fh = (uint64_t)fd;
    return fd < 0 ? -errno : 0;
}

static inline int fs_read(const char* path, char* to, size_t length, off_t at,
                          struct fuse_file_info* info) {
    (void)path;
    return answer(pread((int)info->fh, to, length, at));
}

static inline int fs_write(const char* path, const char* from, size_t length, off_t at,
                           struct fuse_file_info* info) {
    (void)path;
    return answer(pwrite((int)info->fh, from, length, at));
}

static inline int fs_truncate(const char* path, off_t length, struct fuse_file_info* info) {
    char b[name_max];
    (void)info;
    return answer(truncate(below(path, b, sizeof b), length));
}

static inline int fs_mkdir(const char* path, mode_t mode) {
    char b[name_max];
    return answer(mkdir(below(path, b, sizeof b), mode));
}

static inline int fs_rmdir(const char* path) {
    char b[name_max];
    return answer(rmdir(below(path, b, sizeof b)));
}

static inline int fs_readdir(const char* path, void* to, fuse_fill_dir_t fill, off_t from,
                             struct fuse_file_info* info, enum fuse_readdir_flags flags) {
    char b[name_max];
    DIR* const here = opendir(below(path, b, sizeof b));
    (void)from, (void)info, (void)flags;
    if (here == NULL) return -errno;
    for (struct dirent* one = readdir(here); one != NULL; one = readdir(here))
        if (fill(to, one->d_name, NULL, 0, 0) != 0) break;
    closedir(here);
    return 0;
}

static inline int fs_unlink(const char* path) {
    char b[name_max];
    return answer(unlink(below(path, b, sizeof b)));
}

static inline int fs_fsync(const char* path, int data_only, struct fuse_file_info* info) {
    (void)path;
    (void)data_only;
    return answer(fsync((int)info->fh));
}

static inline int fs_release(const char* path, struct fuse_file_info* info) {
    (void)path;
    return answer(close((int)info->fh));
}

/* Until it is unmounted; main's result. Root's are for all users, as those of a machine are. */
static inline int serve(char* program, char* mountpoint, const struct fuse_operations* operations) {
    char* arguments[] = {program, mountpoint, "-f", "-oallow_other", NULL};
    return fuse_main(geteuid() == 0 ? 4 : 3, arguments, operations, NULL);
}
