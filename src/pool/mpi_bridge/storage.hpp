// A file whose writes are deposits in the pool of the node: a request is done when it lies in
// memory of the node's daemon, which writes it to the file system later, by target and as many at a
// time as that likes. Reads return deposits of other processes of the node, too.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/client/calls.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace forebay::adapters {

// Those of the library that captures this process' file calls; null where there is none.
[[nodiscard]] const pool::PoolCalls* pool_calls() noexcept;

// `calls` outlives the storage.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_pooled(const pool::PoolCalls& calls,
                                                                      const std::string& path,
                                                                      IoDirection direction);
// For writing, by ranks of several nodes together: nobody writes what another one does. `group`:
// as in pool/client/calls.hpp.
[[nodiscard]] Result<std::unique_ptr<ports::FileStorage>> open_part(const pool::PoolCalls& calls,
                                                                    const std::string& path,
                                                                    std::uint64_t group);

// The most that is lent at a time.
inline constexpr std::int64_t lent_bytes_max = std::int64_t{1} << 20;

// Reaches what other processes' storages of this kind lend. Kept for as long as the process lives:
// what it has mapped stays mapped. `calls` outlives it.
[[nodiscard]] std::unique_ptr<ports::MemoryBorrower> borrower_of(const pool::PoolCalls& calls);

}  // namespace forebay::adapters
