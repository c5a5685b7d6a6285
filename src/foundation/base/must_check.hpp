// Checks for fuzzers: one that fails prints what should hold and ends the process.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace forebay {

inline void must(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::abort();
    }
}

}  // namespace forebay
