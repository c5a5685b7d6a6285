// Uses raw system calls, which change the calling thread only.
#include "pool/mount/serving/caller_identity.hpp"

#include "foundation/kernel/newer_linux.hpp"

#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay::mount {

namespace {

// Does nothing in a thread that has neither of them, such as an ordinary user's.
int drop_capabilities() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0) {
        return errno;
    }
    bool has_any = false;
    for (const unsigned one : {CAP_FSETID, CAP_SYS_RESOURCE}) {
        const unsigned bit = 1U << one % 32;
        has_any = has_any || (sets[one / 32].permitted & bit) != 0;
        sets[one / 32].effective &= ~bit;
        sets[one / 32].permitted &= ~bit;
    }
    // A change of fsuid must leave the other capabilities: the kernel has already checked what the
    // caller may do (default_permissions).
    if (!has_any || (::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) == 0 &&
                     ::syscall(SYS_capset, &header, sets.data()) == 0)) {
        return 0;
    }
    return errno;
}

}  // namespace

int become_serving_thread() noexcept {
    if (::unshare(CLONE_FS) != 0) {
        return errno;
    }
    ::umask(0);
    // Memory reclaim on behalf of this thread must not wait for writeback that this thread itself
    // would serve (deadlock). An ordinary user may not set this.
    ::prctl(kernel::set_io_flusher, 1, 0, 0, 0);
    return drop_capabilities();
}

// In a set-gid directory a file is made with the directory's group, whoever makes it; with S_ISGID
// only by a member. Callers may be members by a supplementary group, which this thread has not.
CallerIdentity::CallerIdentity(const fuse_ctx& caller, bool by_root, int folder,
                               mode_t mode) noexcept
    : CallerIdentity{caller, by_root} {
    constexpr mode_t set_gid = S_ISGID | S_IXGRP;
    struct stat status{};
    if (acts_ && (mode & set_gid) == set_gid && ::fstat(folder, &status) == 0 &&
        (status.st_mode & S_ISGID) != 0) {
        ::syscall(SYS_setfsgid, status.st_gid);
    }
}

CallerIdentity::CallerIdentity(const fuse_ctx& caller, bool by_root) noexcept : acts_{by_root} {
    ::umask(caller.umask & 0777);
    if (acts_) {
        ::syscall(SYS_setfsgid, caller.gid);
        ::syscall(SYS_setfsuid, caller.uid);
    }
}

CallerIdentity::~CallerIdentity() {
    if (acts_) {
        ::syscall(SYS_setfsuid, 0);
        ::syscall(SYS_setfsgid, 0);
    }
    ::umask(0);
}

GroupIdentity::GroupIdentity(gid_t group, bool by_root) noexcept : acts_{by_root} {
    if (acts_) {
        ::syscall(SYS_setfsgid, group);
    }
}

GroupIdentity::~GroupIdentity() {
    if (acts_) {
        ::syscall(SYS_setfsgid, 0);
    }
}

}  // namespace forebay::mount
