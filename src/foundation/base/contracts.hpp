// Contracts say what must hold if the program itself is right. They are on in production: a broken
// one means that going on could write wrong bytes, so the process says where and stops.
// What another process, a file or a user says is input: that is a Result, never a contract.
#pragma once

#include <source_location>

namespace forebay {

// Prints the place and `what`, then aborts.
[[noreturn]] void contract_failed(const char* kind, const char* what,
                                  const std::source_location& where) noexcept;

// What the caller owes.
inline void expects(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("precondition", what, where);
    }
}

// What the function owes its caller.
inline void ensures(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("postcondition", what, where);
    }
}

// What is always true between the lines.
inline void invariant(
    bool held, const char* what,
    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("invariant", what, where);
    }
}

}  // namespace forebay
