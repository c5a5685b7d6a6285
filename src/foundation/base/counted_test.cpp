// Numbers with their nouns in singular and plural.
#include "foundation/base/counted.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

// Regression: messages said "1 nodes" and "1 ranks".
TEST(Counted, one_thing_has_no_s) {
    EXPECT_EQ(counted(1, "rank"), "1 rank");
    EXPECT_EQ(counted(0, "node"), "0 nodes");
    EXPECT_EQ(counted(2, "node"), "2 nodes");
}

}  // namespace
}  // namespace forebay
