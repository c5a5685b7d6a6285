// Makes a FUSE mount, and gives the descriptor of /dev/fuse by which it is served: by mount(2)
// where this process has the right to it, otherwise by fusermount3.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace forebay::mount {

struct MountRequest {
    std::string directory;
    std::string name;             // source of the mount in the kernel's list
    bool allow_other = false;     // for all users, not for this one alone
    bool has_privileges = false;  // of root, or of a namespace of its own
};

[[nodiscard]] Result<OwnFd> mount_fuse(const MountRequest& request);

// Asks the kernel to forget the inodes `numbers` that nobody uses, whatever waits for a folder.
// Numbers of no inode are passed over. Returns whether it can: kernels before 6.18 cannot.
// Source: FUSE_NOTIFY_PRUNE of FUSE 7.45, which libfuse sends from 3.18 on.
[[nodiscard]] bool prune_inodes(int device, std::span<const std::uint64_t> numbers);

}  // namespace forebay::mount
