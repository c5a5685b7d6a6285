// The requests of clients about a file that are not answered yet.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/core/types.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::pool {

struct FileRequest {
    std::uint64_t ticket = 0;
    FileTask task;
    std::int64_t at_ns = 0;
    // The entries that the journal has to have, where that is enough; known once all before are
    // taken.
    std::optional<std::uint64_t> entered{};
};

struct RequestState {
    std::vector<FileRequest> waiting;
    bool truncates = false;  // a truncation is under way
    // Deposits taken since it began, which outlive it.
    std::vector<Extent> deposited_since;
};

}  // namespace forebay::pool
