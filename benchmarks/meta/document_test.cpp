// Checks the example of schema/bench.md, which Python's tests decode, too.
#include "benchmarks/measure/document_check.hpp"

namespace forebay::meta {
namespace {

TEST(Document, ExampleIsRight) {
    measure::expect_right_example(
        "meta", {.results = "rows", .rate = "operations_per_second", .seconds = "spread"});
}

}  // namespace
}  // namespace forebay::meta
