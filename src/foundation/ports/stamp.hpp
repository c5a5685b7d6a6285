// By which it is seen that somebody changed a file.
#pragma once

#include <cstdint>

namespace forebay::ports {

struct ChangeStamp {
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;  // what programs may set
    std::int64_t changed_ns = 0;   // … and what they may not
    bool operator==(const ChangeStamp&) const noexcept = default;
};

}  // namespace forebay::ports
