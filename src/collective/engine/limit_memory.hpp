// Remembering k from run to run. A k that cannot be read or written is found again: an error is for
// the user's information, never for a call's outcome.
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

// One limit for writes and one for reads.
using FoundLimits = std::array<plan::FoundLimit, 2>;

[[nodiscard]] Result<FoundLimits> recall_limits(ports::Notebook& notebook,
                                                const LimitMemoryOptions& options,
                                                std::int64_t now_s);
// Directions with limit 0 are left as they are.
Result<void> remember_limits(ports::Notebook& notebook, const LimitMemoryOptions& options,
                             const FoundLimits& found, std::int64_t now_s);

}  // namespace forebay::engine
