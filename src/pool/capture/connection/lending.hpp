// Lending memory of this process' log to other processes of the node, which fill it together: the
// functions behind PoolCalls in pool/client/calls.hpp, which documents them.
#pragma once

#include "pool/client/calls.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace forebay::capture {

[[nodiscard]] std::uint64_t lend_log() noexcept;
[[nodiscard]] std::byte* reach_log(std::uint64_t name) noexcept;
[[nodiscard]] bool lend(int fd, std::size_t bytes, pool::LentBytes* lent) noexcept;
// Defined in calls/read_write.cpp, with all other writes.
[[nodiscard]] ssize_t write_lent(int fd, const pool::LentBytes* part, off_t at,
                                 bool* taken) noexcept;
void give_back(const pool::LentBytes* part) noexcept;
void prepare(std::byte* begin, std::size_t bytes) noexcept;

}  // namespace forebay::capture
