// FileStorage over the node's pool, for collective calls: a write is complete when it is a deposit
// in the daemon's memory, which the daemon drains later. Reads see the deposits of all processes of
// the node.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/client/calls.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace forebay::adapters {

// The table of the capture library in this process; null if that library is not preloaded, or has
// another version of the table.
[[nodiscard]] const pool::PoolCalls* pool_calls() noexcept;

// Opens `path` for one direction, over the pool. `calls` must outlive the storage.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_pooled(const pool::PoolCalls& calls,
                                                                      const std::string& path,
                                                                      IoDirection direction);
// Opens `path` for writing as one of the ranks on several nodes that open it together, whose writes
// must be disjoint. `group` is as in pool/client/calls.hpp.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_part(const pool::PoolCalls& calls,
                                                                    const std::string& path,
                                                                    std::uint64_t group);

// Bytes; the maximum of one loan (a block of the log).
inline constexpr std::int64_t lent_bytes_max = std::int64_t{1} << 20;

// Access to memory that other processes' storages of this kind lend. Logs that were mapped stay
// mapped, so the caller keeps the result until the process ends. `calls` must outlive it.
[[nodiscard]] std::unique_ptr<ports::MemoryBorrower> borrower_of(const pool::PoolCalls& calls);

}  // namespace forebay::adapters
