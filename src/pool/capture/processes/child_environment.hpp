// The environment that a program is to be started with: whether it brings our library into the
// program, for the pool of this process; and what has to be changed so that the program starts.
#pragma once

#include <cstddef>
#include <string_view>

namespace forebay::capture {

class PoolPaths;

// A variable's value in an environment; null: it is not set.
[[nodiscard]] const char* variable_in(char* const* environment, std::string_view name) noexcept;
// The library of ours in the list that LD_PRELOAD is; empty: it is not there.
[[nodiscard]] std::string_view library_in(std::string_view preloaded) noexcept;

// The pool of this process.
struct PoolOfProcess {
    const char* socket;
    const PoolPaths& paths;
};
// Why a program with this environment has nothing to do with the pool, for people; null: it has.
[[nodiscard]] const char* why_uncaptured(char* const* environment,
                                         const PoolOfProcess& pool) noexcept;

// Changes that a program needs so that it starts at all.
struct EnvironmentChanges {
    // Our library is not preloaded: another libc's loader cannot relocate it.
    bool without_library = false;
    // For AddressSanitizer: its library need not be the first one.
    bool any_order = false;

    [[nodiscard]] bool any() const noexcept { return without_library || any_order; }
};
// Bytes of room that changed() needs.
[[nodiscard]] std::size_t room_for(char* const* environment) noexcept;
// The environment with the changes, in `room`, which it refers to, as it does to `environment`.
[[nodiscard]] char* const* changed(char* const* environment, EnvironmentChanges changes,
                                   void* room) noexcept;

}  // namespace forebay::capture
