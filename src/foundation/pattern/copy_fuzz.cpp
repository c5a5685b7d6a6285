// Fuzzes requests, memories and windows, compared with a byte-by-byte copy.
#include "foundation/pattern/copy_check.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace forebay::pattern;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    oracle::Choices choices({data, size});
    const auto order = choices.below(2) == 0 ? oracle::Order::any : oracle::Order::ascending;
    auto made = oracle::make_case(choices, order);
    const char* const wrong = made ? oracle::wrong_with(*made, choices) : nullptr;
    if (wrong != nullptr) {
        std::fprintf(stderr, "%s: file %s, memory %s\n", wrong,
                     made->view.filetype().describe().c_str(),
                     made->memory_nest.describe().c_str());
        std::abort();
    }
    return 0;
}
