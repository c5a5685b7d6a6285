/* A FUSE file system that shows a folder and says of its files what Lustre says, by the extended
 * attribute lustre.lov:
 *
 *   striped_fs MOUNTPOINT FOLDER COUNT             so many targets, which do not exist
 *   striped_fs [-s] [-r] MOUNTPOINT FOLDER TARGET…  folders: FOLDER/NAME has no bytes, only a size;
 *                                                  TARGET/NAME is the file's object there
 *
 * -s: a write that has ended is on its target's device. -r: files begin on one target after
 * another, not all on the first. Writes of one file run at the same time, but those behind its end.
 * The root's attribute striped_fs.at_once tells the most requests that each target had at once
 * since it was asked last.
 *
 * As on Lustre 2.15, a file that is only made has no layout; setting one gives it at most as many
 * targets as there are; opening it for writing gives it that of its folder, which has that of its
 * own folder until it is set, and the root one target; and a file that has one keeps it, whatever
 * is set, without an error. Layouts are kept in FOLDER/.lov/NAME; there and in a target, a NAME has
 * a backslash for each slash. The attribute of a file whose name begins with "broken" is cut
 * short. No `create`, which FUSE would also call for mknod. */
#define _GNU_SOURCE /* pwritev2, sync_file_range */
#include "parallel_fuse.h"
#include "stripes.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    header = 32,
    unit_at = 24,
    count_at = 28,
    first_at = 30, /* 65535: whichever */
    of_a_target = 24,
    number_in_target = 20,
    targets_max = 160,
    value_max = header + targets_max * of_a_target,
    stripe_bytes_default = 1 << 20
};

static struct {
    const char* folder; /* NULL: files are in `folder` as they are */
    atomic_int now, most;
} targets[targets_max];
static uint16_t target_count;
static int in_turn; /* files begin on one target after another */
static atomic_uint turn;
static int write_flags;                                       /* of pwritev2 */
static pthread_mutex_t knowledge = PTHREAD_MUTEX_INITIALIZER; /* layouts and sizes */

/* ---- layouts ---------------------------------------------------------------------------------*/

/* PATH in a folder that has no folders. */
static const char* flat(const char* in, const char* path, char* buffer, size_t length) {
    const int before = snprintf(buffer, length, "%s/", in);
    snprintf(buffer + before, length - (size_t)before, "%s", path + 1);
    for (char* c = buffer + before; *c != '\0'; c++) {
        *c = *c == '/' ? '\\' : *c;
    }
    return buffer;
}

static const char* layout_of(const char* path, char* buffer, size_t length) {
    char in[name_max];
    snprintf(in, sizeof in, "%s/.lov", folder);
    return flat(in, path, buffer, length);
}

static const char* object_of(const char* path, uint32_t target, char* buffer, size_t length) {
    return flat(targets[target].folder, path, buffer, length);
}

static ssize_t read_layout(const char* path, unsigned char* value) {
    char b[name_max];
    const int fd = open(layout_of(path, b, sizeof b), O_RDONLY);
    const ssize_t length = fd < 0 ? 0 : read(fd, value, value_max);
    if (fd >= 0) {
        close(fd);
    }
    return length;
}

static int keep_layout(const char* path, const unsigned char* value, size_t length) {
    char b[name_max];
    const int fd = open(layout_of(path, b, sizeof b), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0) {
        return -errno;
    }
    const ssize_t kept = write(fd, value, length);
    close(fd);
    return kept == (ssize_t)length ? 0 : -EIO;
}

/* Chooses targets for `value`, which has room for them; its length. */
static size_t choose_targets(unsigned char* value) {
    uint32_t unit;
    uint16_t count, first;
    memcpy(&unit, value + unit_at, sizeof unit);
    memcpy(&count, value + count_at, sizeof count);
    memcpy(&first, value + first_at, sizeof first);
    unit = unit == 0 ? stripe_bytes_default : unit;
    count = count == 0 ? 1 : count > target_count ? target_count : count;
    if (first >= target_count) {
        first = in_turn ? (uint16_t)(atomic_fetch_add(&turn, 1) % target_count) : 0;
    }
    memcpy(value + unit_at, &unit, sizeof unit);
    memcpy(value + count_at, &count, sizeof count);
    const size_t length = header + (size_t)count * of_a_target;
    memset(value + header, 0, length - header);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t target = (first + i) % target_count;
        memcpy(value + header + i * of_a_target + number_in_target, &target, sizeof target);
    }
    return length;
}

