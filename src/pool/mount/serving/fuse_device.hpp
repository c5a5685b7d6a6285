// Makes a FUSE mount, and gives the descriptor of /dev/fuse by which it is served: by mount(2)
// where this process has the right to it, otherwise by fusermount3.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>

namespace forebay::mount {

struct MountRequest {
    std::string directory;
    std::string name;             // source of the mount in the kernel's list
    bool allow_other = false;     // for all users, not for this one alone
    bool has_privileges = false;  // of root, or of a namespace of its own
};

[[nodiscard]] Result<OwnFd> mount_fuse(const MountRequest& request);

}  // namespace forebay::mount
