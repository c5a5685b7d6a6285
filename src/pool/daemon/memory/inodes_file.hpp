// Where processes that are not connected see which inodes the daemon may know: memory of the daemon
// to which a link beside its socket leads (through /proc), so that it cannot be taken from under
// either, and is gone with the daemon.
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
    // The link is made anew: what a dead daemon left there leads nowhere.
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
    OwnFd read_;  // where the link leads
};

}  // namespace forebay::daemon
