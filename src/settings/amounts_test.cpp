// Amounts of settings are those of base/byte_units.hpp.
#include "settings/settings.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

// "16MB" was refused, where a platform took "2GB/s".
TEST(Amounts, of_settings_may_end_in_b) {
    EXPECT_EQ(parse_bytes("16MB"), 16 << 20);
    EXPECT_EQ(parse_bytes(" 16 MiB "), 16 << 20);
    EXPECT_EQ(parse_bytes("0.5m"), 1 << 19);
    EXPECT_EQ(parse_bytes("65536"), 65536);
    EXPECT_EQ(parse_bytes("-4k"), std::nullopt);
    EXPECT_EQ(parse_bytes("4x"), std::nullopt);
}

}  // namespace
}  // namespace forebay
