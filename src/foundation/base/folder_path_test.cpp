// Paths in folders.
#include "foundation/base/folder_path.hpp"

#include <gtest/gtest.h>

namespace forebay {

namespace {

TEST(FolderPath, HoldsItselfAndWhatIsBelowIt) {
    const FolderPath folder{"/scratch/run"};
    EXPECT_TRUE(folder.holds("/scratch/run"));
    EXPECT_TRUE(folder.holds("/scratch/run/out/a.nc"));
    EXPECT_FALSE(folder.holds("/scratch/run2"));
    EXPECT_FALSE(folder.holds("/scratch"));
    EXPECT_FALSE(folder.holds(""));
}

TEST(FolderPath, NamesWhatIsBelowIt) {
    const FolderPath folder{"/scratch/run"};
    EXPECT_EQ(folder.name_of("/scratch/run/out/a.nc"), "out/a.nc");
    EXPECT_EQ(folder.name_of("/scratch/run"), std::nullopt);
    EXPECT_EQ(folder.name_of("/scratch/run/"), std::nullopt);
    EXPECT_EQ(folder.name_of("/scratch/run2"), std::nullopt);
    EXPECT_EQ(folder.name_of("/scratch/runs/a"), std::nullopt);
}

TEST(FolderPath, IsTheRootWithAndWithoutItsSlash) {
    for (const FolderPath root : {FolderPath{"/"}, FolderPath{""}}) {
        EXPECT_TRUE(root.holds("/a/b"));
        EXPECT_EQ(root.name_of("/a/b"), "a/b");
        EXPECT_EQ(root.name_of("/"), std::nullopt);
        EXPECT_FALSE(root.holds("a/b"));
    }
}

}  // namespace

}  // namespace forebay
