// The length and times of a file when it was last opened, by which the pool notices that somebody
// else has changed it.
#pragma once

#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <memory>

namespace forebay::pool {

struct FileStamp {
    // Shared with the storage that reads ahead, which notices by it that the file has changed.
    std::shared_ptr<ports::ChangeStamp> seen = std::make_shared<ports::ChangeStamp>();
    std::int64_t bytes = 0;     // last known length on the file system
    bool changed_here = false;  // the pool has changed the file since
    // It was changed so shortly before it was opened that a further change may leave the same
    // times.
    bool fresh = false;

    // The pool has changed the file, or is about to.
    void mark_changed_here() noexcept { changed_here = true; }
};

}  // namespace forebay::pool
