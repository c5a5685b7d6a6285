// Which directories and files count as the user's own, and which symbolic links are followed.
#include "storage/posix/own_folder.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace forebay::adapters {
namespace {

using testing::HasSubstr;

class OwnFolder : public testing::Test {
protected:
    OwnFolder() {
        std::string name = FOREBAY_TEST_DIR "/own-XXXXXX";
        folder_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
        std::filesystem::create_directory(folder_ + "/real");
        std::filesystem::create_directory_symlink("real", folder_ + "/link");
    }
    ~OwnFolder() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
};

TEST_F(OwnFolder, IsMadeForItsUserOnly) {
    const std::string path = folder_ + "/real/new/";
    ASSERT_TRUE(open_own_folder(path).has_value());
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0700U);
    EXPECT_TRUE(open_own_folder(path).has_value()) << "once more";
}

TEST_F(OwnFolder, IsNoLinkItself) {
    const auto refused = open_own_folder(folder_ + "/link");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("it is a link"));
}

TEST_F(OwnFolder, IsFoundBehindALinkOfOnesOwn) {
    ASSERT_TRUE(open_own_folder(folder_ + "/link/below").has_value());
    EXPECT_TRUE(std::filesystem::is_directory(folder_ + "/real/below"));
    std::filesystem::create_directory_symlink(folder_ + "/link/..", folder_ + "/absolute");
    ASSERT_TRUE(open_own_folder(folder_ + "/absolute/link/./again").has_value());
    EXPECT_TRUE(std::filesystem::is_directory(folder_ + "/real/again"));
}

TEST_F(OwnFolder, IsNotFoundBehindALinkOfSomebodyElse) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root gives a link to others";
    }
    ASSERT_EQ(::lchown((folder_ + "/link").c_str(), 12345, 12345), 0);
    const auto refused = open_own_folder(folder_ + "/link/below");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("a link of another user"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/real/below")) << "nothing was made there";
}

TEST_F(OwnFolder, OfSomebodyElseIsRefused) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root gives a folder to others";
    }
    ASSERT_EQ(::chown((folder_ + "/real").c_str(), 12345, 12345), 0);
    const auto refused = open_own_folder(folder_ + "/real");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("it belongs to user 12345"));
}

TEST_F(OwnFolder, LinksThatGoRoundEnd) {
    std::filesystem::create_directory_symlink("b", folder_ + "/a");
    std::filesystem::create_directory_symlink("a", folder_ + "/b");
    EXPECT_FALSE(open_own_folder(folder_ + "/a/below").has_value());
}

TEST_F(OwnFolder, HasFilesOfItsOwn) {
    const auto folder = open_own_folder(folder_ + "/real");
    ASSERT_TRUE(folder.has_value());
    EXPECT_EQ(open_own_file(*folder, "none", O_RDWR).error().system, ENOENT);
    EXPECT_TRUE(open_own_file(*folder, "file", O_RDWR | O_CREAT).has_value());
    const std::string file = folder_ + "/real/file";
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    EXPECT_EQ(open_own_file(*folder, "file", O_RDWR).error().system, EPERM);
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    ASSERT_EQ(::link(file.c_str(), (folder_ + "/second").c_str()), 0);
    EXPECT_EQ(open_own_file(*folder, "file", O_RDWR).error().system, EPERM);
    std::filesystem::create_symlink("file", folder_ + "/real/to");
    EXPECT_EQ(open_own_file(*folder, "to", O_RDWR).error().system, EPERM);
}

}  // namespace
}  // namespace forebay::adapters
