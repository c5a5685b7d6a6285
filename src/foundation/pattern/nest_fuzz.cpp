// Fuzzes nests of any depth, compared with the list of their bytes.
#include "foundation/pattern/nest_check.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace forebay::pattern;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    oracle::Choices choices({data, size});
    const auto order = choices.below(2) == 0 ? oracle::Order::any : oracle::Order::ascending;
    const int depth = static_cast<int>(choices.below(14));
    const oracle::Sample made = oracle::sample(choices, depth, order);
    if (const char* const wrong = oracle::wrong_with(made)) {
        std::fprintf(stderr, "%s: %s\n", wrong, made.nest.describe().c_str());
        std::abort();
    }
    return 0;
}
