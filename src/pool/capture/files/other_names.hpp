// A file of the pool that is met by a name outside of the pool paths (a hard link, after it was
// renamed, where its folder is mounted once more) is found by its inode.
#pragma once

#include "pool/protocol/known_inodes.hpp"

#include <sys/stat.h>
#include <sys/types.h>

namespace forebay::capture {

class OtherNames {
public:
    // Maps the inodes of the daemon at this socket. Where that fails, no file has another name.
    void map(const char* socket) noexcept;
    // False: the daemon does not know the file. True: it may.
    [[nodiscard]] bool may_have(dev_t device, ino_t inode) const noexcept {
        return inodes_ != nullptr && inodes_->may_have(device, inode);
    }

private:
    const pool::KnownInodes* inodes_ = nullptr;
};

// The daemon knows the file, or keeps out of its way for this process.
[[nodiscard]] bool is_known_by_inode(const struct stat& found) noexcept;

}  // namespace forebay::capture
