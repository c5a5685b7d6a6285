// Completions that a storage keeps until they are asked for.
#pragma once

#include "foundation/ports/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace forebay::ports {

// Moves the oldest ones to `out`, as many as fit. Returns how many.
inline std::size_t take_oldest(std::vector<RequestCompletion>& kept,
                               std::span<RequestCompletion> out) {
    const std::size_t count = std::min(out.size(), kept.size());
    std::copy_n(kept.begin(), count, out.begin());
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

}  // namespace forebay::ports
