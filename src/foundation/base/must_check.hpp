// Assertion for fuzzers: if it fails, it prints the condition and aborts.
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
