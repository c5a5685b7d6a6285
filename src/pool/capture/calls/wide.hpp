// Common to the functions for wide characters, which are generated from functions.toml.
#pragma once

#include <cstdio>

namespace forebay::capture {

// True: libc may have wide characters of the stream. Else with errno, and the stream has an error.
[[nodiscard]] bool ready_for_wide(FILE* stream) noexcept;

}  // namespace forebay::capture
