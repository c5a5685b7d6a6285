/* A FUSE file system that shows a folder, written through and without the page cache, with extended
 * attributes, as parallel file systems have them: attribute_fs MOUNTPOINT FOLDER. */
#include "folder_fs.h"

#include <sys/xattr.h>

static int set_attribute(const char* path, const char* name, const char* value, size_t bytes,
                         int flags) {
    char b[name_max];
    return answer(lsetxattr(below(path, b, sizeof b), name, value, bytes, flags));
}

static int get_attribute(const char* path, const char* name, char* value, size_t bytes) {
    char b[name_max];
    const ssize_t got = lgetxattr(below(path, b, sizeof b), name, value, bytes);
    return got < 0 ? -errno : (int)got;
}

static int remove_attribute(const char* path, const char* name) {
    char b[name_max];
    return answer(lremovexattr(below(path, b, sizeof b), name));
}

int main(int argc, char** argv) {
    struct fuse_operations operations = fs_direct_operations(fs_read, fs_write);
    operations.setxattr = set_attribute;
    operations.getxattr = get_attribute;
    operations.removexattr = remove_attribute;
    if (argc != 3) {
        fprintf(stderr, "usage: attribute_fs MOUNTPOINT FOLDER\n");
        return 2;
    }
    folder = argv[2];
    return serve(argv[0], argv[1], &operations);
}
