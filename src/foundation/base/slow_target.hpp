// The report on a straggler: a storage target (OST) that slows a file's other targets down.
#pragma once

#include "foundation/base/units.hpp"

#include <cstdint>

namespace forebay {

// A target that is much slower than the other targets of its file, whose mean rate is `usual_rate`.
// Rates are in bytes per second.
struct SlowTarget {
    TargetId target;
    double rate = 0;
    double usual_rate = 0;
    std::int32_t limit = 0;  // its k (requests in flight); 0: not found

    bool operator==(const SlowTarget&) const noexcept = default;
};

}  // namespace forebay
