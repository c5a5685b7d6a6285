// Folders and files that nobody but the caller can have put there: found by name, and looked at
// when they are open, so that nothing can come in between.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>
#include <sys/stat.h>

namespace forebay::adapters {

// By an absolute path, and made for its user only where it is not there. The folder's own name is
// no link. On the way to it, links of root and of the caller are followed (sites name their disks
// by such links), and nobody else's. Refused, too, is a folder that is not the caller's own.
[[nodiscard]] Result<OwnFd> open_own_folder(const std::string& path);

// Why others may have written it; empty: they have not. A folder or a plain file: its owner, who
// may write to it, and whether a file has a second name.
[[nodiscard]] std::string why_not_own(const struct stat& found);

// A file in that folder, which is no link, and the caller's own. `flags` as for open. Where it is
// not, the error's `system` is EPERM.
[[nodiscard]] Result<OwnFd> open_own_file(const OwnFd& folder, const std::string& name, int flags);

}  // namespace forebay::adapters
