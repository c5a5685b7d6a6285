// Checks the example of schema/bench.md, which Python's tests decode, too.
#include "benchmarks/measure/document_check.hpp"

namespace forebay::hpio {
namespace {

TEST(Document, ExampleIsRight) {
    measure::expect_right_example(
        "hpio", {.results = "points", .rate = "bytes_per_second", .seconds = "ranks"});
}

}  // namespace
}  // namespace forebay::hpio
