// Tests which listener at a socket's path a program trusts.
#include "pool/client/trust.hpp"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::pool {
namespace {

class WorkingFolder {
public:
    WorkingFolder() { EXPECT_NE(::mkdtemp(name_.data()), nullptr); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;
    ~WorkingFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(name_, ignored);
    }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::string socket() const { return name_ + "/socket"; }

private:
    std::string name_ = "/tmp/forebay_trust_XXXXXX";
};

int socket_at(const std::string& path, bool listens) {
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
    const auto* const at = reinterpret_cast<const sockaddr*>(&name);
    const bool done = listens ? ::bind(fd, at, sizeof name) == 0 && ::listen(fd, 1) == 0
                              : ::connect(fd, at, sizeof name) == 0;
    EXPECT_TRUE(done) << std::strerror(errno);
    return fd;
}

TEST(Trust, IsInAFolderOfTheUsersOwn) {
    const WorkingFolder folder;
    EXPECT_EQ(folder_problem(folder.socket().c_str()), nullptr);
    ASSERT_EQ(::chmod(folder.name().c_str(), 0755), 0);
    EXPECT_STREQ(folder_problem(folder.socket().c_str()), "its folder is open to other users");
    EXPECT_EQ(folder_problem((folder.name() + "/none/socket").c_str()), nullptr);
}

TEST(Trust, IsNotInAFolderThatALinkLeadsTo) {
    const WorkingFolder folder;
    const std::string link = folder.name() + "/link";
    ASSERT_EQ(::mkdir((folder.name() + "/own").c_str(), 0700), 0);
    ASSERT_EQ(::symlink("own", link.c_str()), 0);
    EXPECT_STREQ(folder_problem((link + "/socket").c_str()),
                 "its folder is none, or a link to one");
}

TEST(Trust, IsNotInAFolderOfAnotherUser) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can make folders of others";
    }
    const WorkingFolder folder;
    ASSERT_EQ(::chown(folder.name().c_str(), 65534, 65534), 0);
    EXPECT_STREQ(folder_problem(folder.socket().c_str()), "its folder is another user's");
}

TEST(Trust, IsOnlyTheProcessThatTheRunNamed) {
    const WorkingFolder folder;
    const int listener = socket_at(folder.socket(), true);
    const int connected = socket_at(folder.socket(), false);
    EXPECT_EQ(listener_problem(connected, 0), nullptr);
    EXPECT_EQ(listener_problem(connected, ::getpid()), nullptr);
    EXPECT_STREQ(listener_problem(connected, ::getpid() + 1),
                 "another process listens there than the daemon of this run");
    ::close(connected);
    ::close(listener);
}

TEST(Trust, IsNotAnotherUserThatListens) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can be another user";
    }
    const WorkingFolder folder;
    ASSERT_EQ(::chmod(folder.name().c_str(), 0777), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool changed = ::setgid(65534) == 0 && ::setuid(65534) == 0;
        const int listener = changed ? socket_at(folder.socket(), true) : -1;
        ::kill(::getpid(), SIGSTOP);
        ::close(listener);
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    const int connected = socket_at(folder.socket(), false);
    EXPECT_STREQ(listener_problem(connected, 0), "another user listens there");
    EXPECT_STREQ(listener_problem(connected, child), "another user listens there");
    ::close(connected);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
}

TEST(Trust, RunNamesTheDaemonOfItsOwnSocketOnly) {
    EXPECT_EQ(daemon_of("4711:/a/pool", "/a/pool"), 4711);
    EXPECT_EQ(daemon_of("4711:/b/pool", "/a/pool"), 0);
    EXPECT_EQ(daemon_of("4711", "/a/pool"), 0);
    EXPECT_EQ(daemon_of("99999999999999999999:/a/pool", "/a/pool"), 0);
    EXPECT_EQ(daemon_of(":/a/pool", "/a/pool"), 0);
    EXPECT_EQ(daemon_of(nullptr, "/a/pool"), 0);
}

}  // namespace
}  // namespace forebay::pool
