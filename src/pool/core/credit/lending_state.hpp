// What lending memory to a client goes by.
#pragma once

#include "pool/policy/credit.hpp"

#include <cstdint>
#include <optional>

namespace forebay::pool {

struct LendingState {
    ClientDemand demand;
    std::uint64_t reserved_before = 0;     // positions, at the last look
    std::optional<std::int64_t> wrote_ns;  // when it last had a file open for writing
};

}  // namespace forebay::pool
