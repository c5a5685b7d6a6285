// The check that all captured functions for wide characters begin with; they are generated from
// functions.toml.
#pragma once

#include <cstdio>

namespace forebay::capture {

// Whether libc may use the stream for wide characters. If false, errno and the stream's error flag
// are set.
[[nodiscard]] bool ready_for_wide(FILE* stream) noexcept;

}  // namespace forebay::capture
