// Recognises a file of the pool by its inode number, where its name lies outside of the pool paths:
// a hard link, a renamed file, or a directory that is mounted a second time.
#pragma once

#include "pool/protocol/known_inodes.hpp"

#include <sys/stat.h>
#include <sys/types.h>

namespace forebay::capture {

class OtherNames {
public:
    // Maps the set of inodes that the daemon at `socket` publishes. If that fails, may_have() is
    // always false.
    void map(const char* socket) noexcept;
    // False: the daemon does not know the file. True: it may (the set can err on this side).
    [[nodiscard]] bool may_have(dev_t device, ino_t inode) const noexcept {
        return inodes_ != nullptr && inodes_->may_have(device, inode);
    }

private:
    const pool::KnownInodes* inodes_ = nullptr;
};

// Whether the daemon may know the regular file `found`, which has the name `path` in `folder`: by
// its name or its inode before the first connection, and always after it, when asking costs little.
[[nodiscard]] bool may_be_known(int folder, const char* path, const struct stat& found) noexcept;
// Whether the daemon knows the file, or may know it while this process stays out of the pool.
[[nodiscard]] bool is_known_by_inode(const struct stat& found) noexcept;

}  // namespace forebay::capture
