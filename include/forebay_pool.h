/* A program's settings for one of its files in Forebay's pool, by ioctl on the descriptor.
 *
 *     #include <forebay_pool.h>
 *     #include <sys/ioctl.h>
 *
 *     struct forebay_pool_setting off = {.mode = FOREBAY_POOL_OFF};
 *     if (ioctl(fd, FOREBAY_POOL_SET, &off) != 0 && errno != ENOTTY) {
 *         perror("forebay");
 *     }
 *
 * Nothing is linked. A program that runs without Forebay, or whose file is not in the pool (it lies
 * below no pool path), is told ENOTTY by the kernel, and may go on: its files are plain files then.
 * From Fortran and Python: examples/pool-switch/pool_switch.f90 and pool_switch.py.
 *
 * Where a mount serves the file (pool_mount), FOREBAY_POOL_SET works for programs that nobody
 * captures, too, FOREBAY_POOL_GET only for captured ones, and a file that is switched off cannot be
 * switched on again before it is closed by all.
 *
 * A setting is the file's, for all who have it open on this node, until nobody has; opened again,
 * it is as the settings say. */
#ifndef FOREBAY_POOL_H
#define FOREBAY_POOL_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum forebay_pool_mode {
    /* As it is. */
    FOREBAY_POOL_AS_IT_IS = 0,
    /* Earlier writes are drained; from then on, reads and writes go to the file system directly. */
    FOREBAY_POOL_OFF = 1,
    /* Writes are taken by the pool. */
    FOREBAY_POOL_ON = 2
};

enum forebay_pool_durability {
    FOREBAY_POOL_DURABILITY_AS_IT_IS = 0,
    /* A write counts when the pool has it: it survives the program, not the node. */
    FOREBAY_POOL_PROCESS = 1,
    /* A write counts when it is with the file system, which FOREBAY_POOL_OFF does. fsync is still
     * what puts it on the storage. */
    FOREBAY_POOL_GLOBAL = 2
};

struct forebay_pool_setting {
    __u32 mode;       /* enum forebay_pool_mode */
    __u32 durability; /* enum forebay_pool_durability */
    __u64 window;     /* bytes that may be in the pool at a time; 0: as it is */
};

struct forebay_pool_state {
    __u32 mode;       /* FOREBAY_POOL_OFF or FOREBAY_POOL_ON */
    __u32 durability; /* FOREBAY_POOL_PROCESS or FOREBAY_POOL_GLOBAL */
    __u64 window;     /* bytes */
    __u64 taken;      /* bytes that the pool took of this file since it was opened first */
    __u64 waiting;    /* … and that are not drained yet */
    __s32 error;      /* errno that draining met, and that fsync and close will return; 0: none */
    __u32 reserved;
};

/* 0x4010fb01. Needs a descriptor that may write. Fails with
 *   ENOTTY  the file is not in the pool
 *   EBADF   the descriptor may not write
 *   EBUSY   FOREBAY_POOL_ON, but something else keeps the file out of the pool: it is mapped, used
 *           by a C stream, opened with O_APPEND or O_DIRECT, given to another program, or all files
 *           are written through
 *   EINVAL  no such mode or durability, or FOREBAY_POOL_ON together with FOREBAY_POOL_GLOBAL
 *   EIO     the daemon of the node has died
 *   or the error that draining met */
#define FOREBAY_POOL_SET _IOW(0xfb, 1, struct forebay_pool_setting)
/* 0x8028fb02 */
#define FOREBAY_POOL_GET _IOR(0xfb, 2, struct forebay_pool_state)

#endif
