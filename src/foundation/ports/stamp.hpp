// Size and times of a file, compared to detect that another process changed it.
#pragma once

#include <cstdint>

namespace forebay::ports {

struct ChangeStamp {
    std::int64_t bytes = 0;
    std::int64_t modified_ns = 0;  // mtime, which programs may set
    std::int64_t changed_ns = 0;   // ctime, which they may not
    bool operator==(const ChangeStamp&) const noexcept = default;
};

}  // namespace forebay::ports
