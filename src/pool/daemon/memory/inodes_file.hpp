// A table in shared memory in which processes that are not connected to the daemon see whether it
// may know an inode. A symbolic link beside the socket leads to the daemon's memfd, through
// /proc/PID/fd. Unlike a file, the memfd cannot be truncated under the daemon or a reader, and it
// vanishes with the daemon.
#pragma once

#include "foundation/base/result.hpp"
#include "pool/daemon/memory/shared_segment.hpp"
#include "pool/protocol/known_inodes.hpp"

#include <memory>
#include <string>
#include <utility>

namespace forebay::daemon {

class InodesFile {
public:
    // Replaces the link, which a dead daemon may have left there.
    [[nodiscard]] static Result<std::unique_ptr<InodesFile>> make(std::string link);
    InodesFile(const InodesFile&) = delete;
    InodesFile& operator=(const InodesFile&) = delete;
    ~InodesFile();

    [[nodiscard]] pool::KnownInodes& inodes() const noexcept {
        return *reinterpret_cast<pool::KnownInodes*>(segment_.base());
    }

private:
    InodesFile(std::string link, SharedSegment segment, OwnFd read) noexcept
        : link_{std::move(link)}, segment_{std::move(segment)}, read_{std::move(read)} {}

    std::string link_;
    SharedSegment segment_;
    OwnFd read_;  // the read-only descriptor that the link leads to
};

}  // namespace forebay::daemon
