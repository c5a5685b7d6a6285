// See file_opener.hpp.
#include "pool/daemon/requests/file_opener.hpp"

#include "foundation/base/contracts.hpp"

#include <chrono>

namespace forebay::daemon {

namespace {

// A file that opens at once is answered at once. Beyond this time a file system holds up only the
// clients that wait for it.
constexpr auto opening_wait = std::chrono::milliseconds{1};

}  // namespace

// Nobody else has to be asked where files of the same mount have been opened before.
bool FileOpener::opens_at_once(const FileOpening& opening) const {
    return !local_mounts_.empty() && !opening.takes_long() &&
           local_mounts_.contains(opening.mount());
}

std::optional<OpeningTicket> FileOpener::begin(const std::shared_ptr<FileOpening>& opening) {
    expects(opening != nullptr, "there is something to open");
    if (opens_at_once(*opening)) {
        opening->run();
        return std::nullopt;
    }
    const OpeningTicket ticket = tickets_.open([opening] { opening->run(); });
    return opening->over_within(opening_wait, yielding_) ? std::nullopt : std::optional{ticket};
}

void FileOpener::note_mount(const FileOpening& opening, bool is_local) {
    if (!is_local) {
        local_mounts_.erase(opening.mount());  // what had this number before is gone
    } else if (opening.mount() != 0) {
        local_mounts_.insert(opening.mount());
    }
    ensures(!local_mounts_.contains(0), "a mount that is not known counts as far away");
}

}  // namespace forebay::daemon
