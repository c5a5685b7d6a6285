// Bounds of one request to storage, which the cutter of windows and the bypass keep.
#pragma once

#include "foundation/base/stripes.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::transfer {

struct CutLimits {
    // Pieces (iovec entries) of a request. Below IOV_MAX (1024); the lists of the 16 requests that
    // a channel may have in flight take 192 KiB. An adapter may need several vectored calls for
    // one.
    static constexpr std::size_t pieces_max = 512;
    // A request ends at a stripe boundary, so that it goes to one target.
    FileStripes layout;
    std::int64_t request_bytes_max = 0;
};

}  // namespace forebay::transfer
