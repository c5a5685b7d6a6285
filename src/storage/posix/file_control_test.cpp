// Length, times, links and free space of a file, through its descriptor.
#include "storage/posix/file_control.hpp"

#include "storage/posix/storage.hpp"

#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::adapters {
namespace {

class FileControlTest : public testing::Test {
protected:
    FileControlTest() { ::close(::mkstemp(path.data())); }
    ~FileControlTest() override { ::unlink(path.c_str()); }
    [[nodiscard]] PosixFileControl control(IoDirection direction = IoDirection::write) const {
        return PosixFileControl{std::move(*open_file(path, direction))};
    }
    [[nodiscard]] struct stat status() const {
        struct stat found{};
        EXPECT_EQ(::stat(path.c_str(), &found), 0);
        return found;
    }
    std::string path = FOREBAY_TEST_DIR "/file_control_XXXXXX";
};

TEST_F(FileControlTest, Truncates) {
    PosixFileControl file = control();
    EXPECT_EQ(file.truncate(Length{(std::int64_t{1} << 32) + 5}), 0);
    EXPECT_EQ(status().st_size, (std::int64_t{1} << 32) + 5);
    EXPECT_EQ(control(IoDirection::read).truncate(Length{1}), EINVAL) << "it may only be read";
}

TEST_F(FileControlTest, MakesDurableWhatItMayOnlyRead) {
    EXPECT_EQ(control().sync(), 0);
    EXPECT_EQ(control(IoDirection::read).sync(), 0);
    EXPECT_EQ(PosixFileControl{OwnFd{}}.sync(), EBADF);
}

TEST_F(FileControlTest, SetsTheTimeOfChangeAndKeepsTheTimeOfReading) {
    const struct stat before = status();
    EXPECT_EQ(control().set_modified(1'500'000'000'123'456'789), 0);
    EXPECT_EQ(status().st_mtim.tv_sec, 1'500'000'000);
    EXPECT_EQ(status().st_mtim.tv_nsec, 123'456'789);
    EXPECT_EQ(status().st_atim.tv_sec, before.st_atim.tv_sec);
    EXPECT_EQ(status().st_atim.tv_nsec, before.st_atim.tv_nsec);
    EXPECT_EQ(control().set_modified(-1), 0);
    EXPECT_EQ(status().st_mtim.tv_sec, -1);
    EXPECT_EQ(status().st_mtim.tv_nsec, 999'999'999);
}

TEST_F(FileControlTest, KnowsWhetherAnybodyCanStillOpenIt) {
    PosixFileControl file = control();
    EXPECT_TRUE(file.has_name());
    ASSERT_EQ(::unlink(path.c_str()), 0);
    EXPECT_FALSE(file.has_name());
}

// Regression: deposits of files without a name are dropped, so a file system that does not count
// links lost all of them.
TEST_F(FileControlTest, AFileThatHadNoNameWhenItWasOpenedHasNotLostOne) {
    auto open = open_file(path, IoDirection::write);
    ASSERT_EQ(::unlink(path.c_str()), 0);
    PosixFileControl file{std::move(*open)};
    EXPECT_TRUE(file.has_name());
}

TEST_F(FileControlTest, TellsTheRoomOfTheFileSystem) {
    EXPECT_GT(control().room(), 0);
    PosixFileControl proc{std::move(*open_file("/proc/self/status", IoDirection::read))};
    EXPECT_LT(proc.room(), 0) << "it counts nothing";
}

}  // namespace
}  // namespace forebay::adapters
