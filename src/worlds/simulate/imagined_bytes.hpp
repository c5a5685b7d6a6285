// Bytes that are not there, where only their number counts.
#pragma once

#include "foundation/base/units.hpp"

#include <cstddef>
#include <span>

namespace forebay::sim {

// An address that nobody looks at.
inline std::span<std::byte> imagined_bytes(Length length) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,performance-no-int-to-ptr)
    return {reinterpret_cast<std::byte*>(4096), length.size()};
}

}  // namespace forebay::sim