/* Gives a file the layout that `value` begins with, unless it has one. */
static int place(const char* path, unsigned char* value) {
    unsigned char present[value_max];
    int failed = 0;
    pthread_mutex_lock(&knowledge);
    if (read_layout(path, present) <= 0) {
        failed = keep_layout(path, value, choose_targets(value));
    }
    pthread_mutex_unlock(&knowledge);
    return failed;
}

static void default_layout(unsigned char* value) {
    const uint32_t magic = 0x0BD10BD0, pattern = 1, unit = stripe_bytes_default;
    const uint16_t count = 1, any = UINT16_MAX;
    memset(value, 0, header);
    memcpy(value, &magic, sizeof magic);
    memcpy(value + 4, &pattern, sizeof pattern);
    memcpy(value + unit_at, &unit, sizeof unit);
    memcpy(value + count_at, &count, sizeof count);
    memcpy(value + first_at, &any, sizeof any);
}

/* The layout of the folder that `path` is in; a folder's layout is a header. */
static void layout_around(const char* path, unsigned char* value) {
    char around[name_max];
    snprintf(around, sizeof around, "%s", path);
    char* const last = strrchr(around, '/');
    *last = '\0';
    pthread_mutex_lock(&knowledge);
    const int known = last != around && read_layout(around, value) >= header;
    pthread_mutex_unlock(&knowledge);
    if (!known) {
        default_layout(value);
    }
}

static int place_default(const char* path) {
    unsigned char value[value_max];
    layout_around(path, value);
    return place(path, value);
}

static int set_folder(const char* path, const unsigned char* value) {
    pthread_mutex_lock(&knowledge);
    const int failed = keep_layout(path, value, header);
    pthread_mutex_unlock(&knowledge);
    return failed;
}

/* A file with bytes in targets: its stripes, and which of the targets has the first one. */
struct striped {
    struct stripes stripes;
    uint32_t first;
};

static struct striped striped(const char* path) {
    unsigned char value[value_max];
    struct striped found = {0};
    if (targets[0].folder) {
        pthread_mutex_lock(&knowledge);
        const ssize_t length = read_layout(path, value);
        pthread_mutex_unlock(&knowledge);
        if (length > header) {
            memcpy(&found.stripes.bytes, value + unit_at, sizeof found.stripes.bytes);
            memcpy(&found.stripes.count, value + count_at, sizeof found.stripes.count);
            memcpy(&found.first, value + header + number_in_target, sizeof found.first);
        }
    }
    return found;
}

/* Which target has stripe `number`, of the first `count` ones. */
static uint32_t target_of(struct striped file, uint32_t number) {
    return (file.first + number) % target_count;
}

/* The first part of `length` bytes from `at` on, and the target that has it. */
static struct part next_part(struct striped file, off_t at, size_t length) {
    struct part part = first_part(file.stripes, at, length);
    part.target = target_of(file, part.target);
    return part;
}

/* ---- attributes ------------------------------------------------------------------------------*/

static ssize_t lustre_value(const char* path, unsigned char* value) {
    if (strcmp(path, "/") == 0) {
        default_layout(value);
        return header;
    }
    pthread_mutex_lock(&knowledge);
    const ssize_t length = read_layout(path, value);
    pthread_mutex_unlock(&knowledge);
    return length > 0 && strncmp(path, "/broken", 7) == 0 ? 20 : length;
}

/* "2 1 1", and begins anew unless only its length is asked for. */
static ssize_t at_once_value(size_t room, char* value) {
    int length = 0;
    for (uint16_t i = 0; i < target_count; i++) {
        const int most = room > 0 ? atomic_exchange(&targets[i].most, 0) : targets[i].most;
        length += snprintf(value + length, value_max - (size_t)length, i ? " %d" : "%d", most);
    }
    return length;
}

static int get_attribute(const char* path, const char* name, char* to, size_t room) {
    unsigned char value[value_max];
    ssize_t length = 0;
    if (strcmp(name, "lustre.lov") == 0) {
        length = lustre_value(path, value);
    } else if (strcmp(name, "striped_fs.at_once") == 0 && strcmp(path, "/") == 0) {
        length = at_once_value(room, (char*)value);
    }
    if (length <= 0) {
        return -ENODATA;
    }
    if (room > 0 && (size_t)length > room) {
        return -ERANGE;
    }
    if (room > 0) {
        memcpy(to, value, (size_t)length);
    }
    return (int)length;
}

static int is_folder(const char* path) {
    char b[name_max];
    struct stat found;
    return lstat(below(path, b, sizeof b), &found) == 0 && S_ISDIR(found.st_mode);
}

