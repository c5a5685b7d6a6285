// Assertions (preconditions, postconditions, invariants) that stay on in production: after a broken
// one, the process might write wrong bytes, so it prints the place and aborts. Untrusted input
// (from another process, a file or a user) is checked by a Result, never by a contract.
#pragma once

#include <source_location>

namespace forebay {

// Prints the place and `what`, then aborts.
[[noreturn]] void contract_failed(const char* kind, const char* what,
                                  const std::source_location& where) noexcept;

// A precondition: the caller's duty.
inline void expects(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("precondition", what, where);
    }
}

// A postcondition: the function's duty to its caller.
inline void ensures(bool held, const char* what,
                    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("postcondition", what, where);
    }
}

// A condition that holds at this point unless the code is wrong.
inline void invariant(
    bool held, const char* what,
    const std::source_location& where = std::source_location::current()) noexcept {
    if (!held) [[unlikely]] {
        contract_failed("invariant", what, where);
    }
}

}  // namespace forebay
