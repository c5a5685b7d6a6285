// Identities and privileges of serving threads. If the mount runs as root, files are created with
// the caller's owner and group, and set-id bits are cleared as by the caller's own writes, since
// serving threads give up CAP_FSETID.
#pragma once

#include "pool/mount/serving/fuse.hpp"

#include <sys/types.h>

namespace forebay::mount {

// To be called once in each serving thread: gives it a umask of its own, and, if it has them as
// root or in a user namespace, takes CAP_FSETID and CAP_SYS_RESOURCE (by which writes could exceed
// quotas) from it. Returns 0 or an errno.
[[nodiscard]] int become_serving_thread() noexcept;

// RAII guard: this thread creates files with the owner, group and umask of the request's caller.
class CallerIdentity {
public:
    CallerIdentity(const fuse_ctx& caller, bool by_root) noexcept;
    // To make a file with that `mode` in the directory of the descriptor `folder`. It keeps
    // S_ISGID: the kernel has cleared it in `mode` if the caller is not in the directory's group.
    CallerIdentity(const fuse_ctx& caller, bool by_root, int folder, mode_t mode) noexcept;
    CallerIdentity(const CallerIdentity&) = delete;
    CallerIdentity& operator=(const CallerIdentity&) = delete;
    ~CallerIdentity();

private:
    bool acts_;
};

// RAII guard: this thread has the file's group. Otherwise chmod without CAP_FSETID would clear
// S_ISGID.
class GroupIdentity {
public:
    GroupIdentity(gid_t group, bool by_root) noexcept;
    GroupIdentity(const GroupIdentity&) = delete;
    GroupIdentity& operator=(const GroupIdentity&) = delete;
    ~GroupIdentity();

private:
    bool acts_;
};

}  // namespace forebay::mount
