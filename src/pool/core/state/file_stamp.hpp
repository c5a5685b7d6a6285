// A file as its file system showed it when it was last opened, and whether it is so still.
#pragma once

#include "foundation/ports/stamp.hpp"

#include <cstdint>
#include <memory>

namespace forebay::pool {

struct FileStamp {
    // Readers of the file for the pool share it, and see when it changes.
    std::shared_ptr<ports::ChangeStamp> seen = std::make_shared<ports::ChangeStamp>();
    std::int64_t bytes = 0;     // its length on the file system, as far as is known
    bool changed_here = false;  // by the pool, since then
    bool fresh = false;         // it was changed so shortly before that the times may not show more

    // The pool has changed the file, or is about to.
    void mark_changed_here() noexcept { changed_here = true; }
};

}  // namespace forebay::pool
