// How a client finds a read-cache block while the daemon fetches and drops blocks. A block that is
// not found may still be there: the client then reads the file itself. Needs nothing of the C++
// library at run time.
#pragma once

#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// Which block of which file.
struct CleanName {
    std::uint32_t file = 0;
    std::uint32_t generation = 0;
    std::int64_t block = 0;
};

struct CleanFound {
    std::uint32_t number = no_clean;
    std::uint32_t word = 0;  // CleanSlot::state, to compare once the bytes are copied
};

[[nodiscard]] constexpr CleanState clean_state(std::uint32_t word) noexcept {
    return static_cast<CleanState>(word & 3U);
}
// The word after `word`, with another state.
[[nodiscard]] constexpr std::uint32_t after(std::uint32_t word, CleanState state) noexcept {
    return (((word >> 2U) + 1U) << 2U) | static_cast<std::uint32_t>(state);
}
[[nodiscard]] std::size_t clean_bucket(std::uint32_t file, std::int64_t block) noexcept;
// Where the block lies in the memory of clean blocks.
[[nodiscard]] constexpr std::size_t clean_place(std::uint32_t number) noexcept {
    return (number - 1) * block_bytes;
}
[[nodiscard]] CleanFound find_clean(const Directory& directory, const CleanName& name) noexcept;

}  // namespace forebay::pool
