// syscall(2) by number: helpers of the generated numbers.cpp, which has the table of numbers.
#pragma once

#include "foundation/kernel/system_call.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace forebay::capture {

// Indexed by system call number; not 0: the call may be captured. system_call.S has the size, too.
using NumberTable = std::array<unsigned char, 512>;

template <std::size_t count>
consteval NumberTable table_of(const int (&numbers)[count]) {
    NumberTable table{};
    for (const int number : numbers) {
        table[static_cast<std::size_t>(number)] = 1;
    }
    return table;
}

// Whether this call is captured; `words` are its arguments.
[[nodiscard]] bool is_ours(long number, const long* words) noexcept;
// Carries out a captured call; returns as syscall(2) does.
long call_by_number(long number, const long* words) noexcept;

// Whether `fd` is captured, or one of the connection's own descriptors.
[[nodiscard]] bool concerns(long fd) noexcept;
// Conditions of functions.toml (if_holds): captured for another reason than a descriptor.
[[nodiscard]] bool is_own_fcntl(const long* words) noexcept;
[[nodiscard]] bool is_fork(const long* words) noexcept;
[[nodiscard]] bool is_fork_by_block(const long* words) noexcept;

// An argument as its type, from the word that the program passed; bits beyond a narrower type are
// ignored.
template <class Argument>
Argument as(long word) noexcept {
    if constexpr (std::is_pointer_v<Argument>) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an argument is a word
        return reinterpret_cast<Argument>(word);
    } else {
        return static_cast<Argument>(word);
    }
}

// A result as a word of syscall(2).
template <class Result>
long word(Result result) noexcept {
    return kernel::word_of(result);
}

}  // namespace forebay::capture
