// The difference between stat's answer of the file system and a program's view of a pooled file:
// size, times, and st_blocks for deposits that are not drained yet. This code is loaded into
// programs, and so needs nothing of the C++ library at run time.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/reader.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>
#include <optional>
#include <sys/stat.h>
#include <sys/types.h>

namespace forebay::pool {

// The times by which change_time() recognises that st_ctime was changed by the pool's draining and
// not by a program.
struct ChangeTimes {
    std::int64_t modified_ns = 0;  // last deposit; 0: the file system's times include all deposits
    std::int64_t stamped_ns = 0;   // FileSlot::stamped_ns
    std::int64_t changed_ns = 0;
};

struct StatAddition {
    std::int64_t size = 0;
    std::int64_t occupied = 0;  // bytes that deposits will allocate, in whole grains
    ChangeTimes times;
};

// The unit of allocation of a file system, estimated from st_blksize, in bytes.
inline constexpr std::int64_t usual_grain = 4096;
[[nodiscard]] std::int64_t grain_of(std::int64_t preferred) noexcept;

// Must be called before the file system is asked: bytes drained in between are then counted at
// least once. Returns nullopt if the daemon has drained and forgotten the file, or is dead.
[[nodiscard]] std::optional<StatAddition> addition_of(const Directory& directory,
                                                      PoolReader& reader, FileId file,
                                                      std::int64_t grain) noexcept;
// The times that the directory still has of a file that the daemon has forgotten; all 0: none.
[[nodiscard]] ChangeTimes remembered_times(const Directory& directory, dev_t device,
                                           ino_t inode) noexcept;
// The times of a known file, taken once more after the file system was asked, since it may have
// been drained meanwhile.
[[nodiscard]] ChangeTimes times_of(const Directory& directory, FileId file) noexcept;

// The st_ctime that a program should see, if the file system says `found_ns`; `before` and `after`
// are the pool's times before and after that question.
[[nodiscard]] std::int64_t change_time(const ChangeTimes& before, std::int64_t found_ns,
                                       const ChangeTimes& after) noexcept;
// st_blocks (units of 512 bytes) with deposits. `found` is the file system's number. The addition
// never makes it more than a file of `size` bytes without holes has.
[[nodiscard]] std::int64_t blocks_with(const StatAddition& addition, std::int64_t found,
                                       std::int64_t size, std::int64_t grain) noexcept;

// Adds to the file system's answer: the addition was taken before it, `after` behind it.
void add(const StatAddition& addition, const ChangeTimes& after, struct stat& status) noexcept;
// Sets st_ctime alone.
void set_change_time(const ChangeTimes& before, const ChangeTimes& after,
                     struct stat& status) noexcept;

}  // namespace forebay::pool
