// The platforms in platforms/ are valid, and the errors for invalid ones say what to do.
#include "worlds/simgrid/platform.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace forebay::adapters {
namespace {

std::string text_of(const std::string& name) {
    std::ifstream file{std::string{FOREBAY_SOURCE_DIR} + "/platforms/" + name + ".toml"};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Given : public testing::TestWithParam<const char*> {};

TEST_P(Given, CanBeRead) {
    const auto platform = parse_platform(text_of(GetParam()), GetParam());
    ASSERT_TRUE(platform.has_value()) << platform.error().message;
    EXPECT_EQ(platform->name, GetParam());
    EXPECT_GT(platform->target.rate, 1e6);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Given,
                         testing::Values("tsubame-2.5-thin", "lustre-96-ost", "laptop"));

std::string changed(const std::string& from, const std::string& to) {
    return std::regex_replace(text_of("laptop"), std::regex{from}, to);
}

std::string complaint(const std::string& text) {
    const auto platform = parse_platform(text, "some.toml");
    return platform ? "none" : platform.error().message;
}

TEST(MachinePlatform, AMissingKeyIsNamed) {
    EXPECT_NE(complaint(changed("link_latency = .*", "")).find("node.link_latency (the key is"),
              std::string::npos);
}

TEST(MachinePlatform, AWrongUnitIsNamed) {
    EXPECT_NE(
        complaint(changed(R"((\ncopy_rate = \{ value = ")[^"]*")", "$013 GB\""))
            .find(R"(node.copy_rate ("3 GB" is no amount in B/s: write for example "2 MB/s")"),
        std::string::npos);
}

TEST(MachinePlatform, AWrongTimeIsAdvisedATimeThatMayBe) {
    EXPECT_NE(complaint(changed(R"((\nmessage_time = \{ value = ")[^"]*")", "$013 B\""))
                  .find(R"("3 B" is no amount in s: write for example "2 ms")"),
              std::string::npos);
}

TEST(MachinePlatform, ANumberWithoutASourceIsRefused) {
    EXPECT_NE(complaint(changed(R"((\ncopy_rate = \{ value = "[^"]*"), source = "[^"]*")", "$1"))
                  .find("no value or no source"),
              std::string::npos);
}

TEST(MachinePlatform, AnUnknownKeyIsRefused) {
    EXPECT_NE(complaint(changed(R"(\ncopy_rate)", "\ncopy_speed = 1\ncopy_rate"))
                  .find("node.copy_speed (there is no such key"),
              std::string::npos);
}

TEST(MachinePlatform, WhatNobodyReadsIsRefused) {
    const std::string laptop = text_of("laptop");
    EXPECT_NE(complaint("colour = 1\n" + laptop).find("colour (there is no such key"),
              std::string::npos);
    EXPECT_NE(complaint(laptop + "\n[clients]\n").find("clients (there is no such key"),
              std::string::npos);
    const std::string sauced = changed(R"((\ncopy_rate = \{))", "$1 sauce = 1, ");
    EXPECT_NE(complaint(sauced).find("node.copy_rate.sauce (there is no such key"),
              std::string::npos);
}

TEST(MachinePlatform, ABlankSourceIsNone) {
    const std::string blank = changed(R"re((\ncopy_rate = .* source = )"[^"]*")re", "$1\"  \"");
    EXPECT_NE(complaint(blank).find("node.copy_rate (its source is empty"), std::string::npos);
}

std::string with_nodes(const std::string& count) {
    return complaint(changed(R"((\[node\]\ncount = \{ value = )\d+)", "$01" + count));
}

TEST(MachinePlatform, NodesOutOfBoundsAreRefused) {
    for (const char* count : {"0", "-1", "1.5", "65537", "inf", "nan"}) {
        const std::string said = with_nodes(count);
        EXPECT_NE(said.find("node.count (it must be a whole number from 1 to 65536)"),
                  std::string::npos)
            << count << ": " << said;
    }
}

TEST(MachinePlatform, AnEndlessRateIsNotCalledNegative) {
    const std::string said =
        complaint(changed(R"((\ncopy_rate = \{ value = ")[^"]*")", "$01inf B/s\""));
    EXPECT_NE(said.find(R"(node.copy_rate ("inf B/s" is no amount in B/s: write)"),
              std::string::npos)
        << said;
}

TEST(Quantity, TakesDecimalAndBinaryPrefixes) {
    EXPECT_DOUBLE_EQ(*parse_quantity("9.8 GB/s", "B/s"), 9.8e9);
    EXPECT_DOUBLE_EQ(*parse_quantity("0.5 ms", "s"), 5e-4);
    EXPECT_DOUBLE_EQ(*parse_quantity("2GB/s", "B/s"), 2e9);
    EXPECT_DOUBLE_EQ(*parse_quantity("1 MiB", "B"), 1048576);
    EXPECT_DOUBLE_EQ(*parse_quantity("16MB", "B"), 16 << 20);  // powers of 1024, as for all sizes
    EXPECT_FALSE(parse_quantity("1 MiB", "s").has_value());
    EXPECT_FALSE(parse_quantity("fast", "B/s").has_value());
}

}  // namespace
}  // namespace forebay::adapters
