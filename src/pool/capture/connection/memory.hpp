// Checks whether addresses that a program passes to a call are mapped. The kernel answers a bad
// address with EFAULT; the pool copies in user space, where the same address would end the program
// by SIGSEGV.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::capture {

// A cache of memory that was found to be mapped, so that a buffer that is used again costs one
// comparison. An entry is dropped when the program unmaps or protects the memory, or when a newer
// one needs its place. Each place is one atomic word, so threads and signal handlers may use the
// cache at any time.
class KnownMemory {
public:
    constexpr KnownMemory() noexcept = default;
    KnownMemory(const KnownMemory&) = delete;
    KnownMemory& operator=(const KnownMemory&) = delete;
    ~KnownMemory() = default;

    // Whether the range lies in the address space of user programs at all. The kernel checks that
    // for all pieces of an iovec before it moves any byte.
    [[nodiscard]] static bool possible(const void* at, std::size_t bytes) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(at);
        return begin <= user_end && bytes <= user_end - begin;
    }
    // Number of bytes from `at` on that can be read; less than `bytes` if the rest cannot.
    [[nodiscard]] std::size_t readable(const void* at, std::size_t bytes) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(at);
        const std::uintptr_t granule = begin / granule_bytes;
        const bool one = bytes > 0 && granule == (begin + bytes - 1) / granule_bytes;
        return one && remembered(readable_, granule) ? bytes : look(begin, bytes);
    }
    // Whether all `bytes` bytes from `at` on can be written to.
    [[nodiscard]] bool writable(void* at, std::size_t bytes) noexcept;
    // The range is about to be unmapped or protected: drops what is remembered of it.
    void forget(const void* at, std::size_t bytes) noexcept;
    void forget_all() noexcept { forget(nullptr, user_end); }

private:
    // Above all user addresses, also with five-level page tables.
    static constexpr std::uintptr_t user_end = std::uintptr_t{1} << 56U;
    // Memory to be read is checked in granules of 64 KiB, or by the page if part of a granule is
    // not mapped. Memory to be written is checked by the page only, because the check allocates
    // pages: it must not allocate any that the program did not ask for. A page of the kernel is
    // some units, all of which are remembered and forgotten together.
    static constexpr std::size_t granule_bytes = std::size_t{1} << 16;
    static constexpr std::size_t unit_bytes = std::size_t{1} << 12;
    static constexpr std::size_t places = 1024;
    using Places = std::array<std::atomic<std::uintptr_t>, places>;

    // Number 0 marks an empty place: nothing is mapped at address 0.
    [[nodiscard]] static bool remembered(const Places& all, std::uintptr_t number) noexcept {
        return number != 0 && all[number % places].load(std::memory_order_relaxed) == number;
    }
    static void remember(Places& all, std::uintptr_t first, std::uintptr_t last) noexcept;
    static void forget(Places& all, std::uintptr_t first, std::uintptr_t last) noexcept;
    // readable(), for a range that is not known.
    [[nodiscard]] std::size_t look(std::uintptr_t begin, std::size_t bytes) noexcept;

    Places readable_{};        // numbers of granules
    Places readable_units_{};  // numbers of units
    Places writable_{};        // numbers of units
};

}  // namespace forebay::capture
