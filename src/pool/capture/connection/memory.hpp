// Whether a program's memory is there. The kernel says EFAULT to a program that gives it a wrong
// address; the pool copies by itself, and would end that program by SIGSEGV.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::capture {

// Remembers memory that was found to be there, so that a program that uses it again pays a
// comparison. Forgets it where the program unmaps or protects it, and where newer findings need its
// place. Threads and signal handlers may use it at any time: each place is one word.
class KnownMemory {
public:
    constexpr KnownMemory() noexcept = default;
    KnownMemory(const KnownMemory&) = delete;
    KnownMemory& operator=(const KnownMemory&) = delete;
    ~KnownMemory() = default;

    // Whether a program may have such addresses; the kernel looks at those of all pieces before it
    // moves any.
    [[nodiscard]] static bool possible(const void* at, std::size_t bytes) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(at);
        return begin <= user_end && bytes <= user_end - begin;
    }
    // Bytes from `at` on that can be read; fewer than `bytes` where the rest cannot.
    [[nodiscard]] std::size_t readable(const void* at, std::size_t bytes) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(at);
        const std::uintptr_t granule = begin / granule_bytes;
        const bool one = bytes > 0 && granule == (begin + bytes - 1) / granule_bytes;
        return one && remembered(readable_, granule) ? bytes : look(begin, bytes);
    }
    // Whether all of these can be written to.
    [[nodiscard]] bool writable(void* at, std::size_t bytes) noexcept;
    // The range is unmapped or protected.
    void forget(const void* at, std::size_t bytes) noexcept;

private:
    static constexpr std::uintptr_t user_end = std::uintptr_t{1} << 56U;
    // Memory to be read is checked in whole granules, or by the page where a granule is not all
    // there; memory to be written is checked by the page: no page that nobody asked for may be
    // made.
    static constexpr std::size_t granule_bytes = std::size_t{1} << 16;
    static constexpr std::size_t page_bytes = std::size_t{1} << 12;
    static constexpr std::size_t places = 1024;
    using Places = std::array<std::atomic<std::uintptr_t>, places>;

    // Number 0, where nothing can be, stands for nothing.
    [[nodiscard]] static bool remembered(const Places& all, std::uintptr_t number) noexcept {
        return number != 0 && all[number % places].load(std::memory_order_relaxed) == number;
    }
    static void forget(Places& all, std::uintptr_t first, std::uintptr_t last) noexcept;
    [[nodiscard]] std::size_t look(std::uintptr_t begin, std::size_t bytes) noexcept;

    Places readable_{};
    Places readable_pages_{};
    Places writable_{};
};

}  // namespace forebay::capture
