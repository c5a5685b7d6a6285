/* A FUSE file system that shows a folder, and fails from a given byte of every file on. An error
 * that the kernel itself reports, whoever asks.
 *   failing_fs MOUNTPOINT FOLDER BYTE        EIO from reading and writing
 *   failing_fs MOUNTPOINT FOLDER BYTE QUOTA  EDQUOT from writing, while the file QUOTA exists */
#include "folder_fs.h"

static off_t good_bytes;
static const char* quota;

static int refused_write(void) {
    if (quota == NULL) return EIO;
    return access(quota, F_OK) == 0 ? EDQUOT : 0;
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

int main(int argc, char** argv) {
    const struct fuse_operations operations = fs_direct_operations(read_good, write_good);
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: failing_fs MOUNTPOINT FOLDER BYTE [QUOTA]\n");
        return 2;
    }
    folder = argv[2];
    good_bytes = atoll(argv[3]);
    quota = argv[4];
    return serve(argv[0], argv[1], &operations);
}
