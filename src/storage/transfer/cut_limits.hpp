// Bounds on one request to storage.
#pragma once

#include "foundation/base/stripes.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::transfer {

struct CutLimits {
    static constexpr std::size_t pieces_max = 512;
    FileStripes layout;
    std::int64_t request_bytes_max = 0;
};

}  // namespace forebay::transfer
