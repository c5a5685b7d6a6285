// File names with ROMIO's prefixes, and excluded directories.
#include "settings/path.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

UserSettings excluding(std::string_view paths) {
    UserSettings settings;
    EXPECT_TRUE(settings.set(Setting::exclude, paths));
    return settings;
}

// Regression: excluding "/scratch/a" also excluded "/scratch/ab".
TEST(IsExcluded, GoesByWholeNamesOfFolders) {
    const UserSettings settings = excluding("/scratch/a");
    EXPECT_TRUE(is_excluded("/scratch/a", settings));
    EXPECT_TRUE(is_excluded("/scratch/a/file", settings));
    EXPECT_FALSE(is_excluded("/scratch/ab", settings));
    EXPECT_FALSE(is_excluded("/scratch/ab/file", settings));
    EXPECT_FALSE(is_excluded("/scratch", settings));
    EXPECT_FALSE(is_excluded("/data/scratch/a", settings));
}

TEST(IsExcluded, TakesASlashAtTheEndForAFolder) {
    const UserSettings settings = excluding("/scratch/a/");
    EXPECT_TRUE(is_excluded("/scratch/a/file", settings));
    EXPECT_FALSE(is_excluded("/scratch/ab/file", settings));
    EXPECT_TRUE(is_excluded("/any/file", excluding("/")));
}

TEST(IsExcluded, HoldsForAnyOfSeveral) {
    const UserSettings settings = excluding("/home,/scratch/a");
    EXPECT_TRUE(is_excluded("/home/me/file", settings));
    EXPECT_TRUE(is_excluded("/scratch/a/file", settings));
    EXPECT_FALSE(is_excluded("/scratch/b/file", settings));
    EXPECT_FALSE(is_excluded("/scratch/b/file", excluding("")));
}

TEST(PlainPath, StripsThePrefixesOfPlainFileSystems) {
    EXPECT_EQ(plain_path("ufs:/a/b"), "/a/b");
    EXPECT_EQ(plain_path("lustre:/a"), "/a");
    EXPECT_EQ(plain_path("/a:b"), "/a:b");
    EXPECT_EQ(plain_path("pvfs2:/a"), std::nullopt);
}

TEST(PlainPath, IsAbsolute) {
    const auto path = plain_path("folder/file:1");
    ASSERT_TRUE(path.has_value());
    EXPECT_TRUE(path->starts_with('/'));
    EXPECT_TRUE(path->ends_with("/folder/file:1"));
}

}  // namespace
}  // namespace forebay
