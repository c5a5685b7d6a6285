// Compares our values with those of the headers, where these are new enough to have them.
#include "foundation/kernel/newer_linux.hpp"

#include <cstddef>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if __has_include(<linux/close_range.h>)
#include <linux/close_range.h>
#endif
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

namespace forebay::kernel {
namespace {

TEST(NewerLinux, HasTheNumbersOfTheHeaders) {
#ifdef SYS_io_uring_setup
    EXPECT_EQ(number::io_uring_setup, SYS_io_uring_setup);
#endif
#ifdef SYS_fsconfig
    EXPECT_EQ(number::fsconfig, SYS_fsconfig);
#endif
#ifdef SYS_pidfd_open
    EXPECT_EQ(number::pidfd_open, SYS_pidfd_open);
#endif
#ifdef SYS_clone3
    EXPECT_EQ(number::clone3, SYS_clone3);
#endif
#ifdef SYS_close_range
    EXPECT_EQ(number::close_range, SYS_close_range);
#endif
#ifdef SYS_openat2
    EXPECT_EQ(number::openat2, SYS_openat2);
#endif
#ifdef SYS_pidfd_getfd
    EXPECT_EQ(number::pidfd_getfd, SYS_pidfd_getfd);
#endif
#ifdef SYS_epoll_pwait2
    EXPECT_EQ(number::epoll_pwait2, SYS_epoll_pwait2);
#endif
#ifdef SYS_mount_setattr
    EXPECT_EQ(number::mount_setattr, SYS_mount_setattr);
#endif
}

TEST(NewerLinux, HasTheConstantsOfTheHeaders) {
#ifdef MADV_POPULATE_WRITE
    EXPECT_EQ(populate_read, MADV_POPULATE_READ);
    EXPECT_EQ(populate_write, MADV_POPULATE_WRITE);
#endif
#ifdef F_SEAL_FUTURE_WRITE
    EXPECT_EQ(seal_future_write, F_SEAL_FUTURE_WRITE);
#endif
#ifdef CLOSE_RANGE_CLOEXEC
    EXPECT_EQ(own_table, CLOSE_RANGE_UNSHARE);
    EXPECT_EQ(close_on_exec, CLOSE_RANGE_CLOEXEC);
#endif
#ifdef PR_SET_IO_FLUSHER
    EXPECT_EQ(set_io_flusher, PR_SET_IO_FLUSHER);
#endif
#ifdef XFS_SUPER_MAGIC
    EXPECT_EQ(xfs_magic, XFS_SUPER_MAGIC);
#endif
}

TEST(NewerLinux, HasTheStructuresOfTheHeaders) {
#ifdef RESOLVE_NO_SYMLINKS
    EXPECT_EQ(resolve_no_symlinks, RESOLVE_NO_SYMLINKS);
    EXPECT_EQ(sizeof(OpenHow), sizeof(open_how));
    EXPECT_EQ(offsetof(OpenHow, resolve), offsetof(open_how, resolve));
#endif
#ifdef CLONE_ARGS_SIZE_VER0
    EXPECT_EQ(sizeof(CloneArguments), CLONE_ARGS_SIZE_VER0);
    EXPECT_EQ(offsetof(CloneArguments, stack), offsetof(clone_args, stack));
#endif
}

}  // namespace
}  // namespace forebay::kernel
