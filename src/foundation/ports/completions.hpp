// The queue of completions that a FileStorage has and its caller has not taken yet.
#pragma once

#include "foundation/ports/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace forebay::ports {

// Moves the oldest completions to `out`, as many as fit. Returns their number.
inline std::size_t take_oldest(std::vector<RequestCompletion>& kept,
                               std::span<RequestCompletion> out) {
    const std::size_t count = std::min(out.size(), kept.size());
    std::copy_n(kept.begin(), count, out.begin());
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

}  // namespace forebay::ports
