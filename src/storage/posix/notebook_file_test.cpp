// A notebook on disk: empty at first, replaced whole, and no temporary files left.
#include "storage/posix/notebook_file.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace forebay::adapters {
namespace {

namespace fs = std::filesystem;

TEST(NotebookFile, IsEmptyUntilWrittenAndMakesItsFolder) {
    const fs::path folder = fs::path(FOREBAY_TEST_DIR) / "notebook" / "below";
    fs::remove_all(folder.parent_path());
    NotebookFile notebook{(folder / "limits").string()};
    EXPECT_EQ(*notebook.read(), "");
    const std::string text(10000, 'x');
    ASSERT_TRUE(notebook.write("short").has_value());
    ASSERT_TRUE(notebook.write(text).has_value());
    EXPECT_EQ(*notebook.read(), text);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST(NotebookFile, SaysWhatIsWrong) {
    NotebookFile folder{FOREBAY_TEST_DIR};
    EXPECT_FALSE(folder.read().has_value());
    EXPECT_FALSE(folder.write("x").has_value());
    NotebookFile nowhere{"/proc/forebay/limits"};
    EXPECT_FALSE(nowhere.write("x").has_value());
}

TEST(NotebookFile, BelievesNothingThatOthersMayHaveWritten) {
    const fs::path folder = fs::path(FOREBAY_TEST_DIR) / "planted";
    fs::remove_all(folder);
    fs::create_directories(folder);
    NotebookFile notebook{(folder / "limits").string()};
    ASSERT_TRUE(notebook.write("own").has_value());
    fs::permissions(folder / "limits", fs::perms::others_write, fs::perm_options::add);
    EXPECT_FALSE(notebook.read().has_value());
    fs::remove(folder / "limits");
    fs::create_symlink("elsewhere", folder / "limits");
    EXPECT_FALSE(notebook.read().has_value());
}

TEST(NotebookFile, FollowsNoLinkWhereItWritesBesideTheFile) {
    const fs::path folder = fs::path(FOREBAY_TEST_DIR) / "beside";
    fs::remove_all(folder);
    fs::create_directories(folder);
    NotebookFile notebook{(folder / "limits").string()};
    fs::create_symlink("victim", folder / ("limits." + std::to_string(::getpid())));
    ASSERT_TRUE(notebook.write("own").has_value());
    EXPECT_FALSE(fs::exists(folder / "victim"));
    EXPECT_EQ(*notebook.read(), "own");
}

TEST(FileSystem, HasANameOfOneWord) {
    const auto name = file_system_of(FOREBAY_TEST_DIR);
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(name->find(' '), std::string::npos);
    EXPECT_EQ(*name, *file_system_of(FOREBAY_TEST_DIR));
    EXPECT_NE(*name, *file_system_of("/proc"));
    EXPECT_FALSE(file_system_of("/no/such/folder").has_value());
}

}  // namespace
}  // namespace forebay::adapters
