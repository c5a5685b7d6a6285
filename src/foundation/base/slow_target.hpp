// The report on a storage target that holds the others up.
#pragma once

#include "foundation/base/units.hpp"

#include <cstdint>

namespace forebay {

// A target that is much slower than the file's others, which deliver `usual_rate` on average; bytes
// per second.
struct SlowTarget {
    TargetId target;
    double rate = 0;
    double usual_rate = 0;
    std::int32_t limit = 0;  // its k; 0: not found

    bool operator==(const SlowTarget&) const noexcept = default;
};

}  // namespace forebay
