// Sizes as they occur in job scripts.
#include "benchmarks/measure/byte_units.hpp"

#include <gtest/gtest.h>

namespace forebay::measure {
namespace {

TEST(ByteUnits, are_read_as_ior_reads_them) {
    const std::int64_t k = 1024;
    EXPECT_EQ(parse_size("8").value_or(-1), 8);
    EXPECT_EQ(parse_size("4k").value_or(-1), 4 * k);
    EXPECT_EQ(parse_size("512kb").value_or(-1), 512 * k);
    EXPECT_EQ(parse_size("64KiB").value_or(-1), 64 * k);
    EXPECT_EQ(parse_size("10MB").value_or(-1), 10 * k * k);
    EXPECT_EQ(parse_size("256gm").value_or(-1), 256 * k * k * k);
    EXPECT_EQ(parse_size("99000000m").value_or(-1), 99'000'000 * k * k);
    EXPECT_EQ(parse_size("1P").value_or(-1), k * k * k * k * k);
    EXPECT_EQ(parse_size("-311476410").value_or(0), -311476410);
    EXPECT_EQ(parse_size("100b").value_or(-1), 100);
    EXPECT_EQ(parse_size("1 m").value_or(-1), k * k);
}

TEST(ByteUnits, a_half_mebibyte_is_not_zero) {
    EXPECT_EQ(parse_size("0.5m").value_or(-1), 524'288);
    EXPECT_EQ(parse_size(".5k").value_or(-1), 512);
    EXPECT_EQ(parse_size("1.5").value_or(-1), -1);
}

TEST(ByteUnits, nonsense_is_refused) {
    for (const char* text : {"", "k", "4x", "4k4", "-", ".", "1.2.3m", "9999999999999999999",
                             "9999999999p", "4 k4", "1e6"}) {
        EXPECT_FALSE(parse_size(text).has_value()) << text;
    }
}

TEST(ByteUnits, are_written_as_ior_writes_them) {
    EXPECT_EQ(human_size(262'144), "262144 bytes");
    EXPECT_EQ(human_size(4'194'304), "4 MiB");
    EXPECT_EQ(human_size(3 << 19), "1.50 MiB");
    EXPECT_EQ(human_size(std::int64_t{4} << 30), "4 GiB");
}

}  // namespace
}  // namespace forebay::measure
