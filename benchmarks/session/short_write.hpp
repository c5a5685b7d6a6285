// The error of a write that took fewer bytes than it was given although the system reports none, as
// file systems in user space may answer.
#pragma once

#include "foundation/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace forebay::bench {

[[nodiscard]] inline Error short_write(const std::string& path, std::int64_t at, std::int64_t taken,
                                       std::size_t wanted) {
    return {ErrorCode::no_space, 0,
            fmt::format("cannot write {} at offset {} (only {} of {} bytes were taken). Free space "
                        "there or write to another directory.",
                        path, at, taken, wanted)};
}

}  // namespace forebay::bench
