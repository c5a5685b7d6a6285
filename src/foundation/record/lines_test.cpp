// Compares the lines with the example that both languages decode.
#include "foundation/record/lines.hpp"

#include "foundation/record/example_check.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace forebay::record {
namespace {

using Json = nlohmann::json;

// Checks that `made` has the keys of `wanted`, with values of the same types, and no others.
void same_shape(const Json& wanted, const Json& made, const std::string& where) {
    if (wanted.is_number()) {
        EXPECT_TRUE(made.is_number()) << where;
        return;
    }
    ASSERT_STREQ(wanted.type_name(), made.type_name()) << where;
    if (!wanted.is_object()) {
        return;
    }
    for (const auto& [key, value] : wanted.items()) {
        ASSERT_TRUE(made.contains(key)) << where << '.' << key;
        if (key != "settings") {
            same_shape(value, made[key], where + "." + key);
        }
    }
    for (const auto& [key, value] : made.items()) {
        EXPECT_TRUE(key == "settings" || wanted.contains(key)) << where << '.' << key;
    }
}

FileLine some_file() {
    FileLine line;
    line.path = "/scratch/ocean.nc";
    line.aggregators = {0, 4};
    line.settings = {{"cb_nodes", "0"}};
    line.write.calls = 10;
    line.write.total_ns = 500'000'000;
    line.passed_through = {{"MPI_File_write_at", 3, 96, "independent call"}};
    line.errors = {{"MPI_File_write_at_all", "MPI_ERR_NO_SPACE", "cannot write"}};
    line.slow_targets = {{2, true, 5e7, 4e8, 1}};
    line.warnings = {"1 stripe instead of 3 stripes"};
    return line;
}

TEST(Lines, have_the_shape_of_the_example) {
    const auto wanted = example("record-1.jsonl");
    ASSERT_EQ(wanted.size(), 3U);
    same_shape(wanted[0], Json::parse(to_json(JobLine{})), "job");
    same_shape(wanted[1], Json::parse(to_json(some_file())), "file");
    same_shape(wanted[2], Json::parse(to_json(EndLine{})), "end");
}

TEST(Lines, keep_values_and_units) {
    const Json made = Json::parse(to_json(some_file()));
    EXPECT_EQ(made["write"]["calls"], 10);
    EXPECT_DOUBLE_EQ(made["write"]["seconds"].get<double>(), 0.5);
    EXPECT_EQ(made["aggregators"], Json::parse("[0,4]"));
    EXPECT_EQ(made["passed_through"][0]["reason"], "independent call");
    EXPECT_EQ(made["slow_targets"][0]["target"], 2);
    EXPECT_EQ(made["slow_targets"][0]["direction"], "write");
}

TEST(Lines, say_how_long_a_process_was) {
    const Json made = Json::parse(to_json(EndLine{3, 4242, "n001", 1'500'000'000}));
    EXPECT_EQ(made["rank"], 3);
    EXPECT_DOUBLE_EQ(made["seconds"].get<double>(), 1.5);
}

TEST(Lines, a_path_that_is_not_utf8_does_not_lose_the_line) {
    FileLine line;
    line.path = "/tmp/\xff";
    EXPECT_TRUE(Json::accept(to_json(line)));
}

TEST(Lines, are_appended) {
    const std::string path = std::string(FOREBAY_TEST_DIR) + "/record.jsonl";
    std::remove(path.c_str());
    ASSERT_TRUE(append_line(path, "one").has_value());
    ASSERT_TRUE(append_line(path, "two").has_value());
    std::ifstream in(path);
    std::string first;
    std::string second;
    std::getline(in, first);
    std::getline(in, second);
    EXPECT_EQ(first, "one");
    EXPECT_EQ(second, "two");
    EXPECT_FALSE(append_line("/no/such/folder/record", "x").has_value());
}

}  // namespace
}  // namespace forebay::record
