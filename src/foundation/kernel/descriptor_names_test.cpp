// Paths of open files, as the kernel gives them.
#include "foundation/kernel/descriptor_names.hpp"

#include "foundation/kernel/calls.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::kernel {

namespace {

namespace fs = std::filesystem;

class DescriptorNames : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "forebay-names-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = fs::canonical(pattern);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path folder_;
};

TEST_F(DescriptorNames, FollowTheFile) {
    const std::string first = folder_ / "first";
    const std::string second = folder_ / "second";
    const int fd = open(first.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(path_of_descriptor(fd), first);
    fs::rename(first, second);
    EXPECT_EQ(path_of_descriptor(fd), second);
    EXPECT_TRUE(fs::equivalent(name_of_descriptor(fd), second));
    close(fd);
    EXPECT_EQ(path_of_descriptor(fd), "");
    EXPECT_EQ(errno, ENOENT);
}

// A path that filled the buffer was taken for the whole path.
TEST_F(DescriptorNames, AreUnknownWhereTheyMayBeTruncated) {
    int below = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::string name(200, 'x');
    for (std::size_t bytes = folder_.string().size(); bytes <= PATH_MAX; bytes += name.size() + 1) {
        ASSERT_EQ(::mkdirat(below, name.c_str(), 0700), 0);
        const int next = ::openat(below, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT_GE(next, 0);
        close(below);
        below = next;
    }
    errno = 0;
    EXPECT_EQ(path_of_descriptor(below), "");
    EXPECT_EQ(errno, ENAMETOOLONG);
    close(below);
}

}  // namespace

}  // namespace forebay::kernel
