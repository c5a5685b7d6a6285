/* Code that the FUSE file systems of the tests share: a folder, shown as it is. Each takes the
 * operations that it does not do otherwise. Several threads serve requests; errors are those of
 * the folder's own file system. */
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
#include <sys/statvfs.h>
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

/* Lists a folder without the names that begin with `hidden`; 0: all of it. */
static inline int fs_list(const char* path, void* to, fuse_fill_dir_t fill, char hidden) {
    char b[name_max];
    DIR* const here = opendir(below(path, b, sizeof b));
    if (here == NULL) return -errno;
    for (struct dirent* one = readdir(here); one != NULL; one = readdir(here))
        if ((hidden == 0 || one->d_name[0] != hidden) && fill(to, one->d_name, NULL, 0, 0) != 0)
            break;
    closedir(here);
    return 0;
}

static inline int fs_readdir(const char* path, void* to, fuse_fill_dir_t fill, off_t from,
                             struct fuse_file_info* info, enum fuse_readdir_flags flags) {
    (void)from, (void)info, (void)flags;
    return fs_list(path, to, fill, 0);
}

static inline int fs_unlink(const char* path) {
    char b[name_max];
    return answer(unlink(below(path, b, sizeof b)));
}

static inline int fs_rename(const char* from, const char* to, unsigned flags) {
    char b[name_max];
    char other[name_max];
    return flags != 0 ? -EINVAL
                      : answer(rename(below(from, b, sizeof b), below(to, other, sizeof other)));
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

/* The page cache of the kernel is left out: every request arrives. */
static inline int fs_open_direct(const char* path, struct fuse_file_info* info) {
    info->direct_io = 1;
    return fs_open(path, info);
}

static inline int fs_create_direct(const char* path, mode_t mode, struct fuse_file_info* info) {
    char b[name_max];
    const int fd = open(below(path, b, sizeof b), info->flags | O_CREAT, mode);
    info->fh = (uint64_t)fd;
    info->direct_io = 1;
    return fd < 0 ? -errno : 0;
}

static inline int fs_utimens(const char* path, const struct timespec times[2],
                             struct fuse_file_info* info) {
    char b[name_max];
    (void)info;
    return answer(utimensat(AT_FDCWD, below(path, b, sizeof b), times, AT_SYMLINK_NOFOLLOW));
}

static inline int fs_statfs(const char* path, struct statvfs* to) {
    char b[name_max];
    return answer(statvfs(below(path, b, sizeof b), to));
}

static inline void* fs_use_inodes(struct fuse_conn_info* connection, struct fuse_config* config) {
    (void)connection;
    config->use_ino = 1;
    return NULL;
}

typedef int read_call(const char* path, char* to, size_t length, off_t at,
                      struct fuse_file_info* info);
typedef int write_call(const char* path, const char* from, size_t length, off_t at,
                       struct fuse_file_info* info);

/* The operations of all of them, each reading and writing in its own way. */
static inline struct fuse_operations fs_operations(read_call* read_it, write_call* write_it) {
    return (struct fuse_operations){.getattr = fs_getattr,
                                    .open = fs_open,
                                    .read = read_it,
                                    .write = write_it,
                                    .truncate = fs_truncate,
                                    .unlink = fs_unlink,
                                    .fsync = fs_fsync,
                                    .release = fs_release};
}

/* As above, without the page cache, and with what a program or a shell needs besides. */
static inline struct fuse_operations fs_direct_operations(read_call* read_it,
                                                          write_call* write_it) {
    struct fuse_operations operations = fs_operations(read_it, write_it);
    operations.open = fs_open_direct;
    operations.create = fs_create_direct;
    operations.mkdir = fs_mkdir;
    operations.rename = fs_rename;
    operations.rmdir = fs_rmdir;
    operations.readdir = fs_readdir;
    operations.statfs = fs_statfs;
    operations.utimens = fs_utimens;
    operations.init = fs_use_inodes;
    return operations;
}

/* Until it is unmounted; main's result. Root's are for all users, as those of a machine are. With
 * FS_REQUESTS=FILE in the environment, libfuse says there what the kernel asks. */
static inline int serve(char* program, char* mountpoint, const struct fuse_operations* operations) {
    char* arguments[6] = {program, mountpoint, "-f"};
    int count = 3;
    const char* const requests = getenv("FS_REQUESTS");
    if (geteuid() == 0) {
        arguments[count++] = "-oallow_other";
    }
    if (requests != NULL && freopen(requests, "w", stderr) != NULL) {
        setvbuf(stderr, NULL, _IOLBF, 0);
        arguments[count++] = "-d";
    }
    return fuse_main(count, arguments, operations, NULL);
}
