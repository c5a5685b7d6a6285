// Identifies the machine and the cores that this process runs on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace forebay::adapters {

// A number that is equal for processes under one kernel and one PID namespace, and different for
// all others. nullopt: /proc cannot be read.
[[nodiscard]] std::optional<std::uint64_t> host_number();

// Bit i: this process may run on core i; all zero if a core number does not fit.
using CoreSet = std::array<std::uint64_t, 16>;
[[nodiscard]] CoreSet usable_cores() noexcept;

}  // namespace forebay::adapters