static int set_attribute(const char* path, const char* name, const char* from, size_t length,
                         int flags) {
    unsigned char value[value_max];
    (void)flags;
    if (strcmp(name, "lustre.lov") != 0) {
        return -EOPNOTSUPP;
    }
    if (length < header) {
        return -ERANGE;
    }
    memcpy(value, from, header);
    if (strcmp(path, "/") == 0) {
        return -EOPNOTSUPP;
    }
    return is_folder(path) ? set_folder(path, value) : place(path, value);
}

/* ---- objects ---------------------------------------------------------------------------------*/

static int open_object(const char* path, uint32_t target, int flags) {
    char b[name_max];
    return open(object_of(path, target, b, sizeof b), flags, 0644);
}

static void begin_request(uint32_t target) {
    const int now = atomic_fetch_add(&targets[target].now, 1) + 1;
    int most = targets[target].most;
    while (now > most && !atomic_compare_exchange_weak(&targets[target].most, &most, now)) {
    }
}

static void end_request(uint32_t target) { atomic_fetch_sub(&targets[target].now, 1); }

/* `errno` is what the transfer left. */
static void close_object(int fd) {
    const int left = errno;
    close(fd);
    errno = left;
}

static ssize_t write_part(const char* path, struct part part, const char* from) {
    const struct iovec bytes = {(void*)from, part.length};
    begin_request(part.target);
    const int fd = open_object(path, part.target, O_WRONLY | O_CREAT);
    const ssize_t moved = fd < 0 ? -1 : pwritev2(fd, &bytes, 1, part.at, write_flags);
    if (fd >= 0) {
        close_object(fd);
    }
    end_request(part.target);
    return moved;
}

/* Bytes that the object does not have stay as they are. */
static ssize_t read_part(const char* path, struct part part, char* to) {
    begin_request(part.target);
    const int fd = open_object(path, part.target, O_RDONLY);
    ssize_t moved = fd >= 0 || errno == ENOENT ? 0 : -1;
    if (fd >= 0) {
        moved = pread(fd, to, part.length, part.at);
        close_object(fd);
    }
    end_request(part.target);
    return moved;
}

static int grow(int fd, off_t length) {
    struct stat now;
    pthread_mutex_lock(&knowledge);
    int failed = fstat(fd, &now);
    if (failed == 0 && now.st_size < length) {
        failed = ftruncate(fd, length);
    }
    pthread_mutex_unlock(&knowledge);
    return failed;
}

static int truncate_objects(const char* path, off_t length) {
    const struct striped file = striped(path);
    for (uint32_t i = 0; i < file.stripes.count; i++) {
        const off_t left = object_bytes(file.stripes, i, length);
        const int fd = open_object(path, target_of(file, i), O_WRONLY);
        struct stat now;
        const int failed = fd >= 0 && fstat(fd, &now) == 0 && now.st_size > left
                               ? ftruncate(fd, left)
                               : fd < 0 && errno != ENOENT;
        if (fd >= 0) {
            close_object(fd);
        }
        if (failed) {
            return -errno;
        }
    }
    return 0;
}

/* All targets begin before one is waited for. */
static int sync_objects(const char* path) {
    const struct striped file = striped(path);
    int failed = 0;
    for (int waits = 0; waits < 2; waits++) {
        for (uint32_t i = 0; i < file.stripes.count; i++) {
            const int fd = open_object(path, target_of(file, i), O_RDONLY);
            if (fd >= 0) {
                const int done =
                    waits ? fsync(fd) : sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
                failed = done != 0 ? -errno : failed;
                close(fd);
            }
        }
    }
    return failed;
}

/* ---- operations ------------------------------------------------------------------------------*/

static int get_status(const char* path, struct stat* to, struct fuse_file_info* info) {
    const int failed = fs_getattr(path, to, info);
    const struct striped file = failed ? (struct striped){0} : striped(path);
    for (uint32_t i = 0; i < file.stripes.count; i++) {
        char b[name_max];
        struct stat object;
        const int there = lstat(object_of(path, target_of(file, i), b, sizeof b), &object) == 0;
        to->st_blocks += there ? object.st_blocks : 0;
    }
    return failed;
}

static int make_node(const char* path, mode_t mode, dev_t device) {
    char b[name_max];
    return answer(mknod(below(path, b, sizeof b), mode, device));
}

static int open_with_layout(const char* path, struct fuse_file_info* info) {
    int failed = fs_open(path, info);
    if (failed == 0 && (info->flags & O_ACCMODE) != O_RDONLY) {
        failed = place_default(path);
    }
    if (failed == 0 && (info->flags & O_TRUNC) != 0) {
        failed = truncate_objects(path, 0);
    }
    if (failed && info->fh != (uint64_t)-1) {
        close((int)info->fh);
    }
    info->direct_io = targets[0].folder != NULL; /* every request reaches its target as it is */
    return failed;
}

