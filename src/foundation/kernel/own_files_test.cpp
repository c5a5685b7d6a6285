// File names under which another user may have planted something.
#include "foundation/kernel/own_files.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace forebay::kernel {
namespace {

constexpr uid_t stranger = 65534;

class OwnFiles : public testing::Test {
protected:
    OwnFiles() {
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        EXPECT_EQ(::mkdir(path("shared").c_str(), 0700), 0);
        EXPECT_EQ(::chmod(path("shared").c_str(), 01777), 0);
    }
    ~OwnFiles() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    OwnFiles(const OwnFiles&) = delete;
    OwnFiles& operator=(const OwnFiles&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    [[nodiscard]] std::string file(const std::string& name, mode_t mode = 0644) const {
        std::ofstream{path(name)} << "text";
        EXPECT_EQ(::chmod(path(name).c_str(), mode), 0);
        return path(name);
    }
    [[nodiscard]] std::string strangers(const std::string& name) const {
        EXPECT_EQ(::lchown(path(name).c_str(), stranger, stranger), 0);
        return path(name);
    }
    static bool opens(int fd) {
        if (fd >= 0) {
            ::close(fd);
        }
        return fd >= 0;
    }
    static bool is_root() { return ::geteuid() == 0; }

private:
    std::string folder_ = "/tmp/forebay_own_XXXXXX";
};

// Lets fstat fail with EIO in this process from now on, as it does where a network file system is
// gone. False: the kernel has no such filters.
bool let_fstat_fail() {
    std::array<sock_filter, 4> steps{{
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_fstat},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EIO},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    }};
    const sock_fprog filter{steps.size(), steps.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(OwnFiles, OwnIsNoLinkNoPipeAndNothingThatOthersWriteTo) {
    EXPECT_TRUE(opens(open_own(file("mine").c_str(), O_RDONLY)));
    ASSERT_EQ(::symlink("mine", path("link").c_str()), 0);
    EXPECT_FALSE(opens(open_own(path("link").c_str(), O_RDONLY)));
    EXPECT_EQ(errno, ELOOP);
    EXPECT_FALSE(opens(open_own(file("open", 0620).c_str(), O_RDONLY)));
    EXPECT_EQ(errno, EPERM);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_FALSE(opens(open_own(path("pipe").c_str(), O_RDONLY))) << "and it is not waited for";
}

TEST_F(OwnFiles, OwnIsNotAnotherUsers) {
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    static_cast<void>(file("theirs"));
    EXPECT_FALSE(opens(open_own(strangers("theirs").c_str(), O_RDONLY)));
    ASSERT_EQ(::mkdir(path("folder").c_str(), 0700), 0);
    EXPECT_TRUE(opens(open_own_folder(path("folder").c_str())));
    EXPECT_FALSE(opens(open_own_folder(strangers("folder").c_str())));
    EXPECT_FALSE(opens(open_own_folder(path("shared").c_str()))) << "others may write to it";
}

TEST_F(OwnFiles, WhatTheUserNamesIsWrittenWhereOnlyHeCanPutFiles) {
    ASSERT_EQ(::symlink("target", path("link").c_str()), 0);
    EXPECT_TRUE(opens(open_named(path("link"), O_WRONLY | O_CREAT, 0644)));
    EXPECT_TRUE(std::filesystem::exists(path("target")));
}

TEST_F(OwnFiles, WhatTheUserNamesInASharedFolderIsHis) {
    EXPECT_TRUE(opens(open_named(path("shared/new"), O_WRONLY | O_CREAT, 0644)));
    EXPECT_TRUE(opens(open_named(path("shared/new"), O_WRONLY | O_CREAT, 0644)));
    ASSERT_EQ(::symlink("new", path("shared/link").c_str()), 0);
    EXPECT_TRUE(opens(open_named(path("shared/link"), O_WRONLY, 0)));
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    EXPECT_FALSE(opens(open_named(strangers("shared/link"), O_WRONLY, 0)));
    EXPECT_EQ(errno, EPERM);
    EXPECT_FALSE(opens(open_named(strangers("shared/new"), O_WRONLY, 0)));
    EXPECT_EQ(errno, EPERM);
}

TEST_F(OwnFiles, WhatIsAppliedWasNotWrittenByOthers) {
    EXPECT_TRUE(opens(open_to_apply(file("settings", 0664))));
    EXPECT_FALSE(opens(open_to_apply(file("settings", 0666))));
    EXPECT_EQ(errno, EPERM);
    EXPECT_FALSE(opens(open_to_apply(path("none"))));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_TRUE(opens(open_to_apply("/dev/null")));
    EXPECT_TRUE(opens(open_to_apply(file("shared/settings"))));
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    EXPECT_FALSE(opens(open_to_apply(strangers("shared/settings"))));
    static_cast<void>(file("theirs"));
    EXPECT_TRUE(opens(open_to_apply(strangers("theirs")))) << "where nobody else puts files";
}

// An earlier version returned the unchecked descriptor, as if the file could be trusted.
TEST_F(OwnFiles, AFileThatCannotBeCheckedIsNotApplied) {
    const std::string settings = file("settings");
    const std::string shared = file("shared/settings");
    const pid_t child = ::fork();
    if (child == 0) {
        if (!let_fstat_fail()) {
            ::_exit(2);
        }
        const bool refused = !opens(open_to_apply(settings)) && !opens(open_to_apply(shared));
        ::_exit(refused ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(OwnFiles, WhatTheUserNamesIsEmptiedIfHeWantsThat) {
    EXPECT_TRUE(opens(open_named(file("mine"), O_WRONLY | O_TRUNC, 0)));
    EXPECT_EQ(std::filesystem::file_size(path("mine")), 0U);
    EXPECT_TRUE(opens(open_named(file("shared/mine"), O_WRONLY | O_TRUNC, 0)));
    EXPECT_EQ(std::filesystem::file_size(path("shared/mine")), 0U);
    EXPECT_TRUE(opens(open_named("/dev/null", O_WRONLY | O_TRUNC, 0)));
    ASSERT_EQ(::symlink("/dev/null", path("shared/null").c_str()), 0);
    EXPECT_TRUE(opens(open_named(path("shared/null"), O_WRONLY | O_TRUNC, 0)));
}

// An earlier version let the kernel empty the file when it opened it, and refused it after that.
TEST_F(OwnFiles, AStrangersFileIsNotEmptiedBeforeItIsRefused) {
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    static_cast<void>(file("shared/theirs", 0666));
    EXPECT_FALSE(opens(open_named(strangers("shared/theirs"), O_WRONLY | O_TRUNC, 0)));
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(std::filesystem::file_size(path("shared/theirs")), 4U);
    ASSERT_EQ(::symlink("theirs", path("shared/link").c_str()), 0);
    EXPECT_FALSE(opens(open_named(path("shared/link"), O_WRONLY | O_TRUNC, 0)));
    EXPECT_EQ(std::filesystem::file_size(path("shared/theirs")), 4U);
}

// An earlier version waited for somebody to read from the pipe.
TEST_F(OwnFiles, AStrangersPipeIsNotWaitedFor) {
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    ASSERT_EQ(::mkfifo(path("shared/pipe").c_str(), 0666), 0);
    ::alarm(100);
    EXPECT_FALSE(opens(open_named(strangers("shared/pipe"), O_WRONLY | O_APPEND, 0)));
    EXPECT_EQ(errno, EPERM);
    ::alarm(0);
}

// An earlier version looked at the owner of a link and then followed whatever link was there.
TEST_F(OwnFiles, AStrangersLinkIsNotFollowedIfItTakesThePlaceOfOnesOwn) {
    if (!is_root()) {
        GTEST_SKIP() << "only root can give files away";
    }
    const std::string victim = file("victim");
    struct stat is_victim{};
    ASSERT_EQ(::stat(victim.c_str(), &is_victim), 0);
    ASSERT_EQ(::symlink(file("target").c_str(), path("shared/link").c_str()), 0);
    std::atomic<bool> ends = false;
    std::thread attacker{[&] {
        while (!ends) {
            static_cast<void>(::symlink(victim.c_str(), path("shared/new").c_str()));
            static_cast<void>(strangers("shared/new"));
            static_cast<void>(::rename(path("shared/new").c_str(), path("shared/link").c_str()));
            static_cast<void>(::symlink("../target", path("shared/new").c_str()));
            static_cast<void>(::rename(path("shared/new").c_str(), path("shared/link").c_str()));
        }
    }};
    int opened = 0;
    int misled = 0;
    for (int i = 0; i < 10'000 || (opened == 0 && i < 10'000'000); ++i) {
        const int fd = open_named(path("shared/link"), O_WRONLY, 0);
        struct stat found{};
        if (fd >= 0 && ::fstat(fd, &found) == 0) {
            misled += found.st_ino == is_victim.st_ino ? 1 : 0;
            ++opened;
            ::close(fd);
        }
    }
    ends = true;
    attacker.join();
    EXPECT_GT(opened, 0);
    EXPECT_EQ(misled, 0);
}

TEST_F(OwnFiles, OnesOwnLinksAreFollowedOneAfterAnother) {
    ASSERT_EQ(::symlink("../first", path("shared/link").c_str()), 0);
    ASSERT_EQ(::symlink(path("shared/second").c_str(), path("first").c_str()), 0);
    EXPECT_TRUE(opens(open_named(path("shared/link"), O_WRONLY | O_CREAT, 0644)));
    EXPECT_TRUE(std::filesystem::exists(path("shared/second")));
    ASSERT_EQ(::symlink("circle", path("shared/circle").c_str()), 0);
    EXPECT_FALSE(opens(open_named(path("shared/circle"), O_WRONLY | O_CREAT, 0644)));
    EXPECT_EQ(errno, ELOOP);
}

}  // namespace
}  // namespace forebay::kernel
