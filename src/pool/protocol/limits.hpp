// The bounds of everything that the daemon of a node and its clients share. Both are built from the
// same sources; `format` is what they compare when they meet. It and the bytes of a path are in
// schema/pool_messages.toml: the Python package knows them, too.
#pragma once

#include "pool_protocol/constants.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

inline constexpr std::size_t block_bytes = std::size_t{1}
                                           << 20;  // what a client is leased at a time
// The most other clients whose logs a client maps to see what they have committed. If all mapped
// each other's, it would cost memory and messages by the square of their number.
inline constexpr std::size_t logs_watched_max = 64;
inline constexpr std::size_t blocks_max = std::size_t{1} << 14;   // of one client: 16 GiB
inline constexpr std::size_t clients_max = 1024;                  // of one daemon, at a time
inline constexpr std::size_t files_max = std::size_t{1} << 14;    // known to one daemon, at a time
inline constexpr std::size_t extents_max = std::size_t{1} << 21;  // of all files together
// Forgotten files whose time of change is remembered.
inline constexpr std::size_t change_times_max = std::size_t{1} << 14;
inline constexpr std::size_t clean_max = std::size_t{1} << 12;  // clean blocks: 4 GiB
inline constexpr std::size_t clean_buckets = 2 * clean_max;
inline constexpr std::size_t entries_max = std::size_t{1} << 14;  // of one log, not taken yet
// Reserved at a time: a larger write lets others go between.
inline constexpr std::size_t reservation_max = 4 * block_bytes;

}  // namespace forebay::pool
