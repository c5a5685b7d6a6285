/* A FUSE file system that shows a folder, and fails from a given byte of every file on. An error
 * that the kernel itself reports, whoever asks.
 *   failing_fs MOUNTPOINT FOLDER BYTE        EIO from reading and writing
 *   failing_fs MOUNTPOINT FOLDER BYTE QUOTA  EDQUOT from writing, while the file QUOTA exists */
#include "folder_fs.h"

#include <sys/statvfs.h>

static off_t good_bytes;
static const char* quota;

static int refused_write(void) {
    if (quota == NULL) return EIO;
    return access(quota, F_OK) == 0 ? EDQUOT : 0;
}

static int open_without_cache(const char* path, struct fuse_file_info* info) {
    info->direct_io = 1; /* no page cache between the caller and the error */
    return fs_open(path, info);
}

static int create(const char* path, mode_t mode, struct fuse_file_info* info) {
    char b[name_max];
    const int fd = open(below(path, b, sizeof b), info->flags | O_CREAT, mode);
    info->fh = (uint64_t)fd;
    info->direct_io = 1;
    return fd < 0 ? -errno : 0;
}

static int read_good(const char* path, char* to, size_t length, off_t at,
                     struct fuse_file_info* info) {
    const int is_bad = quota == NULL && at + (off_t)length > good_bytes;
    return is_bad ? -EIO : fs_read(path, to, length, at, info);
}

static int write_good(const char* path, const char* from, size_t length, off_t at,
                      struct fuse_file_info* info) {
    const int error = at + (off_t)length > good_bytes ? refused_write() : 0;
    return error != 0 ? -error : fs_write(path, from, length, at, info);
}

static int statfs_below(const char* path, struct statvfs* to) {
    char b[name_max];
    return answer(statvfs(below(path, b, sizeof b), to));
}

static void* use_inodes(struct fuse_conn_info* connection, struct fuse_config* config) {
    (void)connection;
    config->use_ino = 1;
    return NULL;
}

int main(int argc, char** argv) {
    const struct fuse_operations operations = {.getattr = fs_getattr,
                                               .open = open_without_cache,
                                               .create = create,
                                               .read = read_good,
                                               .write = write_good,
                                               .truncate = fs_truncate,
                                               .unlink = fs_unlink,
                                               .statfs = statfs_below,
                                               .fsync = fs_fsync,
                                               .release = fs_release,
                                               .init = use_inodes};
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: failing_fs MOUNTPOINT FOLDER BYTE [QUOTA]\n");
        return 2;
    }
    folder = argv[2];
    good_bytes = atoll(argv[3]);
    quota = argv[4];
    return serve(argv[0], argv[1], &operations);
}
