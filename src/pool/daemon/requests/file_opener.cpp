// Decides whether a file is opened in the daemon's own thread or by another one.
#include "pool/daemon/requests/file_opener.hpp"

#include "foundation/base/contracts.hpp"

#include <chrono>

namespace forebay::daemon {

namespace {

// How long the daemon's only thread waits for an opening by another thread. An opening that is
// over by then is answered at once. After that, a slow file system delays only the client that
// asked.
constexpr auto opening_wait = std::chrono::milliseconds{1};

}  // namespace

// A file on a mount that is known to be local opens without asking a server, so the daemon's own
// thread may open it.
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
        // The number may have been that of a local mount, which was unmounted since.
        local_mounts_.erase(opening.mount());
    } else if (opening.mount() != 0) {
        local_mounts_.insert(opening.mount());
    }
    ensures(!local_mounts_.contains(0), "a mount that is not known counts as far away");
}

}  // namespace forebay::daemon
