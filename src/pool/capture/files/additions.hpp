// The difference between stat's answer of the file system and the program's view of a pooled file
// (pool/client/stat_addition.hpp), by this process' connection.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/stat_addition.hpp"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace forebay::capture {

// As the functions of the same names in pool/client/stat_addition.hpp.
[[nodiscard]] std::optional<pool::StatAddition> addition_of(pool::FileId file,
                                                            std::int64_t grain) noexcept;
[[nodiscard]] pool::ChangeTimes remembered_times(dev_t device, ino_t inode) noexcept;
[[nodiscard]] pool::ChangeTimes times_of(pool::FileId file) noexcept;

}  // namespace forebay::capture
