// Additions of the pool to the file system's report on a file: its length, its times, and the room
// that deposits will take.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace forebay::capture {

// A file's st_ctime: that of the file system, unless that is the pool's own doing.
struct ChangeTimes {
    std::int64_t modified_ns = 0;  // 0: nothing is deposited that the file system's times lack
    std::int64_t stamped_ns = 0;   // see FileSlot
    std::int64_t changed_ns = 0;
};

struct StatAddition {
    std::int64_t size = 0;
    std::int64_t occupied = 0;  // bytes of whole grains
    ChangeTimes times;
};

// The unit in which a file system gives room, by st_blksize, as far as can be told.
inline constexpr std::int64_t usual_grain = 4096;
[[nodiscard]] std::int64_t grain_of(std::int64_t preferred) noexcept;

// nullopt: the daemon has drained and forgotten the file. The file system is asked after that: what
// is drained in between counts in one of the two.
[[nodiscard]] std::optional<StatAddition> addition_of(pool::FileId file,
                                                      std::int64_t grain) noexcept;
// The times of a file that the daemon has forgotten, or may have.
[[nodiscard]] ChangeTimes remembered_times(dev_t device, ino_t inode) noexcept;
// The same again, after the file system was asked: it may have been drained meanwhile.
[[nodiscard]] ChangeTimes times_of(pool::FileId file) noexcept;

// The change time that a program is to see. The pool said `before` and `after` before and after the
// file system said `found_ns`.
[[nodiscard]] std::int64_t change_time(const ChangeTimes& before, std::int64_t found_ns,
                                       const ChangeTimes& after) noexcept;
// Units of 512 bytes: of the file system, with what deposits will take; a file of `size` bytes
// never seems to have more than it can have because of them.
[[nodiscard]] std::int64_t blocks_with(const StatAddition& addition, std::int64_t found,
                                       std::int64_t size, std::int64_t grain) noexcept;

}  // namespace forebay::capture
