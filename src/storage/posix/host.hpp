// The machine that this process runs on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace forebay::adapters {

// The same number for processes that run under one kernel and see one another's /proc; different
// for all others. nullopt: /proc does not tell.
[[nodiscard]] std::optional<std::uint64_t> host_number();

// One bit per core that this process may run on; all zero when there are more than fit.
using CoreSet = std::array<std::uint64_t, 16>;
[[nodiscard]] CoreSet usable_cores() noexcept;

}  // namespace forebay::adapters
