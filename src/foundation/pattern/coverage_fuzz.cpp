// Fuzzes marks, compared with one flag per byte.
#include "foundation/pattern/coverage_check.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace forebay::pattern;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    oracle::Choices choices({data, size});
    if (const char* const wrong = oracle::wrong_with_marking(choices)) {
        std::fprintf(stderr, "%s\n", wrong);
        std::abort();
    }
    return 0;
}
