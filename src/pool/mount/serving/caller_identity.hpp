// As whom a serving thread acts. A daemon of root creates files as the caller would, by owner and
// group, and clears set-id bits as the caller's own write would: its threads do without CAP_FSETID.
#pragma once

#include "pool/mount/serving/fuse.hpp"

#include <sys/types.h>

namespace forebay::mount {

// Once in each serving thread: it has a umask of its own, and where it is root's, neither
// CAP_FSETID nor CAP_SYS_RESOURCE, which would let writes past quotas. An errno, or 0.
[[nodiscard]] int become_serving_thread() noexcept;

// While it lives, this thread creates files as the caller of the request.
class CallerIdentity {
public:
    CallerIdentity(const fuse_ctx& caller, bool by_root) noexcept;
    CallerIdentity(const CallerIdentity&) = delete;
    CallerIdentity& operator=(const CallerIdentity&) = delete;
    ~CallerIdentity();

private:
    bool acts_;
};

// While it lives, this thread is of that group: else the kernel would take S_ISGID away from a mode
// that it sets.
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
