// The requests of clients about a file (drain, sync, leave, truncate) that are not answered yet.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/core/types.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::pool {

// One request, made at `at_ns` (CLOCK_MONOTONIC) and answered by `ticket`.
struct FileRequest {
    std::uint64_t ticket = 0;
    FileTask task;
    std::int64_t at_ns = 0;
    // For a sync that is complete when the journal has the bytes: how many entries the journal must
    // have made durable (Journal::so_far()). It is known once everything that was committed before
    // the request is taken. nullopt: not known yet, or the file itself has to be synced.
    std::optional<std::uint64_t> journal_entries{};
};

struct RequestState {
    // In the order in which they came.
    std::vector<FileRequest> waiting;
    bool truncates = false;  // a background task truncates the file now
    // The extents of deposits that were taken since that truncation began. They are newer than it:
    // when it has ended, they are kept.
    std::vector<Extent> deposited_since;
};

}  // namespace forebay::pool
