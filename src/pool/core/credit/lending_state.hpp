// The state from which the credit of one client is computed.
#pragma once

#include "pool/policy/credit.hpp"

#include <cstdint>
#include <optional>

namespace forebay::pool {

struct LendingState {
    ClientDemand demand;
    std::uint64_t reserved_before = 0;  // positions reserved at the last update
    // When it last had a file open for writing; nullopt: never.
    std::optional<std::int64_t> wrote_ns;
};

}  // namespace forebay::pool
