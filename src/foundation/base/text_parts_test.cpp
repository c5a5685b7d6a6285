// Trimming and parting text.
#include "foundation/base/text_parts.hpp"

#include <gtest/gtest.h>

namespace forebay {

namespace {

using Parts = std::vector<std::string_view>;

TEST(TextParts, AreTrimmedAtBothEnds) {
    EXPECT_EQ(trimmed(" \ta b\t "), "a b");
    EXPECT_EQ(trimmed("a\n"), "a\n");
    EXPECT_EQ(trimmed("\r\na\n", " \t\r\n"), "a");
    EXPECT_EQ(trimmed(" \t"), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(TextParts, KeepEmptyPartsButForTheLast) {
    EXPECT_EQ(parts_of("a,,b", ','), (Parts{"a", "", "b"}));
    EXPECT_EQ(parts_of(",a,", ','), (Parts{"", "a"}));
    EXPECT_EQ(parts_of("a b", ','), (Parts{"a b"}));
    EXPECT_TRUE(parts_of("", ',').empty());
}

}  // namespace

}  // namespace forebay
