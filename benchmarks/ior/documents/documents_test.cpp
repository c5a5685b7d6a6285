// Compares JSON and CSV with the reference's keys and columns.
#include "benchmarks/ior/documents/documents.hpp"

#include "benchmarks/ior/tables_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace forebay::ior {
namespace {

TEST(Documents, json_is_escaped_and_of_full_precision) {
    ior::RunResult run;
    run.command = "ior -o \"a\\b\"";
    run.tests.push_back(a_test());
    run.tests[0].options.test_file = "a\"b\n\xff";
    run.tests[0].phases.push_back(a_phase(run.tests[0].options));
    const auto made = nlohmann::json::parse(json_document(run));
    EXPECT_EQ(made["schema"], "forebay.bench.ior/1");
    EXPECT_EQ(made["Command line"], run.command);
    const auto& result = made["tests"][0]["Results"][0];
    EXPECT_DOUBLE_EQ(result["openTime"].get<double>(), run.tests[0].phases[0].columns.open);
    EXPECT_EQ(result["latency_of_transfers"]["transfers"], 256);
    EXPECT_EQ(result["ranks"].size(), 4U);
    // Every key of IOR's own document, except strings that repeat a number.
    const auto theirs = nlohmann::json::parse(reference("06-json.json"));
    for (const auto& [key, value] : theirs["tests"][0]["Results"][0].items()) {
        EXPECT_TRUE(result.contains(key)) << key;
    }
    for (const auto& [key, value] : theirs["summary"][0].items()) {
        EXPECT_TRUE(made["summary"][0].contains(key)) << key;
    }
    for (const auto& [key, value] : theirs["tests"][0]["Options"].items()) {
        EXPECT_TRUE(made["tests"][0]["Options"].contains(key) || key == "task offset") << key;
    }
}

TEST(Documents, csv_begins_with_the_columns_of_the_reference) {
    const std::string text = reference("07-csv.csv");
    EXPECT_THAT(csv_document(ior::RunResult{}),
                testing::StartsWith(text.substr(0, text.find('\n'))));
}

}  // namespace
}  // namespace forebay::ior
