// Reads the examples that the Python package's tests read, too.
#include "foundation/base/byte_size.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace forebay {
namespace {

TEST(ByteSize, sizes_have_one_grammar_in_both_languages) {
    std::ifstream in(std::filesystem::path(FOREBAY_SOURCE_DIR) / "schema/examples/sizes.tsv");
    int examples = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) {
            continue;
        }
        const std::string text = line.substr(0, line.find('\t'));
        const std::string size = line.substr(line.find('\t') + 1);
        const Result<std::int64_t> got = parse_size(text);
        EXPECT_EQ(got ? std::to_string(*got) : "-", size) << text;
        examples += 1;
    }
    EXPECT_GT(examples, 30);
}

TEST(ByteSize, ior_counts_the_first_letter_of_a_unit_and_takes_signs) {
    constexpr auto as_ior = UnitSpelling::first_letter;
    EXPECT_EQ(parse_size("256gm", as_ior).value_or(0), std::int64_t{256} << 30);
    EXPECT_EQ(parse_size("-4k", as_ior).value_or(0), -4096);
    EXPECT_FALSE(parse_size("256gm").has_value());
    EXPECT_FALSE(parse_size("-4k").has_value());
    EXPECT_FALSE(parse_size("4k4", as_ior).has_value());
}

TEST(ByteSize, fractions_are_exact) {
    EXPECT_EQ(parse_size("1.5e").value_or(0), std::int64_t{3} << 59);
    EXPECT_EQ(parse_size("0.0009765625k").value_or(0), 1);
    EXPECT_FALSE(parse_size("0.00009765625k").has_value());
    EXPECT_EQ(parse_size("1.500000000000000000000000k").value_or(0), 1536);
}

TEST(ByteSize, ARateIsASizeBeforeSWithDecimalLetters) {
    EXPECT_DOUBLE_EQ(parse_rate("2GB/s").value_or(-1), 2e9);
    EXPECT_DOUBLE_EQ(parse_rate("9.8 GB/s").value_or(-1), 9.8e9);
    EXPECT_DOUBLE_EQ(parse_rate("100 MiB/s").value_or(-1), 100.0 * 1048576);
    EXPECT_DOUBLE_EQ(parse_rate("5 B/s").value_or(-1), 5);
    for (const char* text :
         {"2GB", "fast", "/s", "-2GB/s", "2 xB/s", "1.2.3k/s", "inf B/s", "nan/s"}) {
        EXPECT_FALSE(parse_rate(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace forebay
