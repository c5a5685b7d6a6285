// A span for data that does not exist, where only its length matters.
#pragma once

#include "foundation/base/units.hpp"

#include <cstddef>
#include <span>

namespace forebay::sim {

// The address is never dereferenced.
inline std::span<std::byte> imagined_bytes(Length length) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,performance-no-int-to-ptr)
    return {reinterpret_cast<std::byte*>(4096), length.size()};
}

}  // namespace forebay::sim
