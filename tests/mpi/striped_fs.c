/* A FUSE file system that shows a folder and says of its files what Lustre says, by the extended
 * attribute lustre.lov: striped_fs MOUNTPOINT FOLDER TARGETS.
 *
 * As on Lustre 2.15, a file that is only made has no layout; setting one gives it at most as many
 * targets as there are; opening it for writing gives it the default of one; and a file that has one
 * keeps it, whatever is set, without an error. Layouts are kept in FOLDER/.lov/NAME. Of files whose
 * names begin with "broken" the attribute is cut short. Only files directly in the root. No
 * `create`, which FUSE would also call for mknod. */
#include "folder_fs.h"

enum { header = 32, of_a_target = 24, count_at = 28, value_max = 4096 };

static uint16_t targets;

static const char* layout_of(const char* path, char* buffer, size_t length) {
    snprintf(buffer, length, "%s/.lov%s", folder, path);
    return buffer;
}

static int has_layout(const char* path) {
    char b[name_max];
    return access(layout_of(path, b, sizeof b), F_OK) == 0;
}

/* Chooses targets and keeps `value`, which has room for them. */
static int place(const char* path, unsigned char* value) {
    char b[name_max];
    uint16_t count;
    memcpy(&count, value + count_at, sizeof count);
    count = count == 0 ? 1 : count > targets ? targets : count;
    memcpy(value + count_at, &count, sizeof count);
    const size_t length = header + (size_t)count * of_a_target;
    memset(value + header, 0, length - header);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(value + header + i * of_a_target + 20, &i, sizeof i);
    }
    const int fd = open(layout_of(path, b, sizeof b), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0 || write(fd, value, length) != (ssize_t)length) {
        return -EIO;
    }
    return answer(close(fd));
}

static void default_layout(unsigned char* value) {
    const uint32_t magic = 0x0BD10BD0, pattern = 1, stripe_bytes = 1 << 20;
    const uint16_t count = 1;
    memset(value, 0, header);
    memcpy(value, &magic, 4);
    memcpy(value + 4, &pattern, 4);
    memcpy(value + 24, &stripe_bytes, 4);
    memcpy(value + count_at, &count, 2);
}

static void place_default(const char* path) {
    unsigned char value[value_max];
    if (!has_layout(path)) {
        default_layout(value);
        place(path, value);
    }
}

static int read_attribute(const char* path, const char* name, char* to, size_t room) {
    char b[name_max];
    unsigned char value[value_max];
    ssize_t length = header;
    if (strcmp(name, "lustre.lov") != 0) {
        return -ENODATA;
    }
    if (strcmp(path, "/") == 0) {
        default_layout(value);
    } else {
        const int fd = open(layout_of(path, b, sizeof b), O_RDONLY);
        if (fd < 0) {
            return -ENODATA;
        }
        length = read(fd, value, sizeof value);
        close(fd);
    }
    length = strncmp(path, "/broken", 7) == 0 ? 20 : length;
    if (room > 0 && (size_t)length > room) {
        return -ERANGE;
    }
    if (room > 0) {
        memcpy(to, value, (size_t)length);
    }
    return (int)length;
}

static int set_attribute(const char* path, const char* name, const char* from, size_t length,
                         int flags) {
    unsigned char value[header + 65536 * of_a_target];
    (void)flags;
    if (strcmp(name, "lustre.lov") != 0) {
        return -EOPNOTSUPP;
    }
    if (length < header) {
        return -ERANGE;
    }
    if (has_layout(path)) {
        return 0;
    }
    memcpy(value, from, header);
    return place(path, value);
}

static int make_node(const char* path, mode_t mode, dev_t device) {
    char b[name_max];
    return answer(mknod(below(path, b, sizeof b), mode, device));
}

static int open_with_layout(const char* path, struct fuse_file_info* info) {
    const int opened = fs_open(path, info);
    if (opened == 0 && (info->flags & O_ACCMODE) != O_RDONLY) {
        place_default(path);
    }
    return opened;
}

static int unlink_with_layout(const char* path) {
    char b[name_max];
    unlink(layout_of(path, b, sizeof b));
    return fs_unlink(path);
}

int main(int argc, char** argv) {
    const struct fuse_operations operations = {.getattr = fs_getattr,
                                               .mknod = make_node,
                                               .open = open_with_layout,
                                               .read = fs_read,
                                               .write = fs_write,
                                               .truncate = fs_truncate,
                                               .unlink = unlink_with_layout,
                                               .fsync = fs_fsync,
                                               .release = fs_release,
                                               .getxattr = read_attribute,
                                               .setxattr = set_attribute};
    char b[name_max];
    if (argc != 4) {
        fprintf(stderr, "usage: striped_fs MOUNTPOINT FOLDER TARGETS\n");
        return 2;
    }
    folder = argv[2];
    targets = (uint16_t)atoi(argv[3]);
    snprintf(b, sizeof b, "%s/.lov", folder);
    mkdir(b, 0755);
    return serve(argv[0], argv[1], &operations);
}
