// Collects messages for users.
#include "pool/daemon/status/notes.hpp"

#include "foundation/base/contracts.hpp"

#include <utility>

namespace forebay::daemon {

void DaemonNotes::add_once(NoteOnce kind, std::string text) {
    if (added_.insert(kind).second) {
        add(std::move(text));
    }
}

std::vector<std::string> DaemonNotes::take_new() {
    invariant(returned_ <= notes_.size(), "no note is taken back");
    std::vector<std::string> fresh{notes_.begin() + static_cast<std::ptrdiff_t>(returned_),
                                   notes_.end()};
    returned_ = notes_.size();
    return fresh;
}

}  // namespace forebay::daemon
