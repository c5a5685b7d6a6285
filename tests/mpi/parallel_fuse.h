/* Serves a FUSE file system whose writes of one file may run at the same time. Linux holds a file's
 * lock during a FUSE write unless the answer to its opening has FOPEN_PARALLEL_DIRECT_WRITES (6.2;
 * only writes within the file, and only with direct_io). The library cannot say that before 3.15:
 * it is put into the answer on its way, by the thread that has read the question. Needs root. */
#pragma once

#include "folder_fs.h"

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/uio.h>

enum { parallel_direct_writes = 1 << 6, serving_threads = 64 };

static _Thread_local uint32_t question;

static inline ssize_t read_question(int fd, void* to, size_t room, void* data) {
    (void)data;
    const ssize_t got = read(fd, to, room);
    question = got > 0 ? ((const struct fuse_in_header*)to)->opcode : 0;
    return got;
}

static inline ssize_t write_answer(int fd, struct iovec* parts, int count, void* data) {
    (void)data;
    if (question == FUSE_OPEN && count == 2 && parts[1].iov_len == sizeof(struct fuse_open_out)) {
        ((struct fuse_open_out*)parts[1].iov_base)->open_flags |= parallel_direct_writes;
    }
    return writev(fd, parts, count);
}

static inline int mount_fuse(const char* mountpoint) {
    char options[128];
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    if (fd >= 0 && mount("forebay", mountpoint, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int loop(struct fuse* fuse) {
    struct fuse_loop_config* config = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(config, serving_threads);
    const int ended = fuse_loop_mt(fuse, config);
    fuse_loop_cfg_destroy(config);
    return ended;
}

/* Until it is unmounted or told to end by a signal; main's result. */
static inline int serve_in_parallel(char* program, const char* mountpoint,
                                    const struct fuse_operations* operations) {
    static const struct fuse_custom_io through = {.writev = write_answer, .read = read_question};
    char* arguments[] = {program, NULL};
    struct fuse_args words = FUSE_ARGS_INIT(1, arguments);
    struct fuse* fuse = fuse_new(&words, operations, sizeof *operations, NULL);
    const int fd = fuse ? mount_fuse(mountpoint) : -1;
    if (fd < 0) {
        perror(mountpoint);
        return 1;
    }
    struct fuse_session* session = fuse_get_session(fuse);
    int failed = fuse_session_custom_io(session, &through, fd) != 0 ||
                 fuse_set_signal_handlers(session) != 0;
    failed = failed || loop(fuse) < 0;
    fuse_remove_signal_handlers(session);
    umount2(mountpoint, MNT_DETACH);
    fuse_destroy(fuse);
    return failed;
}
