// The state of a file's transitions; see file_life.hpp. Times are CLOCK_MONOTONIC.
#pragma once

#include "pool/core/state/never.hpp"

#include <cstdint>

namespace forebay::pool {

struct LifecycleState {
    // When the file was seen to be open for reading and for writing, with CacheConsistency::paper.
    // It is judged when the logs are taken up to then, since one of them may say that the file was
    // closed before. never_ns: it was not.
    std::int64_t mixed_ns = never_ns;

    // A file that leaves goes through when a look at the logs that began after round
    // `left_in_round` has found no entry reserved for it.
    std::uint64_t left_in_round = 0;
    std::uint64_t reserved_in_round = 0;  // the last round that found a reserved entry
    std::int64_t left_ns = 0;             // when it began to leave

    // When the file system was last asked whether the file has a name.
    std::int64_t name_asked_ns = never_ns;
    // Whether a client that had the file open has forked: a child that has not used the file yet
    // may still do so.
    bool may_be_inherited = false;
};

}  // namespace forebay::pool
