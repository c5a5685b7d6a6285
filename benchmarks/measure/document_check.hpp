// For tests: checks that every benchmark's JSON must pass (schema/bench.md), on the examples that
// Python's tests decode, too.
#pragma once

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

namespace forebay::measure {

inline void expect_sums(const nlohmann::json& latency) {
    std::int64_t calls = 0;
    double before = 0;
    for (const nlohmann::json& bar : latency.at("bars")) {
        EXPECT_GT(bar.at(0).get<double>(), before);
        before = bar.at(0).get<double>();
        calls += bar.at(1).get<std::int64_t>();
    }
    EXPECT_EQ(latency.at("calls"), calls);
    EXPECT_LE(latency.at("seconds_p50"), latency.at("seconds_p999"));
    EXPECT_LE(latency.at("seconds_p999"), latency.at("seconds_max"));
}

// The keys that differ between the benchmarks' documents.
struct Keys {
    std::string results;
    std::string rate;     // of a result and of each of its repetitions
    std::string seconds;  // in a result's ranks
};

inline void expect_rates(const nlohmann::json& result, const Keys& keys) {
    const nlohmann::json& median = result.at(keys.rate);
    EXPECT_LE(median.at("low"), median.at("median"));
    EXPECT_LE(median.at("median"), median.at("high"));
    for (const nlohmann::json& repetition : result.at("repetitions")) {
        EXPECT_GE(repetition.at(keys.rate), median.at("low"));
        EXPECT_LE(repetition.at(keys.rate), median.at("high"));
    }
    EXPECT_FALSE(result.at(keys.seconds).at("seconds").empty());
}

inline void expect_right_example(const std::string& benchmark, const Keys& keys) {
    std::ifstream file(FOREBAY_SOURCE_DIR "/schema/examples/bench-" + benchmark + "-1.json");
    const auto document = nlohmann::json::parse(file);
    EXPECT_EQ(document.at("schema"), "forebay.bench." + benchmark + "/1");
    EXPECT_EQ(document.at("exit_status"), 0);
    EXPECT_TRUE(document.at("error").is_null());
    EXPECT_GT(document.at("estimate").at("files").get<std::int64_t>(), 0);
    EXPECT_FALSE(document.at(keys.results).empty());
    for (const nlohmann::json& result : document.at(keys.results)) {
        expect_sums(result.at("latency"));
        expect_rates(result, keys);
    }
}

}  // namespace forebay::measure
