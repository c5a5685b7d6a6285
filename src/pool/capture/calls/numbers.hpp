// syscall(2) by its number: what the generated numbers.cpp, which has the numbers, is made of.
#pragma once

#include "foundation/kernel/system_call.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace forebay::capture {

// Not 0: a call by this number may be ours. system_call.S knows the size.
using NumberTable = std::array<unsigned char, 512>;

template <std::size_t count>
consteval NumberTable table_of(const int (&numbers)[count]) {
    NumberTable table{};
    for (const int number : numbers) {
        table[static_cast<std::size_t>(number)] = 1;
    }
    return table;
}

// Whether the call is ours: `words` are its arguments.
[[nodiscard]] bool is_ours(long number, const long* words) noexcept;
// One that is ours: as syscall(2).
long call_by_number(long number, const long* words) noexcept;

// A descriptor that is captured, or the connection's own.
[[nodiscard]] bool concerns(long fd) noexcept;
// Calls that are ours for other reasons than a descriptor.
[[nodiscard]] bool is_own_fcntl(const long* words) noexcept;
[[nodiscard]] bool is_fork(const long* words) noexcept;
[[nodiscard]] bool is_fork_by_block(const long* words) noexcept;

// An argument from the word that a program gave; of narrower ones, the rest means nothing.
template <class Argument>
Argument as(long word) noexcept {
    if constexpr (std::is_pointer_v<Argument>) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an argument is a word
        return reinterpret_cast<Argument>(word);
    } else {
        return static_cast<Argument>(word);
    }
}

// A result as a word.
template <class Result>
long word(Result result) noexcept {
    return kernel::word_of(result);
}

}  // namespace forebay::capture
