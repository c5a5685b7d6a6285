// A counting Bloom filter with one hash function: which inodes the daemon may know. Processes that
// are not connected to the daemon use it to recognise a pooled file under another name (a hard
// link, a bind mount, a renamed file) without a message. A count of zero proves that the daemon
// does not know the inode. The daemon alone writes to it; it lies in a file beside the daemon's
// socket, which every process that may connect can map.
#pragma once

#include "pool/protocol/limits.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::pool {

struct KnownInodes {
    // The number of counts is 2^bits.
    static constexpr std::size_t bits = 15;
    static constexpr const char* suffix = ".inodes";  // appended to the socket's path

    std::atomic<std::uint64_t> format;
    std::array<std::atomic<std::uint16_t>, std::size_t{1} << bits> counts;

    [[nodiscard]] static constexpr std::size_t place_of(std::uint64_t device,
                                                        std::uint64_t inode) noexcept {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
        return static_cast<std::size_t>(((device * golden ^ inode) * golden) >> (64U - bits));
    }
    [[nodiscard]] bool may_have(std::uint64_t device, std::uint64_t inode) const noexcept {
        return counts[place_of(device, inode)].load(std::memory_order_acquire) != 0;
    }
    void add(std::uint64_t device, std::uint64_t inode) noexcept {
        counts[place_of(device, inode)].fetch_add(1, std::memory_order_release);
    }
    void remove(std::uint64_t device, std::uint64_t inode) noexcept {
        counts[place_of(device, inode)].fetch_sub(1, std::memory_order_release);
    }
};
static_assert(files_max < std::size_t{1} << 16, "no count overflows");

}  // namespace forebay::pool
