// The bounds of everything that the daemon of a node shares with its clients. Daemon and clients
// are built from the same sources, and compare `format` when they meet. `format` and `path_bytes`
// are defined in schema/pool_messages.toml, since the Python package needs them, too.
#pragma once

#include "pool_protocol/constants.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// 1 MiB: the unit in which memory of a log is leased to its client.
inline constexpr std::size_t block_bytes = std::size_t{1} << 20;
// The maximum number of other clients' logs that a client maps in order to see what they have
// committed. If every client mapped every other log, memory and messages would grow with the square
// of the number of clients. For a log beyond this number a reader waits for a round of the daemon.
inline constexpr std::size_t logs_watched_max = 64;
inline constexpr std::size_t blocks_max = std::size_t{1} << 14;  // 16 GiB for one client's log
inline constexpr std::size_t clients_max = 1024;                // connected to one daemon at a time
inline constexpr std::size_t files_max = std::size_t{1} << 14;  // known to one daemon at a time
inline constexpr std::size_t extents_max = std::size_t{1} << 21;  // for all files together
// Files that the daemon has forgotten, and whose time of change (st_ctime) it still remembers.
inline constexpr std::size_t change_times_max = std::size_t{1} << 14;
// Read-cache ("clean") blocks: 4 GiB.
inline constexpr std::size_t clean_max = std::size_t{1} << 12;
// Buckets of the hash table that finds a read-cache block.
inline constexpr std::size_t clean_buckets = 2 * clean_max;
// Entries in the ring of one log.
inline constexpr std::size_t entries_max = std::size_t{1} << 14;
// The maximum number of bytes that one reservation asks for. A larger write makes several, so that
// writes of other threads can go between them.
inline constexpr std::size_t reservation_max = 4 * block_bytes;
// No deposit of a client of ours ends beyond this offset (1 TiB). Writes beyond it are made by the
// kernel, so that the file system can refuse them (EFBIG); where its files cannot even have this
// length, no file is written to by deposits.
inline constexpr std::int64_t deposit_end_max = std::int64_t{1} << 40;

}  // namespace forebay::pool
