// Fields of mountinfo, well-formed and not.
#include "foundation/base/mount_table.hpp"

#include <gtest/gtest.h>

namespace forebay {

namespace {

TEST(MountTable, DecodesOctalEscapes) {
    EXPECT_EQ(unescaped_mount_field("/a\\040b\\011c\\134"), "/a b\tc\\");
    EXPECT_EQ(unescaped_mount_field("/plain"), "/plain");
    EXPECT_EQ(unescaped_mount_field(""), "");
}

// forebay-mount threw an exception that nobody caught for a name with a backslash and other
// characters behind it.
TEST(MountTable, KeepsWhatIsNoEscape) {
    EXPECT_EQ(unescaped_mount_field("/a\\xyz"), "/a\\xyz");
    EXPECT_EQ(unescaped_mount_field("/a\\089"), "/a\\089");
    EXPECT_EQ(unescaped_mount_field("/a\\04"), "/a\\04");
    EXPECT_EQ(unescaped_mount_field("\\"), "\\");
}

}  // namespace

}  // namespace forebay
