// fusermount3, the set-uid program by which users without privileges mount and unmount FUSE file
// systems. Speaks the oldest form of its protocol: the options are on its command line, and it
// sends the descriptor of /dev/fuse (SCM_RIGHTS) over the socket that _FUSE_COMMFD names. libfuse
// would choose newer forms that an older fusermount3 does not know.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <string_view>

namespace forebay::mount {

// Mounts over `directory`, and returns the descriptor of /dev/fuse. `options` are separated by
// commas.
[[nodiscard]] Result<OwnFd> mount_by_helper(const std::string& directory,
                                            const std::string& options);
// Unmounts lazily. False: the mount is still there.
[[nodiscard]] bool unmount_by_helper(const std::string& directory);

// The error for a user for whom fusermount3 did not mount. `said`: the text that it wrote to its
// standard error.
[[nodiscard]] Error helper_error(const std::string& directory, std::string_view said);

}  // namespace forebay::mount
