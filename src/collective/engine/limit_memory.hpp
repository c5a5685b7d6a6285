// Remembers k, the requests in flight per target, from run to run. If k cannot be read or written,
// it is searched again: an error is for the user's information, never for a call's outcome.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/notebook.hpp"
#include "storage/policy/known_limits.hpp"

#include <array>
#include <cstdint>

namespace forebay::engine {

struct LimitMemoryOptions {
    std::string file_system;
    FileStripes layout;
    plan::AgeLimits ages;
};

// The limit for writes, then the limit for reads; limit 0: none is known.
using FoundLimits = std::array<plan::FoundLimit, 2>;

[[nodiscard]] Result<FoundLimits> recall_limits(ports::Notebook& notebook,
                                                const LimitMemoryOptions& options,
                                                std::int64_t now_s);
// `now_s`: seconds since the epoch. A direction with limit 0 keeps what the notebook says of it.
Result<void> remember_limits(ports::Notebook& notebook, const LimitMemoryOptions& options,
                             const FoundLimits& found, std::int64_t now_s);

}  // namespace forebay::engine
