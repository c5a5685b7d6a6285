/* A FUSE file system that shows a folder, written through, with a latency for every request and a
 * bandwidth that all requests share: slow_fs MOUNTPOINT FOLDER LATENCY_US BYTES_PER_SECOND.
 * Stopped (SIGSTOP), it is a file system that hangs. While FOLDER has a file "hang-at-open", only
 * opening what is there hangs, and so do questions about the file system. */
#include "folder_fs.h"

#include <pthread.h>
#include <time.h>

static long latency_ns;
static double bytes_per_ns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long busy_until_ns; /* when the last request's bytes will have passed */

static long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void wait_for(size_t bytes) {
    const long now = now_ns();
    pthread_mutex_lock(&mutex);
    busy_until_ns = busy_until_ns > now ? busy_until_ns : now;
    busy_until_ns += (long)((double)bytes / bytes_per_ns);
    const long until = busy_until_ns + latency_ns;
    pthread_mutex_unlock(&mutex);
    const struct timespec t = {.tv_sec = until / 1000000000L, .tv_nsec = until % 1000000000L};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void hang_if_told(void) {
    char b[name_max];
    const struct timespec moment = {.tv_nsec = 5000000};
    while (access(below("/hang-at-open", b, sizeof b), F_OK) == 0) {
        nanosleep(&moment, NULL);
    }
}

static int statfs_slow(const char* path, struct statvfs* out) {
    hang_if_told();
    return fs_statfs(path, out);
}

static int open_slow(const char* path, struct fuse_file_info* info) {
    hang_if_told();
    info->flags &= ~O_APPEND;
    return fs_open_direct(path, info);
}

static int create_slow(const char* path, mode_t mode, struct fuse_file_info* info) {
    info->flags &= ~O_APPEND;
    return fs_create_direct(path, mode, info);
}

static int read_slow(const char* path, char* to, size_t length, off_t at,
                     struct fuse_file_info* info) {
    wait_for(length);
    return fs_read(path, to, length, at, info);
}

static int write_slow(const char* path, const char* from, size_t length, off_t at,
                      struct fuse_file_info* info) {
    wait_for(length);
    return fs_write(path, from, length, at, info);
}

static void* begin(struct fuse_conn_info* connection, struct fuse_config* config) {
    connection->max_write = 1 << 20;
    return fs_use_inodes(connection, config);
}

int main(int argc, char** argv) {
    struct fuse_operations operations = fs_direct_operations(read_slow, write_slow);
    operations.open = open_slow;
    operations.create = create_slow;
    operations.statfs = statfs_slow;
    operations.init = begin;
    if (argc != 5) {
        fprintf(stderr, "usage: slow_fs MOUNTPOINT FOLDER LATENCY_US BYTES_PER_SECOND\n");
        return 2;
    }
    folder = argv[2];
    latency_ns = atol(argv[3]) * 1000;
    bytes_per_ns = atof(argv[4]) * 1e-9;
    return serve(argv[0], argv[1], &operations);
}
