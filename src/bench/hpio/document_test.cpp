// The example of schema/bench.md, which Python's tests decode, too.
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace forebay::hpio {
namespace {

using Json = nlohmann::json;

Json example() {
    std::ifstream file(FOREBAY_SOURCE_DIR "/schema/examples/bench-hpio-1.json");
    return Json::parse(file);
}

TEST(Document, ExampleIsOfItsSchema) {
    const Json document = example();
    EXPECT_EQ(document.at("schema"), "forebay.bench.hpio/1");
    EXPECT_EQ(document.at("exit_status"), 0);
    EXPECT_TRUE(document.at("error").is_null());
    EXPECT_GT(document.at("estimate").at("files").get<std::int64_t>(), 0);
    EXPECT_FALSE(document.at("points").empty());
}

TEST(Document, EveryLatencyAddsUp) {
    const Json document = example();
    for (const Json& one : document.at("points")) {
        const Json& latency = one.at("latency");
        std::int64_t calls = 0;
        double before = 0;
        for (const Json& bar : latency.at("bars")) {
            EXPECT_GT(bar.at(0).get<double>(), before);
            before = bar.at(0).get<double>();
            calls += bar.at(1).get<std::int64_t>();
        }
        EXPECT_EQ(latency.at("calls"), calls);
        EXPECT_LE(latency.at("seconds_p50"), latency.at("seconds_p999"));
        EXPECT_LE(latency.at("seconds_p999"), latency.at("seconds_max"));
    }
}

TEST(Document, EveryRateIsOfItsRepetitions) {
    const Json document = example();
    for (const Json& one : document.at("points")) {
        const Json& median = one.at("bytes_per_second");
        EXPECT_LE(median.at("low"), median.at("median"));
        EXPECT_LE(median.at("median"), median.at("high"));
        for (const Json& repetition : one.at("repetitions")) {
            EXPECT_GE(repetition.at("bytes_per_second"), median.at("low"));
            EXPECT_LE(repetition.at("bytes_per_second"), median.at("high"));
        }
        EXPECT_FALSE(one.at("ranks").at("seconds").empty());
    }
}

}  // namespace
}  // namespace forebay::hpio
