// How a client finds a read-cache block in the directory's hash table, without a lock, while the
// daemon fetches and drops blocks. A search may miss a block that is there; the client then reads
// the file itself. This code is loaded into programs, and so needs nothing of the C++ library at
// run time.
#pragma once

#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>

namespace forebay::pool {

// Names a block of a file: slot and generation of the file, and the block's number in it.
struct CleanName {
    std::uint32_t file = 0;
    std::uint32_t generation = 0;
    std::int64_t block = 0;
};

// A block that was found: its number in Directory::clean; no_clean: none was found.
struct CleanFound {
    std::uint32_t number = no_clean;
    std::uint32_t word = 0;  // CleanSlot::state, to be compared after copying
};

// The state in a CleanSlot::state word.
[[nodiscard]] constexpr CleanState clean_state(std::uint32_t word) noexcept {
    return static_cast<CleanState>(word & 3U);
}
// The word that follows `word` when the state changes to `state`; its number is one higher.
[[nodiscard]] constexpr std::uint32_t after(std::uint32_t word, CleanState state) noexcept {
    return (((word >> 2U) + 1U) << 2U) | static_cast<std::uint32_t>(state);
}
[[nodiscard]] std::size_t clean_bucket(std::uint32_t file, std::int64_t block) noexcept;
// The offset of block `number` in the shared memory of read-cache blocks.
[[nodiscard]] constexpr std::size_t clean_place(std::uint32_t number) noexcept {
    return (number - 1) * block_bytes;
}
[[nodiscard]] CleanFound find_clean(const Directory& directory, const CleanName& name) noexcept;

}  // namespace forebay::pool
