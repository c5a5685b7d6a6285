// Examines and edits the environment (envp) that a child program will be started with: whether it
// preloads our library for the pool of this process, and the edits without which the child would
// not start at all. Nothing here allocates memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace forebay::capture {

class PoolPaths;

// The value of variable `name` in `environment`; null if it is not set.
[[nodiscard]] const char* variable_in(char* const* environment, std::string_view name) noexcept;
// The path of our library in the value of LD_PRELOAD; empty if it is not in the list.
[[nodiscard]] std::string_view library_in(std::string_view preloaded) noexcept;

// The pool that this process uses.
struct PoolOfProcess {
    const char* socket;
    const PoolPaths& paths;
};
// Text for the user why a program with this environment will not be captured for `pool`; null if it
// will be.
[[nodiscard]] const char* why_uncaptured(char* const* environment,
                                         const PoolOfProcess& pool) noexcept;

// Edits of the environment without which a program would not start.
struct EnvironmentChanges {
    // Takes our library out of LD_PRELOAD: the loader of another libc cannot relocate it.
    bool without_library = false;
    // Adds verify_asan_link_order=0 to ASAN_OPTIONS, so that AddressSanitizer accepts that its
    // library is not the first one.
    bool any_order = false;

    [[nodiscard]] bool any() const noexcept { return without_library || any_order; }
};
// Size in bytes of the memory that changed() needs.
[[nodiscard]] std::size_t room_for(char* const* environment) noexcept;
// The environment with `changes`, built in `room`. The result refers to `room` and to strings of
// `environment`, so both must outlive it.
[[nodiscard]] char* const* changed(char* const* environment, EnvironmentChanges changes,
                                   void* room) noexcept;

}  // namespace forebay::capture
