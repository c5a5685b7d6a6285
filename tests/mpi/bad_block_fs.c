/* A FUSE file system that shows a folder, with one bad block of one file: while FOLDER has a file
 * "bad", writing what touches these bytes fails with EIO, and nothing of that request is written.
 *   bad_block_fs MOUNTPOINT FOLDER NAME FIRST BYTES */
#include "folder_fs.h"

static const char* name;
static off_t first;
static off_t end;

static int write_outside(const char* path, const char* from, size_t length, off_t at,
                         struct fuse_file_info* info) {
    char b[name_max];
    const int touches = at < end && at + (off_t)length > first && strcmp(path + 1, name) == 0;
    const int is_bad = touches && access(below("/bad", b, sizeof b), F_OK) == 0;
    return is_bad ? -EIO : fs_write(path, from, length, at, info);
}

int main(int argc, char** argv) {
    const struct fuse_operations operations = fs_direct_operations(fs_read, write_outside);
    if (argc != 6) {
        fprintf(stderr, "usage: bad_block_fs MOUNTPOINT FOLDER NAME FIRST BYTES\n");
        return 2;
    }
    folder = argv[2];
    name = argv[3];
    first = atoll(argv[4]);
    end = first + atoll(argv[5]);
    return serve(argv[0], argv[1], &operations);
}
