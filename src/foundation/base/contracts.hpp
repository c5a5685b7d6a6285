// Contracts say what must hold if the program itself is right. They are on in production: a broken
// one means that going on could write wrong bytes, so the process says where and stops.
// Input from another process, a file or a user is checked by a Result, never by a contract.
#pragma once

#include <source_location>

namespace forebay {

// Prints the place and `what`, then aborts.
[[noreturn]] void contract_failed(const char* kind, const char* what,
                                  const std::source_location& where) noexcept;

// A precondition, which the caller keeps.
inline void expects(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("precondition", what, where);
    }
}

// A postcondition, which the function keeps for its caller.
inline void ensures(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("postcondition", what, where);
    }
}

// A condition that always holds between the lines.
inline void invariant(
    bool held, const char* what,
    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("invariant", what, where);
    }
}

}  // namespace forebay
