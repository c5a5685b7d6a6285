/* A FUSE file system that shows a folder, written through and without the page cache, with extended
 * attributes, as parallel file systems have them: attribute_fs MOUNTPOINT FOLDER [FAIL]. While the
 * file FAIL exists, what is done with files fails with the errno that is written in it. */
#include "folder_fs.h"

#include <sys/xattr.h>

static const char* fail_file;

/* The errno, negative; 0: nothing fails. */
static int failure(void) {
    FILE* const file = fail_file == NULL ? NULL : fopen(fail_file, "r");
    int error = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%d", &error) != 1) error = 0;
    fclose(file);
    return -error;
}

static int set_attribute(const char* path, const char* name, const char* value, size_t bytes,
                         int flags) {
    char b[name_max];
    const int error = failure();
    return error != 0 ? error
                      : answer(lsetxattr(below(path, b, sizeof b), name, value, bytes, flags));
}

static int get_attribute(const char* path, const char* name, char* value, size_t bytes) {
    char b[name_max];
    const int error = failure();
    const ssize_t got = error != 0 ? 0 : lgetxattr(below(path, b, sizeof b), name, value, bytes);
    return error != 0 ? error : got < 0 ? -errno : (int)got;
}

static int remove_attribute(const char* path, const char* name) {
    char b[name_max];
    const int error = failure();
    return error != 0 ? error : answer(lremovexattr(below(path, b, sizeof b), name));
}

static int open_unless(const char* path, struct fuse_file_info* info) {
    const int error = failure();
    return error != 0 ? error : fs_open_direct(path, info);
}

static int create_unless(const char* path, mode_t mode, struct fuse_file_info* info) {
    const int error = failure();
    return error != 0 ? error : fs_create_direct(path, mode, info);
}

static int read_unless(const char* path, char* to, size_t length, off_t at,
                       struct fuse_file_info* info) {
    const int error = failure();
    return error != 0 ? error : fs_read(path, to, length, at, info);
}

static int write_unless(const char* path, const char* from, size_t length, off_t at,
                        struct fuse_file_info* info) {
    const int error = failure();
    return error != 0 ? error : fs_write(path, from, length, at, info);
}

static int truncate_unless(const char* path, off_t length, struct fuse_file_info* info) {
    const int error = failure();
    return error != 0 ? error : fs_truncate(path, length, info);
}

static int unlink_unless(const char* path) {
    const int error = failure();
    return error != 0 ? error : fs_unlink(path);
}

int main(int argc, char** argv) {
    struct fuse_operations operations = fs_direct_operations(read_unless, write_unless);
    operations.open = open_unless;
    operations.create = create_unless;
    operations.truncate = truncate_unless;
    operations.unlink = unlink_unless;
    operations.setxattr = set_attribute;
    operations.getxattr = get_attribute;
    operations.removexattr = remove_attribute;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: attribute_fs MOUNTPOINT FOLDER [FAIL]\n");
        return 2;
    }
    folder = argv[2];
    fail_file = argv[3];
    return serve(argv[0], argv[1], &operations);
}
