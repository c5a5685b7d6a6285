// Round-robin striping of a file over storage targets, one rule for the whole file.
#pragma once

#include <cstdint>

namespace forebay {

// Stripe number i is on target i mod `targets`. One target and `stripe_bytes` 0: the file system
// has no stripes, or does not tell.
struct FileStripes {
    std::int32_t targets = 1;
    std::int64_t stripe_bytes = 0;

    bool operator==(const FileStripes&) const noexcept = default;
};

}  // namespace forebay
