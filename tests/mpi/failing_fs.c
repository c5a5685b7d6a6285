/* A FUSE file system that shows a folder, and fails with EIO from a given byte of every file on:
 * failing_fs MOUNTPOINT FOLDER BYTE. An error that the kernel itself reports, whoever asks. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char* folder;
static off_t good_bytes;

static const char* below(const char* path, char* buffer, size_t length) {
    snprintf(buffer, length, "%s%s", folder, path);
    return buffer;
}

static int answer(long result) { return result < 0 ? -errno : (int)result; }

static int fs_getattr(const char* path, struct stat* to, struct fuse_file_info* info) {
    char b[1024];
    (void)info;
    return answer(lstat(below(path, b, sizeof b), to));
}

static int fs_open(const char* path, struct fuse_file_info* info) {
    char b[1024];
    const int fd = open(below(path, b, sizeof b), info->flags);
    info->fh = (uint64_t)fd;
    info->direct_io = 1; /* no page cache between the caller and the error */
    return fd < 0 ? -errno : 0;
}

static int fs_create(const char* path, mode_t mode, struct fuse_file_info* info) {
    char b[1024];
    const int fd = open(below(path, b, sizeof b), info->flags | O_CREAT, mode);
    info->fh = (uint64_t)fd;
    info->direct_io = 1;
    return fd < 0 ? -errno : 0;
}

static int fs_read(const char* path, char* to, size_t length, off_t at,
                   struct fuse_file_info* info) {
    (void)path;
    return at + (off_t)length > good_bytes ? -EIO : answer(pread((int)info->fh, to, length, at));
}

static int fs_write(const char* path, const char* from, size_t length, off_t at,
                    struct fuse_file_info* info) {
    (void)path;
    return at + (off_t)length > good_bytes ? -EIO : answer(pwrite((int)info->fh, from, length, at));
}

static int fs_truncate(const char* path, off_t length, struct fuse_file_info* info) {
    char b[1024];
    (void)info;
    return answer(truncate(below(path, b, sizeof b), length));
}

static int fs_unlink(const char* path) {
    char b[1024];
    return answer(unlink(below(path, b, sizeof b)));
}

static int fs_statfs(const char* path, struct statvfs* to) {
    char b[1024];
    return answer(statvfs(below(path, b, sizeof b), to));
}

static int fs_fsync(const char* path, int data_only, struct fuse_file_info* info) {
    (void)path;
    (void)data_only;
    return answer(fsync((int)info->fh));
}

static int fs_release(const char* path, struct fuse_file_info* info) {
    (void)path;
    return answer(close((int)info->fh));
}

static void* fs_init(struct fuse_conn_info* connection, struct fuse_config* config) {
    (void)connection;
    config->use_ino = 1;
    return NULL;
}

int main(int argc, char** argv) {
    const struct fuse_operations operations = {.getattr = fs_getattr,
                                               .open = fs_open,
                                               .create = fs_create,
                                               .read = fs_read,
                                               .write = fs_write,
                                               .truncate = fs_truncate,
                                               .unlink = fs_unlink,
                                               .statfs = fs_statfs,
                                               .fsync = fs_fsync,
                                               .release = fs_release,
                                               .init = fs_init};
    if (argc != 4) {
        fprintf(stderr, "usage: failing_fs MOUNTPOINT FOLDER BYTE\n");
        return 2;
    }
    folder = argv[2];
    good_bytes = atoll(argv[3]);
    char* arguments[] = {argv[0], argv[1], "-f", NULL};
    return fuse_main(3, arguments, &operations, NULL);
}