static int read_striped(const char* path, char* to, size_t length, off_t at,
                        struct fuse_file_info* info) {
    const struct striped file = striped(path);
    struct stat now;
    if (!targets[0].folder) {
        return fs_read(path, to, length, at, info);
    }
    if (fstat((int)info->fh, &now) != 0) {
        return -errno;
    }
    const off_t left = now.st_size > at ? now.st_size - at : 0;
    length = (off_t)length > left ? (size_t)left : length;
    memset(to, 0, length);
    for (size_t done = 0; file.stripes.count > 0 && done < length;) {
        const struct part part = next_part(file, at + (off_t)done, length - done);
        if (read_part(path, part, to + done) < 0) {
            return -errno;
        }
        done += part.length;
    }
    return (int)length;
}

static int write_striped(const char* path, const char* from, size_t length, off_t at,
                         struct fuse_file_info* info) {
    const struct striped file = striped(path);
    size_t done = 0;
    if (file.stripes.count == 0) {
        return fs_write(path, from, length, at, info);
    }
    for (ssize_t moved = 1; moved > 0 && done < length; done += (size_t)moved) {
        const struct part part = next_part(file, at + (off_t)done, length - done);
        moved = write_part(path, part, from + done);
        if (moved < 0 && done == 0) {
            return -errno;
        }
        moved = moved < 0 ? 0 : moved;
    }
    return grow((int)info->fh, at + (off_t)done) == 0 ? (int)done : -errno;
}

static int truncate_striped(const char* path, off_t length, struct fuse_file_info* info) {
    const int failed = truncate_objects(path, length);
    return failed ? failed : fs_truncate(path, length, info);
}

static int unlink_striped(const char* path) {
    char b[name_max];
    const struct striped file = striped(path);
    for (uint32_t i = 0; i < file.stripes.count; i++) {
        unlink(object_of(path, target_of(file, i), b, sizeof b));
    }
    unlink(layout_of(path, b, sizeof b));
    return fs_unlink(path);
}

static int sync_striped(const char* path, int data_only, struct fuse_file_info* info) {
    const int failed = sync_objects(path);
    return failed ? failed : fs_fsync(path, data_only, info);
}

/* COUNT or TARGET…; 0: neither. */
static int take_targets(int count, char** words) {
    if (count == 1 && isdigit((unsigned char)words[0][0])) {
        target_count = (uint16_t)atoi(words[0]);
        return target_count > 0 && target_count <= targets_max;
    }
    for (int i = 0; i < count && count <= targets_max; i++) {
        targets[i].folder = words[i];
        target_count = (uint16_t)count;
    }
    return target_count > 0;
}

static int make_folder(const char* path, mode_t mode) {
    unsigned char value[value_max];
    const int failed = fs_mkdir(path, mode);
    layout_around(path, value);
    return failed ? failed : set_folder(path, value);
}

static int remove_folder(const char* path) {
    char b[name_max];
    const int failed = fs_rmdir(path);
    if (!failed) {
        unlink(layout_of(path, b, sizeof b));
    }
    return failed;
}

/* Names that begin with a dot are ours. */
static int list_files(const char* path, void* to, fuse_fill_dir_t fill, off_t from,
                      struct fuse_file_info* info, enum fuse_readdir_flags flags) {
    (void)from, (void)info, (void)flags;
    return fs_list(path, to, fill, '.');
}

int main(int argc, char** argv) {
    struct fuse_operations operations = fs_operations(read_striped, write_striped);
    operations.getattr = get_status;
    operations.mknod = make_node;
    operations.open = open_with_layout;
    operations.truncate = truncate_striped;
    operations.unlink = unlink_striped;
    operations.mkdir = make_folder;
    operations.rmdir = remove_folder;
    operations.statfs = fs_statfs;
    operations.readdir = list_files;
    operations.fsync = sync_striped;
    operations.getxattr = get_attribute;
    operations.setxattr = set_attribute;
    char b[name_max];
    int safe = 0, word;
    while ((word = getopt(argc, argv, "sr")) != -1) {
        safe = safe || word == 's';
        in_turn = in_turn || word == 'r';
    }
    char** words = argv + optind;
    if (argc - optind < 3 || !take_targets(argc - optind - 2, words + 2)) {
        fprintf(stderr, "usage: striped_fs [-s] [-r] MOUNTPOINT FOLDER COUNT|TARGET...\n");
        return 2;
    }
    folder = words[1];
    write_flags = safe ? RWF_DSYNC : 0;
    snprintf(b, sizeof b, "%s/.lov", folder);
    mkdir(b, 0755);
    return serve_in_parallel(argv[0], words[0], &operations);
}
