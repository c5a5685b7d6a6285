// The pool's knowledge of the free space on a file's file system; see room.hpp.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>

namespace forebay::pool {

// One look at the free space.
struct RoomLook {
    std::int64_t room = -1;            // free bytes; negative: the file system does not tell
    std::int64_t began_ns = never_ns;  // before the look; never_ns: none, or at an unknown time
    std::int64_t drained_bytes = 0;    // PoolCounts::drained_bytes at that time
};

struct RoomState {
    // When a look was last begun.
    std::int64_t asked_ns = never_ns;
    std::int64_t asked_held_bytes = 0;  // the file's held_bytes at that time
    RoomLook look;                      // the last look that has ended
    // Since when space has been lacking, so that draining fails or the file leaves; never_ns: it is
    // not.
    std::int64_t short_since_ns = never_ns;
};

}  // namespace forebay::pool
