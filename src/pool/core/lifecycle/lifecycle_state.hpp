// The steps that a file is about to take by itself.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>

namespace forebay::pool {

struct LifecycleState {
    // Opened for reading and for writing at this time, where these exclude each other: what was
    // closed before is not known until then. never_ns: it was not.
    std::int64_t mixed_ns = never_ns;

    // Leaving: a look at the logs that began after round `left_in_round` must find no reserved
    // entry.
    std::uint64_t left_in_round = 0;
    std::uint64_t reserved_in_round = 0;  // the last round that found one
    std::int64_t left_ns = 0;             // when it began to leave

    std::int64_t name_asked_ns = never_ns;  // when the file system was asked for its names
};

}  // namespace forebay::pool
