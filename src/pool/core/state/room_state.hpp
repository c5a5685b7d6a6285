// The room on a file's file system, as far as it is known.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>

namespace forebay::pool {

// A look at the room on a file's file system.
struct RoomLook {
    std::int64_t room = -1;            // bytes; negative: it cannot be told
    std::int64_t began_ns = never_ns;  // never_ns: nobody has looked yet
    std::int64_t drained_bytes = 0;    // by the pool until then, to whatever file
};

struct RoomState {
    std::int64_t asked_ns = never_ns;
    std::int64_t asked_held_bytes = 0;       // bytes that were held then
    RoomLook look;                           // the last that has ended
    std::int64_t short_since_ns = never_ns;  // there was no room; see room.hpp. never_ns: there is
};

}  // namespace forebay::pool
